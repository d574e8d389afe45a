"""What a request becomes for the browser, and where the browser is found."""

from pathlib import Path

import pytest
from scrapy import Request
from scrapy.settings import Settings

from weft.engine.browser.chromium import Chromium
from weft.engine.browser.config import BrowserConfig, read_browser_settings
from weft.engine.browser.finding import check_browser, find_program
from weft.engine.browser.outgoing import outgoing_page
from weft.engine.browser.problems import BrowserCrashError, start_problem
from weft.engine.settings import SETTINGS
from weft.engine.settingsreader import SettingsReader
from weft.errors import ConfigError

URL = "http://example.org/a"


def test_name_and_password_of_a_proxy_are_taken_from_its_header() -> None:
    request = Request(
        URL,
        headers={"Proxy-Authorization": "Basic dXNlcjpwYTpzcw=="},
        meta={"proxy": "http://proxy.example:8080"},
    )
    page = outgoing_page(request, verifies=True)
    assert page.context["proxy"] == {
        "server": "http://proxy.example:8080",
        "username": "user",
        "password": "pa:ss",
    }
    assert page.headers == {}


def test_a_proxy_header_that_makes_no_sense_is_left_out() -> None:
    meta = {"proxy": "socks5://proxy.example:1080"}
    request = Request(URL, headers={"Proxy-Authorization": "Basic *"}, meta=meta)
    server = {"server": "socks5://proxy.example:1080"}
    assert outgoing_page(request, verifies=True).context["proxy"] == server


def test_cookies_that_no_browser_takes_are_left_out() -> None:
    request = Request(URL, headers={"Cookie": "a=1; b=x=y; =3; c; d e=4; f=\x00; g=5"})
    found = {each["name"]: each["value"] for each in outgoing_page(request, verifies=True).cookies}
    assert found["a"] == "1"
    assert found["b"] == "x=y"
    assert found["g"] == "5"
    assert not {"", "c", "d e"} & set(found)


@pytest.mark.parametrize(
    ("header", "locale"), [("de-DE,de;q=0.8", "de-DE"), ("en", "en"), ("*", None), ("x" * 99, None)]
)
def test_the_first_language_is_that_of_the_browser(header: str, locale: str | None) -> None:
    request = Request(URL, headers={"Accept-Language": header})
    assert outgoing_page(request, verifies=True).context.get("locale") == locale


@pytest.mark.parametrize("verifies", [True, False])
def test_certificates_are_checked_as_the_settings_say(verifies: bool) -> None:
    context = outgoing_page(Request(URL), verifies=verifies).context
    assert context["ignore_https_errors"] is not verifies


def test_the_browser_is_looked_for_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "own"))
    with pytest.raises(ConfigError, match="playwright install chromium"):
        find_program(BrowserConfig())
    (tmp_path / "own/chromium-1234").mkdir(parents=True)
    assert find_program(BrowserConfig()) is None
    for name in ("google-chrome", "chromium"):
        program = tmp_path / name
        program.touch(0o755)
        assert find_program(BrowserConfig()) == str(program)


def test_a_browser_that_is_named_is_the_one(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    with pytest.raises(ConfigError, match="WEFT_BROWSER_PATH is"):
        check_browser(BrowserConfig(path=str(program)))
    program.touch(0o755)
    assert find_program(BrowserConfig(path=str(program))) == str(program)


def test_who_has_no_playwright_is_told_which_extra_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("weft.engine.browser.finding.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'weft\[browser\]'"):
        check_browser(BrowserConfig())


async def test_a_browser_that_does_not_start_says_why(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho 'cannot load libnss3.so' >&2\nexit 127\n")
    program.chmod(0o755)
    with pytest.raises(BrowserCrashError, match=r"cannot load libnss3\.so"):
        await Chromium.start(BrowserConfig(path=str(program)))


def test_what_hinders_a_start_for_good_is_told_with_its_cure() -> None:
    assert "WEFT_BROWSER_SANDBOX" in str(start_problem("No usable sandbox! Update your kernel"))
    assert isinstance(start_problem("run playwright install"), ConfigError)
    assert isinstance(start_problem("Target closed\nlog"), BrowserCrashError)


def test_settings_of_the_browser_are_checked_with_all_others() -> None:
    given = {"WEFT_BROWSER_PAGES": 0, "WEFT_BROWSER_SETTLE": -1, "WEFT_BROWSER_SANDBOX": "maybe"}
    read = SettingsReader(Settings({**SETTINGS, **given}))
    read_browser_settings(read)
    assert [problem.split(" ")[0] for problem in read.problems] == [*given]
    assert read_browser_settings(SettingsReader(Settings(dict(SETTINGS)))) == BrowserConfig()
