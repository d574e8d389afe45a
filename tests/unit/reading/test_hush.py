"""Weft keeps trafilatura's log messages to itself, and only those of its own calls."""

import logging
import threading

import pytest
import trafilatura

from weft.boards.reading.article.hush import hushed
from weft.boards.reading.reading import ReadOptions, read

#: A page about which trafilatura complains.
EMPTY = "<html><body></body></html>"


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.name for record in caplog.records if record.name.startswith("trafilatura")]


def test_a_page_without_text_is_read_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    read(EMPTY.encode(), options=ReadOptions(is_article=True))
    assert complaints(caplog) == []


def test_a_program_hears_what_its_own_calls_of_trafilatura_say(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    hushed(lambda: trafilatura.extract(EMPTY))
    assert complaints(caplog) == []
    trafilatura.extract(EMPTY)
    assert complaints(caplog)


def test_another_thread_is_heard_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    other = threading.Thread(target=trafilatura.extract, args=(EMPTY,))

    def work() -> None:
        other.start()
        other.join()

    hushed(work)
    assert complaints(caplog)


def test_an_error_ends_the_silence(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ZeroDivisionError):
        hushed(lambda: 1 // 0)
    trafilatura.extract(EMPTY)
    assert complaints(caplog)
