"""The frontier of a job, and what was crawled of it."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Response

from weft.cluster.tokens import TokenScope
from weft.control.documented import JsonAnswer, answering
from weft.control.master import TheHome
from weft.control.paging import ListPage, ThePage, page_by_name, page_of
from weft.control.problems import MistakesError
from weft.control.shapes import ToldFrontier, ToldPeriods, ToldUrl, tell_look, tell_url
from weft.records import HostState, PageKind
from weft.services import frontiers as services
from weft.services.statistics import Span, StatsPeriod, count_pages
from weft.urls import host_key

router = APIRouter(tags=["frontier"])


class ClearedKind(StrEnum):
    ALL = "all"
    NAV = "nav"
    DATA = "data"


@router.get("/jobs/{job}/frontier", **answering(ToldFrontier, TokenScope.READ))
async def show_frontier(home: TheHome) -> JsonAnswer:
    """What is left to do, and what was done."""
    return JsonAnswer(tell_look(await services.look(home, has_hosts=False)))


@router.get("/jobs/{job}/frontier/hosts", **answering(ListPage[HostState], TokenScope.READ))
async def list_hosts(home: TheHome, wanted: ThePage) -> JsonAnswer:
    """The hosts that have requests queued, parked or claimed, by name."""
    found = (await services.look(home)).hosts
    return JsonAnswer(page_by_name(found, lambda row: row.host, wanted))


@router.get("/jobs/{job}/frontier/url", **answering(ToldUrl, TokenScope.READ))
async def explain_url(
    home: TheHome, url: Annotated[str, Query(min_length=1, max_length=4_000)]
) -> JsonAnswer:
    """What happened to a URL: where it was found, who claimed it, when it was fetched."""
    if not host_key(url):
        raise MistakesError(
            "parameters of this request are wrong", ["url: write http://HOST/… or https://HOST/…"]
        )
    return JsonAnswer(tell_url(url, await services.explain(home, url)))


@router.delete("/jobs/{job}/frontier/{kind}", **answering(None, TokenScope.ADMIN))
async def clear_frontier(home: TheHome, kind: ClearedKind) -> Response:
    """Empty the queues and forget what was seen, of one kind of pages or all. Items are kept."""
    await services.look(home, has_hosts=False)  # raises if there is no such job
    await services.clear(home, None if kind is ClearedKind.ALL else PageKind[kind.name])
    return Response(status_code=204)


@router.get("/jobs/{job}/stats", **answering(ToldPeriods, TokenScope.READ))
async def list_periods(home: TheHome, wanted: ThePage, by: Span = Span.DAY) -> JsonAnswer:
    """What was finished by day or hour, the latest first. Times are those of the master."""
    report = await count_pages(home, by)
    before = wanted.after(int)
    rows = [row for row in reversed(report.periods) if before is None or _start_s(row) < before]
    page = page_of(rows, _start_s, wanted)
    return JsonAnswer(ToldPeriods(by, page.items, page.next, report.total))


def _start_s(period: StatsPeriod) -> int:
    return round(datetime.fromisoformat(period.start).timestamp())
