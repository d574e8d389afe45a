"""The files of boards: what they mean, and all of their mistakes at once."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.boards.board import Board, BoardSource, Limits, Refresh, read_board
from weft.boards.board.board import pack_board, unpack_board
from weft.boards.board.durations import duration_ms, problem_of_duration, shown_duration
from weft.boards.fields import rules_of
from weft.boards.fields.form import Way
from weft.errors import ConfigError

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000

MINIMAL = "name: news\nentries: [https://example.org/news/]\n"


def problem_of_sink(address: str) -> str:
    """Only what ends in .jsonl is a sink here."""
    return "" if address.endswith(".jsonl") else "no sink; name a file that ends in .jsonl"


def source(text: str | bytes) -> BoardSource:
    content = text.encode() if isinstance(text, str) else text
    return read_board(content, "b.yaml", problem_of_sink)


def board(more: str = "") -> Board:
    return source(MINIMAL + more).board


def mistakes(text: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        source(text)
    return str(raised.value).splitlines()


def mistake(more: str) -> str:
    """The only mistake of a board with these further lines."""
    [told] = mistakes(MINIMAL + more)
    return told.removeprefix("b.yaml:")


def test_a_name_and_entries_are_a_whole_board() -> None:
    assert board() == Board("news", ("https://example.org/news/",))


def test_a_board_can_say_more() -> None:
    text = r"""
name: my.news-2
entries:
  - https://example.org/a
  - https://example.org/b
  - https://example.org/a
depth: 0
follow: ['/section/']
articles: ['/\d{4}/[\w-]+\.html$']
domains: [Example.org, bücher.example, 127.0.0.1]
refresh: {every: 30m, at_least: 90s, at_most: 2w}
update_after: 1d
limits: {pages: 1000, delay: 0.5, concurrency: 2, workers_per_host: 3}
fields:
  title: h1
  author: {css: .by, steps: [strip]}
jumping_urls: ['^https://example\.org/out\?']
tracking: [from, ref_src]
browser: auto
feeds: false
sitemaps: false
sinks: [a.jsonl, b.jsonl]
"""
    read = source(text)
    assert read.text == text
    assert read.board == Board(
        name="my.news-2",
        entries=("https://example.org/a", "https://example.org/b"),
        depth=0,
        follow=("/section/",),
        articles=(r"/\d{4}/[\w-]+\.html$",),
        domains=("example.org", "xn--bcher-kva.example", "127.0.0.1"),
        refresh=Refresh(30 * MINUTE, 90_000, 14 * DAY),
        update_after_ms=DAY,
        limits=Limits(pages=1000, delay_s=0.5, concurrency=2, workers_per_host=3),
        fields=rules_of({"title": "h1", "author": Way(css=".by", steps=("strip",))}),
        jumping_urls=(r"^https://example\.org/out\?",),
        tracking=("from", "ref_src"),
        browser="auto",
        feeds=False,
        sitemaps=False,
        sinks=("a.jsonl", "b.jsonl"),
    )


def test_no_jumping_urls_are_not_the_usual_ones() -> None:
    assert board().jumping_urls is None
    assert board("jumping_urls: []").jumping_urls == ()


@pytest.mark.parametrize(
    ("refresh", "meant"),
    [
        ("{}", Refresh(HOUR, 5 * MINUTE, 7 * DAY)),
        ("{every: 2m}", Refresh(2 * MINUTE, 2 * MINUTE, 7 * DAY)),
        ("{every: 30d}", Refresh(30 * DAY, 5 * MINUTE, 30 * DAY)),
        ("{at_least: 2h}", Refresh(2 * HOUR, 2 * HOUR, 7 * DAY)),
        ("{at_most: 10m}", Refresh(10 * MINUTE, 5 * MINUTE, 10 * MINUTE)),
        ("{at_most: 1m}", Refresh(MINUTE, MINUTE, MINUTE)),
        ("{at_least: 10d}", Refresh(10 * DAY, 10 * DAY, 10 * DAY)),
        ("{every: 1h, at_least: 1h, at_most: 1h}", Refresh(HOUR, HOUR, HOUR)),
    ],
)
def test_bounds_that_are_not_given_give_way_to_those_that_are(refresh: str, meant: Refresh) -> None:
    assert board(f"refresh: {refresh}").refresh == meant


@given(st.integers(1, 10 * 365 * DAY // 1000), st.sampled_from("smhdw"))
def test_durations_are_shown_as_they_are_read(number: int, unit: str) -> None:
    text = f"{number}{unit}"
    if not problem_of_duration(text):
        assert duration_ms(shown_duration(duration_ms(text))) == duration_ms(text)


@pytest.mark.parametrize(("ms", "text"), [(90_000, "90s"), (HOUR, "1h"), (14 * DAY, "2w")])
def test_durations_are_shown_in_the_largest_unit(ms: int, text: str) -> None:
    assert shown_duration(ms) == text


def test_a_duration_may_have_a_space_before_its_unit() -> None:
    assert board("update_after: 6 h").update_after_ms == 6 * HOUR


def test_all_mistakes_are_told_in_the_order_of_the_file() -> None:
    text = r"""name: my news
entries: [example.org/x, "https://"]
depht: 3
follow:
  - /news/
  - "("
refresh: {every: 3600}
sinks: [nowhere]
"""
    told = mistakes(text)
    assert [line.split(": ")[0] for line in told] == [
        *("b.yaml:1:7", "b.yaml:2:11", "b.yaml:2:26", "b.yaml:3:1", "b.yaml:6:5"),
        *("b.yaml:7:18", "b.yaml:8:9"),
    ]
    assert "follow[2]: it is no regular expression" in told[4]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty; possible keys are name, entries, depth"),
        ("name: x", 'the key "entries" is missing; add it'),
        ("name: x\nentries: []", "entries: the list is empty; fill it"),
        ("name: x\nentries: https://a.example/", "entries: a list is wanted here, not a text"),
        ("entries: [https://a.example/]", 'the key "name" is missing'),
        ("name: 24\nentries: [https://a.example/]", "put it in quotes"),
    ],
)
def test_a_board_has_a_name_and_entries(text: str, words: str) -> None:
    [told] = mistakes(text)
    assert words in told


@pytest.mark.parametrize(
    "name",
    ["''", "my news", "a/b", "..", ".hidden", "-x", "新闻", "a" * 65, '"a\\n"', "a:b", "{a}"],
)
def test_names_must_be_safe_in_files_and_keys(name: str) -> None:
    [told] = mistakes(f"name: {name!s}\nentries: [https://a.example/]")
    assert told.startswith("b.yaml:1:7: name: ")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("example.org/x", "write https://example.org/x"),
        ("//example.org/x", "write https://example.org/x"),
        ("ftp://example.org/", "http:// or https:// is wanted"),
        ("mailto:me@example.org", "http:// or https:// is wanted; put it right"),
        ("'javascript:alert(1)'", "http:// or https:// is wanted; put it right"),
        ("'data:text/html,x'", "http:// or https:// is wanted; put it right"),
        ("'localhost:8080/x'", "write https://localhost:8080/x"),
        (r'"https://example.org/\e[31m"', "there is a control character in this URL; remove it"),
        (r'"https://example.org/\u202e"', "there is a control character in this URL; remove it"),
        ("'https://'", "put its host name right"),
        ("'https://exa mple.org/'", "put its host name right"),
        ("'https://a:99999/'", "put its host name right"),
        ("5", "a text is wanted here, not a number"),
    ],
)
def test_entries_are_urls_with_a_host(entry: str, words: str) -> None:
    [told] = mistakes(f"name: x\nentries: [{entry}]")
    assert words in told


def test_passwords_in_entries_are_refused_and_not_repeated() -> None:
    [told] = mistakes("name: x\nentries: ['https://me:hush@example.org/@you']")
    assert "remove" in told
    assert "hush" not in told
    assert source("name: x\nentries: ['https://example.org/@you?a=@b']").board.entries


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("depth: -1", "depth: a number of at least 0 is wanted, not -1"),
        ("depth: 1.5", "depth: a whole number is wanted here"),
        ("follow: []", "follow: the list is empty; fill it, or remove it"),
        ("follow: ['']", "follow[1]: a text that is not empty is wanted"),
        ("articles: ['[']", "articles[1]: it is no regular expression"),
        ("articles: ['((a{1000}){1000}){1000}']", "more than 50,000 parts"),
        ("articles: ['(a|a)*$']", "it takes too long on some addresses"),
        ("jumping_urls: ['*']", "jumping_urls[1]: it is no regular expression"),
        ("domains: ['*.example.org']", "write example.org: what is below it counts, too"),
        ("domains: [.example.org]", "write example.org: what is below it counts, too"),
        ("domains: ['https://example.org/news']", "write example.org"),
        ("domains: ['example.org:80']", "write example.org"),
        ("domains: [a b]", "a host name is wanted; write one like example.org"),
        ("refresh: 5m", "refresh: a mapping is wanted here, not a text"),
        ("refresh: {evry: 5m}", 'the key "evry" is unknown; did you mean "every"?'),
        ("refresh: {every: 3600}", "3600 lacks a unit; write 3600s for seconds"),
        ("refresh: {every: '1.5'}", "1.5 lacks a unit"),
        ("refresh: {every: 1.5h}", "this is no duration"),
        ("refresh: {every: 0m}", "longer than nothing"),
        ("refresh: {at_most: 999999999w}", "shorter than ten years"),
        ("refresh: {every: -5m}", "this is no duration"),
        ("refresh: {every: 1h, at_least: 2h}", "every (1h) is shorter than at_least (2h)"),
        ("refresh: {every: 2h, at_most: 1h}", "at_most (1h) is shorter than every (2h)"),
        ("refresh: {at_least: 2h, at_most: 1h}", "at_most (1h) is shorter than at_least (2h)"),
        ("update_after: never", "this is no duration"),
        ("limits: {pages: 0}", "limits.pages: a number of at least 1 is wanted, not 0"),
        ("limits: {delay: -1}", "limits.delay: a number of at least 0 is wanted, not -1"),
        ("limits: {concurrency: many}", "limits.concurrency: "),
        ("limits: {delay_s: 1}", 'the key "delay_s" is unknown; did you mean "delay"?'),
        ("fields: {title: 'h1['}", "fields.title: it is no CSS selector"),
        ("fields: {title: {csss: h1}}", 'the key "csss" is unknown; did you mean "css"?'),
        ("tracking: ['a&b']", "the name of a query parameter is wanted"),
        ("browser: maybe", "true, false or auto is wanted, not maybe"),
        ("browser: yes", "true, false or auto is wanted, not yes"),
        ("feeds: 'on'", "feeds: true or false is wanted here"),
        ("sinks: [a.txt]", "sinks[1]: no sink; name a file that ends in .jsonl"),
        ("sinks: a.jsonl", "sinks: a list is wanted here, not a text"),
        ("feed: true", 'the key "feed" is unknown; did you mean "feeds"?'),
        ("--- x", "keep to one document"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_cure(line: str, words: str) -> None:
    told = mistake(line)
    assert told.startswith("3:")
    assert words in told


def test_only_its_own_reader_checks_the_sinks_of_a_board() -> None:
    def refuse(address: str) -> str:
        return f"{len(address)} characters"

    text = f"{MINIMAL}sinks: [a.jsonl]".encode()
    with pytest.raises(ConfigError, match=r"sinks\[1\]: 7 characters"):
        read_board(text, "b.yaml", refuse)
    assert read_board(text, "b.yaml", problem_of_sink).board.sinks == ("a.jsonl",)


def test_the_text_of_a_board_is_kept_with_its_comments() -> None:
    assert source(b"\xef\xbb\xbf" + MINIMAL.encode()).text == MINIMAL
    assert source(MINIMAL + "# 评论\r\n").text == MINIMAL + "# 评论\r\n"


def test_what_is_stored_comes_back() -> None:
    full = board(
        "limits: {delay: 2}\nrefresh: {every: 2m}\nfields: {a: [h1, {regex: x, in: url}]}\n"
        "browser: true\njumping_urls: []\n"
    )
    assert unpack_board(pack_board(full)) == full
    assert unpack_board(pack_board(board())) == board()


def test_what_is_usual_is_not_stored() -> None:
    """An older Weft reads a board that uses nothing new."""
    assert set(msgspec.json.decode(pack_board(board()))) <= {
        *("name", "entries", "refresh", "limits", "fields")
    }
    with pytest.raises(msgspec.ValidationError, match="telepathy"):
        unpack_board('{"name": "a", "entries": [], "telepathy": true}')


@given(st.text(max_size=200))
def test_any_text_is_a_board_or_a_mistake(text: str) -> None:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return
    for each in (content, MINIMAL.encode() + content):
        try:
            told = read_board(each, "b.yaml", problem_of_sink).board.name
        except ConfigError as error:
            told = str(error)
        assert told.startswith(("b.yaml:", "news"))
