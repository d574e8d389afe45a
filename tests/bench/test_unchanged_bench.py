"""The benchmark of lists that come back unchanged measures what it says."""

from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))


def test_lists_come_back_as_they_are_told() -> None:
    from bench.boards.unchanged import Answers, Site, served

    site = Site()
    with served(site) as base:
        connection = HTTPConnection(urlsplit(base).netloc)

        def ask(tag: str = "") -> tuple[int, str, bytes]:
            connection.request("GET", "/list/1", headers={"If-None-Match": tag})
            answer = connection.getresponse()
            return answer.status, answer.headers["ETag"] or "", answer.read()

        _, tag, body = ask()
        assert ask(tag) == (200, tag, body)
        site.answers = Answers.NOT_MODIFIED
        assert ask(tag) == (304, "", b"")
        site.edition += 1
        status, other_tag, other_body = ask(tag)
        assert status == 200
        assert (other_tag, other_body) != (tag, body)
        connection.close()


def test_the_dearer_of_both_counts(capsys: pytest.CaptureFixture[str]) -> None:
    from bench.boards.unchanged import Cost, show

    for same, told in ((2.0, "ok unchanged"), (2.1, "FAILED unchanged")):
        show(Cost(4.0, 1.0, same))
        assert told in capsys.readouterr().out
