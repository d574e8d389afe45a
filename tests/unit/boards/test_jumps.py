"""Jump links are recognised, and say where they lead."""

import time
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from weft.boards.jumps import decode_jump, find_target, is_jump

TARGET = "https://news.example/2026/ferry?page=1&q=%E6%B8%A1"
QUOTED = quote(TARGET, safe="")
BASE64 = urlsafe_b64encode(TARGET.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "url",
    [
        f"https://www.bing.com/ck/a?!&&p=12&u=a1{BASE64}&ntb=1",
        f"https://www.google.com/url?sa=t&source=web&url={QUOTED}&ved=2",
        f"https://www.google.co.uk/url?q={QUOTED}",
        f"https://r.search.yahoo.com/_ylt=A;_ylu=B/RV=2/RO=10/RU={QUOTED}/RK=2/RS=x-",
        f"https://duckduckgo.com/l/?uddg={QUOTED}&rut=1",
        f"https://l.facebook.com/l.php?u={QUOTED}&h=AT0",
        f"https://www.youtube.com/redirect?event=video&q={QUOTED}",
        f"https://link.zhihu.com/?target={quote(TARGET, safe='/?=&').replace('&', '%26')}",
        f"https://www.jianshu.com/go-wild?ac=2&url={QUOTED}",
        f"https://weibo.cn/sinaurl?u={QUOTED}",
        f"https://so.toutiao.com/search/jump?url={QUOTED}&aid=1",
        f"https://link.csdn.net/?target={QUOTED}",
        f"https://eur01.safelinks.protection.outlook.com/?url={QUOTED}&data=1",
    ],
)
def test_well_known_jump_links_say_where_they_lead(url: str) -> None:
    assert is_jump(url, None)
    assert decode_jump(url) == TARGET


@pytest.mark.parametrize(
    "url",
    [
        "https://www.baidu.com/link?url=Qx7_kL&wd=&eqid=a",
        "https://www.sogou.com/link?url=hedJjaC291",
        "https://www.so.com/link?m=abc",
        "https://t.co/Ab12",
        "https://t.cn/A6xyz",
    ],
)
def test_jump_links_without_their_target_have_to_be_asked(url: str) -> None:
    assert is_jump(url, None)
    assert decode_jump(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://www.google.com/search?q=https://news.example/",
        "https://www.baidu.com/s?wd=link",
        "https://www.facebook.com/sharer/sharer.php?u=https://news.example/",
        "https://notbaidu.com/link?url=a",
        "https://www.baidu.com.evil.example/link?url=a",
        "https://news.example/link?url=https://other.example/",
        "https://t.co/",
        "https://news.example/story.html",
        "no url",
        "",
    ],
)
def test_other_links_are_none(url: str) -> None:
    assert not is_jump(url, None)


def test_a_page_of_an_accelerator_is_the_page_that_is_meant() -> None:
    url = "https://www.google.com/amp/s/news.example/ferry.html"
    assert is_jump(url, None)
    assert decode_jump(url) == "https://news.example/ferry.html"


def test_patterns_of_a_board_replace_those_that_are_known() -> None:
    ours, known = "https://news.example/out?to=1", "https://t.co/Ab12"
    assert is_jump(ours, (r"/out\?", r"/away/"))
    assert not is_jump(known, (r"/out\?",))
    assert not is_jump(known, ())


def test_a_slow_pattern_costs_little_time() -> None:
    started = time.process_time()
    for number in range(40):
        assert not is_jump(f"https://news.example/{'a' * 200}{number}!", (r"(a+)+$|(a|a)*b",))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("id=3&page=https%3A%2F%2Fother.example%2Fa", "https://other.example/a"),
        ("page=https://other.example/a", "https://other.example/a"),
        ("page=https://other.example/a%3Fid%3D1", "https://other.example/a?id=1"),
        # Nobody has escaped the target.
        ("url=https://other.example/a?b=1&c=2", "https://other.example/a?b=1&c=2"),
        ("https://other.example/a?b=1", "https://other.example/a?b=1"),
        # Escaped once for the target itself, and once for the link.
        ("url=https%3A%2F%2Fother.example%2F100%2525", "https://other.example/100%25"),
        ("url=https%253A%252F%252Fother.example%252F", "https://other.example/"),
        ("x=" + b64encode(b"https://other.example/?a").decode(), "https://other.example/?a"),
        ("x=aHR0cHMlM2ElMmYlMmZvdGhlci5leGFtcGxl", "https://other.example/"),
        # Where the reader came from is no target.
        ("from=https://here.example/&url=https://other.example/", "https://other.example/"),
        ("ref=https://here.example/&id=7", None),
        ("url=javascript:alert(1)", None),
        ("url=ftp://other.example/", None),
        ("url=https://", None),
        ("url=//other.example/", None),
        ("url=aHR0c%FF", None),
        ("", None),
    ],
)
def test_a_target_is_a_parameter_that_is_a_whole_address(query: str, target: str | None) -> None:
    assert decode_jump(f"https://jump.example/go?{query}") == target


def test_a_jump_link_within_a_jump_link_is_decoded_too() -> None:
    inner = f"https://l.facebook.com/l.php?u={QUOTED}"
    assert decode_jump(f"https://www.google.com/url?q={quote(inner, safe='')}") == TARGET


def test_a_jump_link_that_has_to_be_asked_may_stand_in_another() -> None:
    url = "https://www.google.com/url?q=https%3A%2F%2Ft.co%2FAb12"
    assert decode_jump(url) == "https://t.co/Ab12"


def test_jump_links_are_not_decoded_for_ever() -> None:
    url = TARGET
    for _ in range(6):
        url = f"https://www.google.com/url?q={quote(url, safe='')}"
    found = decode_jump(url)
    assert found is not None
    assert is_jump(found, None)


@pytest.mark.parametrize(
    "page",
    [
        '<meta http-equiv="refresh" content="0;URL=\'https://news.example/a?b=1&amp;c=2\'">',
        "<META content=1 http-equiv=refresh content='0; url=https://news.example/a?b=1&c=2'>",
        '<script>window.location.replace("https://news.example/a?b=1&c=2")</script>',
        "<script>location.href = 'https:\\/\\/news.example\\/a?b=1&c=2'</script>",
    ],
)
def test_a_page_that_leads_on_says_where(page: str) -> None:
    assert find_target(b"<html>" + page.encode()) == "https://news.example/a?b=1&c=2"


@pytest.mark.parametrize(
    "page",
    [
        b"<p>location of the ferry</p>",
        b'<script>location.href = "/login"</script>',
        b'<meta http-equiv="refresh" content="300">',
        b" " * 70_000 + b'<script>location="https://news.example/"</script>',
        b"",
    ],
)
def test_a_page_that_leads_nowhere_has_no_target(page: bytes) -> None:
    assert find_target(page) is None
