"""Jobs that the nodes of a store work on."""

import asyncio
from http import HTTPStatus
from typing import Annotated, TypeAlias

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response
from msgspec import Meta

from weft.cluster.tokens import TokenScope
from weft.control.documented import JsonAnswer, answering, read_json, schema_of
from weft.control.guard import check_scope, note_job
from weft.control.master import Master, TheJob, TheMaster
from weft.control.paging import ListPage, ThePage, page_of
from weft.control.problems import MistakesError
from weft.control.shapes import PausedJob
from weft.errors import WeftError
from weft.records import Order
from weft.services import jobs as services
from weft.services.crawls import PlannedCrawl, plan_crawl, start_crawl
from weft.services.jobs import JobRow, ResumedJob, StartedJob
from weft.services.options import CrawlOptions, overrides_of
from weft.sinks.base import Schema

router = APIRouter(tags=["jobs"])

#: What a client names may be on its own machine, where no master can read it.
_FILES = (".py", ".yaml", ".yml")
_A_YEAR_S = 365 * 24 * 3600

_Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4_000, pattern=r"^[^\x00-\x1f]+$")]
_Count: TypeAlias = Annotated[int, Meta(ge=1, le=100_000)]


class JobStart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to crawl, and how: as the options of `weft job start` say it."""

    targets: Annotated[
        list[_Text],
        Meta(
            min_length=1,
            max_length=1_000,
            description="URLs, a spider of the project in the directory of the master, or the word "
            "boards.",
            examples=[["https://example.org/"], ["boards"]],
        ),
    ]
    job: Annotated[str, Meta(max_length=200, pattern=r"^[^\x00-\x1f\x7f/]*$")] = ""
    output: Annotated[list[_Text], Meta(max_length=100)] = []
    schema: Schema | None = None
    order: Order | None = None
    depth: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    delay: Annotated[float, Meta(ge=0, le=_A_YEAR_S)] | None = None
    concurrency: _Count | None = None
    workers_per_host: _Count | None = None
    settings: dict[_Text, str | int | float | bool] = {}
    arguments: dict[_Text, str] = {}
    watch: bool = False
    #: Start over: forget an earlier crawl and its items. Needs the scope admin.
    fresh: bool = False


@router.get("/jobs", **answering(ListPage[JobRow], TokenScope.READ))
async def list_jobs(master: TheMaster, wanted: ThePage) -> JsonAnswer:
    """The jobs of the store, by name."""
    after = wanted.after(str) or ""
    rows = await services.list_jobs(master.store, after=after, limit=wanted.limit + 1)
    return JsonAnswer(page_of(rows, lambda row: row.name, wanted))


@router.post(
    "/jobs",
    **answering(
        StartedJob, TokenScope.WRITE, body={"application/json": {"schema": schema_of(JobStart)}}
    ),
)
async def start_job(master: TheMaster, request: Request) -> JsonAnswer:
    """Start a crawl that all nodes work on, or restart it with other options. The answer comes when
    all running nodes have begun or failed."""
    start = await read_json(request, JobStart)
    if start.fresh:
        check_scope(request, TokenScope.ADMIN)
    _check_targets(start)
    crawl = await asyncio.to_thread(_plan, master, start)
    note_job(request, crawl.home.job)
    started = await start_crawl(crawl, is_fresh=start.fresh)
    if started is None:
        raise HTTPException(
            HTTPStatus.CONFLICT,
            f"the crawl of {crawl.home.job} is finished; send fresh: true to start over",
        )
    return JsonAnswer(started)


def _check_targets(start: JobStart) -> None:
    files = [target for target in start.targets if target.lower().endswith(_FILES)]
    if mistakes := [f"targets: {file}: {_cure(file)}" for file in files if "://" not in file]:
        raise MistakesError("files of yours are not here", mistakes)


def _cure(file: str) -> str:
    if file.lower().endswith(".py"):
        return "name a spider of the project that the master and the nodes run in"
    return "PUT the board into a job, and start that with the target boards"


def _plan(master: Master, start: JobStart) -> PlannedCrawl:
    """Loads Scrapy, and the project if there is one: that takes a second."""
    overrides = overrides_of(_options(master, start), start.settings)
    try:
        crawl = plan_crawl(start.targets, start.arguments, overrides)
        crawl.prepare(crawl.home.store, is_fresh=False)
    except WeftError:
        raise
    except Exception as error:  # of what reads settings: Scrapy, and classes that they name
        raise MistakesError(
            "the settings of this crawl cannot be used", [f"{type(error).__name__}: {error}"]
        ) from error
    return crawl


def _options(master: Master, start: JobStart) -> CrawlOptions:
    return CrawlOptions(
        output=start.output or None,
        schema=start.schema,
        order=start.order,
        depth=start.depth,
        delay=start.delay,
        concurrency=start.concurrency,
        workers_per_host=start.workers_per_host,
        store=master.store.url,
        job=start.job,
        watch=start.watch,
    )


@router.get("/jobs/{job}", **answering(JobRow, TokenScope.READ))
async def show_job(master: TheMaster, job: TheJob) -> JsonAnswer:
    """A job at this moment."""
    return JsonAnswer(await services.show_job(master.store, job))


@router.post("/jobs/{job}/pause", **answering(PausedJob, TokenScope.WRITE))
async def pause_job(master: TheMaster, job: TheJob) -> JsonAnswer:
    """Pause all workers of a job. The answer comes when nothing is sent any more."""
    return JsonAnswer(PausedJob(await services.pause_job(master.store, job)))


@router.post("/jobs/{job}/resume", **answering(ResumedJob, TokenScope.WRITE))
async def resume_job(master: TheMaster, job: TheJob) -> JsonAnswer:
    """Continue a job that was paused or stopped."""
    return JsonAnswer(await services.resume_job(master.store, job))


@router.post("/jobs/{job}/stop", **answering(None, TokenScope.WRITE))
async def stop_job(master: TheMaster, job: TheJob) -> Response:
    """Stop all workers of a job. The answer comes when there are none. Nothing is lost."""
    await services.stop_job(master.store, job)
    return Response(status_code=204)
