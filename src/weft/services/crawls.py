"""A crawl to run here or to start on nodes: what to crawl, and where its job lives.

Reading a project loads Scrapy, so that is imported only when needed.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from weft.boards.board import BoardSource
from weft.boards.past import forget_past
from weft.cluster.status import Work
from weft.config import DEFAULT_ITEMS, default_job_dir
from weft.errors import ConfigError
from weft.frontier import JobHome, Store, open_frontier
from weft.garbage import not_collected
from weft.records import Stats
from weft.services.boards import (
    BOARDS_JOB,
    add_boards,
    check_files,
    has_boards,
    is_board_file,
    paused_boards,
)
from weft.services.frontiers import Past, look_back
from weft.services.stores import check_shared
from weft.sinks.outputs import describe, listed, read_outputs

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from weft.engine.settings import JobConfig
    from weft.engine.target import Target
    from weft.services.jobs import StartedJob

#: What each node sets for itself.
_OF_NODE = {"WEFT_STORE", "WEFT_JOB", "WEFT_NODE"}


@dataclass(frozen=True)
class PreparedCrawl:
    """A planned crawl whose settings were read and found to be valid, on the store that it runs on.

    Its workers get the overrides, and so the same settings."""

    overrides: Mapping[str, Any]
    config: "JobConfig"


@dataclass(frozen=True)
class PlannedCrawl:
    target: "Target"
    #: Settings that the user gave, as options or by name.
    overrides: Mapping[str, Any]
    #: All settings: those, the spider's, the project's and the defaults.
    settings: "Settings"
    #: In the store given by the user or the project, or in its own directory.
    home: JobHome
    #: Boards to be added before.
    boards: Sequence[BoardSource] = ()

    @property
    def is_of_boards(self) -> bool:
        from weft.engine.target import BOARDS

        return self.target.words == (BOARDS,)

    @property
    def has_named_store(self) -> bool:
        return bool(self.settings.get("WEFT_STORE"))

    @property
    def log_level(self) -> str:
        level = self.settings["LOG_LEVEL"]
        if str(level).upper() not in logging.getLevelNamesMapping():
            raise ConfigError(
                f"LOG_LEVEL is {level!r}; choose DEBUG, INFO, WARNING, ERROR or CRITICAL"
            )
        return str(level).upper()

    def prepare(self, store: Store, *, is_fresh: bool) -> PreparedCrawl:
        """`store`: its home, or the private server there. Raises ConfigError if a setting is
        wrong."""
        from weft.engine.claims.delivery import make_delivery
        from weft.engine.run import check_job

        overrides = self._overrides_on(store, is_fresh=is_fresh)
        config = check_job(self.target, overrides)
        make_delivery(config)  # raises for an invalid sink, or one that needs an extra
        return PreparedCrawl(overrides, config)

    def _overrides_on(self, store: Store, *, is_fresh: bool) -> dict[str, Any]:
        found = {
            **self.overrides,
            "WEFT_STORE": store.url,
            "WEFT_JOB": self.home.job,
            "WEFT_FRESH": is_fresh,
            "WEFT_RERUN": False,
        }
        if self.is_of_boards and self.home.store.directory is not None:
            found["WEFT_BOARDS"] = str(self.home.store.directory)
        if store.is_shared and self.home.job_dir != default_job_dir(self.home.job):
            found["JOBDIR"] = str(self.home.job_dir)  # a private server's address does not name it
        return found

    def work(self, overrides: Mapping[str, Any]) -> Work:
        """The work for another process."""
        target = self.target
        return Work(target.words, dict(target.given), dict(overrides), self.log_level)


def plan_crawl(
    targets: Sequence[str], arguments: Mapping[str, str], overrides: Mapping[str, Any]
) -> PlannedCrawl:
    """Raises TargetError or ConfigError, which say what to do."""
    boards = _read_boards(targets, arguments)
    with not_collected():
        from weft.engine.settings import read_home
        from weft.engine.target import BOARDS, find_target

        target = find_target([BOARDS] if boards else targets, arguments)
        if target.words == (BOARDS,):
            target = msgspec.structs.replace(target, job=_job_of(boards))
        settings = target.settings_of_spider(overrides)
        home = read_home(settings, target.job)
        return PlannedCrawl(target, overrides, settings, home, boards)


def _read_boards(targets: Sequence[str], arguments: Mapping[str, str]) -> list[BoardSource]:
    """The boards, if the targets are their files. Raises ConfigError with all mistakes."""
    are_files = [is_board_file(target) for target in targets]
    if not any(are_files):
        return []
    if not all(are_files):
        raise ConfigError("boards are crawled apart from other targets; name only their files")
    if arguments:
        raise ConfigError("-a is for spiders; a board takes no arguments")
    checked = check_files([Path(target) for target in targets])
    if mistakes := [mistake for file in checked for mistake in file.mistakes]:
        raise ConfigError("\n".join(mistakes))
    return [file.source for file in checked if file.source is not None]


def _job_of(boards: Sequence[BoardSource]) -> str:
    """The file of a single board has a job of its own, so that crawls are not mixed up."""
    return boards[0].board.name if len(boards) == 1 else BOARDS_JOB


async def put_boards(crawl: PlannedCrawl, config: "JobConfig") -> list[str]:
    """Add the boards of a crawl to its job; return the names of those that are paused. Raises
    ConfigError if the job has none at all, or if a board wants a browser and there is none."""
    if any(source.board.browser for source in crawl.boards):
        from weft.engine.browser.finding import check_browser

        check_browser(config.browser)
    if crawl.boards:
        await add_boards(crawl.home, crawl.boards)
    elif not await has_boards(crawl.home):
        raise ConfigError(f"there are no boards in {crawl.home}; add one with: weft board add FILE")
    return await paused_boards(crawl.home)


async def read_past(home: JobHome, config: "JobConfig") -> Past:
    """What earlier runs of this job have left. Raises ConfigError if it belongs to another
    project."""
    from weft.engine.beginning import check_project

    past = await look_back(home)
    check_project(past.project, config)
    return past


def check_outputs(config: "JobConfig") -> None:
    """For a finished crawl: raises ConfigError for outputs that would stay empty."""
    known = read_outputs(config.job_dir)
    wanted = describe(config.job, config.sinks, config.archives, config.job_dir)
    # The default output was not asked for.
    new = wanted.known() - {DEFAULT_ITEMS} - (known.known() if known else set())
    if known is None or not new:
        return
    raise ConfigError(
        f"this crawl is finished, and its items are in {listed(known.sinks)}: nothing would go "
        f"to {', '.join(sorted(new))}. Read them back with `weft items --job {config.job}`, or "
        "crawl again with --fresh"
    )


async def start_crawl(crawl: PlannedCrawl, *, is_fresh: bool) -> "StartedJob | None":
    """Start it on the nodes of its store; return None if it is finished. Mistakes in its settings
    are reported here and now."""
    from weft.services.jobs import start_job  # here, for it loads the Redis client

    store = check_shared(crawl.home.store)
    prepared = crawl.prepare(store, is_fresh=False)
    past = Past(Stats()) if is_fresh else await read_past(crawl.home, prepared.config)
    if past.is_finished and not crawl.is_of_boards:
        check_outputs(prepared.config)
        return None
    if crawl.is_of_boards:
        await put_boards(crawl, prepared.config)
    own = {name: value for name, value in prepared.overrides.items() if name not in _OF_NODE}

    async def start_over() -> None:
        await _forget(prepared.config)

    before = start_over if is_fresh else None
    return await start_job(store, crawl.home.job, crawl.work(own), before=before)


async def _forget(config: "JobConfig") -> None:
    """Forget an earlier crawl, and the items that this machine can reach."""
    from weft.engine.claims.delivery import make_delivery

    delivery = make_delivery(config)

    async def forget_items() -> None:
        try:
            await delivery.open(is_patient=False)
            await delivery.clear()
        finally:
            await delivery.close()
        await forget_past(config.boards, config.job)

    async with open_frontier(config.store, config.job, config.frontier) as frontier:
        await frontier.begin(is_fresh=True, is_rerun=False, also_forget=forget_items)
