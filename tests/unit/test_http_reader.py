"""Answers, in whatever pieces they come."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.engine.http.answer import Answer
from weft.engine.http.parser import MAX_HEAD_BYTES, AnswerParser

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

COMPLETE = {
    "length": OK + b"A: 1\r\nContent-Length: 5\r\n\r\nhello",
    "chunks": CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n",
    "after a continue": b"HTTP/1.1 100 Go on\r\nB: 2\r\n\r\n"
    + OK
    + b"Content-Length: 5\r\n\r\nhello",
    "colonless": OK + b"what is this\r\nContent-Length: 5\r\n\r\nhello",
    "line feeds": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
}


class Notes:
    """Notes what a reader tells."""

    def __init__(self) -> None:
        self.heads = 0
        self.body = b""
        self.ending: str | Exception = ""
        self.flags: list[str] | None = None

    @property
    def is_over(self) -> bool:
        return self.ending != ""

    def note_head(self) -> None:
        self.heads += 1

    def note_body(self, data: bytes) -> None:
        self.body += data

    def note_end(self, flags: list[str] | None = None) -> None:
        self.ending, self.flags = "end", flags

    def note_loss(self, why: str) -> None:
        self.ending = "loss"

    def fail(self, error: Exception) -> None:
        self.ending = error


def read(
    *pieces: bytes, is_head: bool = False, is_lost: bool = False
) -> tuple[Notes, AnswerParser]:
    notes = Notes()
    reader = AnswerParser(Answer(is_head=is_head), notes)
    for piece in pieces:
        reader.feed(piece)
    if is_lost and not notes.is_over:
        reader.end(None)
    return notes, reader


@given(st.sampled_from(sorted(COMPLETE)), st.lists(st.integers(0, 200), max_size=8))
def test_an_answer_is_the_same_in_whatever_pieces_it_comes(name: str, cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(COMPLETE[name])})
    pieces = [COMPLETE[name][a:b] for a, b in pairwise(places)]
    notes, reader = read(*[piece for piece in pieces if piece])
    assert (notes.heads, notes.body, notes.ending, notes.flags) == (1, b"hello", "end", None)
    assert reader.is_reusable


@given(st.sampled_from(sorted(COMPLETE)), st.data())
def test_a_connection_that_ends_too_early_is_noticed_wherever_it_does(
    name: str, data: st.DataObject
) -> None:
    whole = COMPLETE[name]
    notes, _ = read(whole[: data.draw(st.integers(0, len(whole) - 1))], is_lost=True)
    assert notes.ending != "end"
    assert (notes.ending == "loss") == (notes.heads == 1)


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_body_without_a_length_ends_with_the_connection(version: bytes) -> None:
    notes, reader = read(b"HTTP/%b 200 OK\r\n\r\nhel" % version, b"lo", is_lost=True)
    assert (notes.body, notes.ending, notes.flags) == (b"hello", "end", ["partial"])
    assert not reader.is_reusable


@pytest.mark.parametrize(
    ("head", "is_reusable"),
    [
        (b"Content-Length: 9\r\n", True),
        (b"Transfer-Encoding: chunked\r\n", True),
        (b"", True),
        (b"Connection: keep-alive, Close\r\n", False),
    ],
)
def test_an_answer_to_head_has_no_body(head: bytes, is_reusable: bool) -> None:
    notes, reader = read(OK + head + b"\r\n", is_head=True)
    assert (notes.body, notes.ending) == (b"", "end")
    assert reader.is_reusable is is_reusable


@pytest.mark.parametrize("excess", [b"x", b"HTTP/1.1 200 OK\r\n\r\n", b"\x00"])
@pytest.mark.parametrize("is_head", [True, False])
def test_a_connection_on_which_more_came_is_not_used_again(excess: bytes, is_head: bool) -> None:
    notes, reader = read(OK + b"Content-Length: 0\r\n\r\n" + excess, is_head=is_head)
    assert notes.ending == "end"
    assert not reader.is_reusable


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_connection_that_the_server_will_close_is_not_used_again(version: bytes) -> None:
    close = b"" if version == b"1.0" else b"Connection: close\r\n"
    notes, reader = read(b"HTTP/%b 200 OK\r\n%bContent-Length: 1\r\n\r\nx" % (version, close))
    assert notes.ending == "end"
    assert not reader.is_reusable


@pytest.mark.parametrize(
    "start",
    [OK, CHUNKED + b"1\r\nx\r\n0\r\n", CHUNKED + b"1;", b"HTTP/1.1 100 Go on\r\n"],
)
def test_headers_without_an_end_are_given_up(start: bytes) -> None:
    notes, reader = read(start, b"x" * MAX_HEAD_BYTES)
    reader.feed(b"x" * 100)
    assert f"more than {MAX_HEAD_BYTES} bytes of" in str(notes.ending)


def test_headers_that_are_not_http_and_have_no_end_are_given_up() -> None:
    notes, reader = read(OK + b"this is no header\r\n")
    while not notes.is_over:
        reader.feed(b"x" * 1000)
    assert "bytes of headers" in str(notes.ending)


def test_what_is_not_http_at_all_is_given_up_at_once() -> None:
    notes, _ = read(b"SSH-2.0-")
    assert "did not answer with HTTP" in str(notes.ending)
    assert "SSH-2.0-" in str(notes.ending)
