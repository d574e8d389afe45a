"""An engine that cannot say what it has in its hands, and one that has closed."""

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from weft.engine.scrapy.inprogress import InProgress
from weft.errors import EngineError


def in_progress_of(engine: object) -> InProgress:
    crawler: Any = get_crawler()
    crawler.engine = engine
    return InProgress(crawler)


@pytest.mark.parametrize(
    "slot",
    [
        None,
        SimpleNamespace(inprogress=[], nextcall=SimpleNamespace(schedule=print)),
        SimpleNamespace(inprogress=set(), nextcall=None),
    ],
)
def test_an_engine_that_does_not_say_it_is_told_with_the_cure(slot: object) -> None:
    with pytest.raises(EngineError, match="install the Scrapy version"):
        in_progress_of(SimpleNamespace(_slot=slot)).check()


def test_an_engine_that_has_closed_has_let_go_of_everything() -> None:
    in_progress = in_progress_of(SimpleNamespace(_slot=None))
    requests = [Request("http://a/"), Request("http://a/")]
    assert in_progress.let_go(requests) == requests
    assert in_progress.is_closing
