"""Reads back items from where a crawl stored them."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

from weft.config import DEFAULT_ITEMS, DEFAULT_JOBS_DIR, default_job_dir
from weft.errors import ConfigError, StoreMissingError
from weft.services.frontiers import several_jobs
from weft.services.stores import other_arguments
from weft.sinks import JsonLinesSink, Sink, SinkConfig, make_sink
from weft.sinks.conditions import Condition
from weft.sinks.outputs import Output, read_outputs, without_secrets
from weft.sinks.readback import Query, ReadableSink, StoredItem
from weft.urls import without_password

#: Holds for items that repeat no other; also for those of crawls that never asked.
IS_UNIQUE = Condition("duplicate_of", "=", "")


class FoundItems(msgspec.Struct, frozen=True):
    """Where the items of a job are."""

    sink: ReadableSink
    #: Empty: the sink has no items of other jobs.
    job: str = ""
    #: Where earlier items of the job are that the sink does not have.
    earlier: tuple[Output, ...] = ()


def find_items(sink: str | None, job: str | None) -> FoundItems:
    """Find those in a sink, or those that a job has stored; a single job need not be named."""
    if sink:
        return FoundItems(_readable(sink, _job_dir(job)), job or "")
    return _put_by(_job_with_items(job))


async def read_items(
    found: FoundItems,
    conditions: Sequence[Condition] = (),
    *,
    since_ms: int = 0,
    limit: int | None = None,
) -> AsyncIterator[StoredItem]:
    """Works while the crawl is running. `since_ms`: only pages fetched then or later."""
    given = 0
    async for item in found.sink.read(Query(found.job, since_ms)):
        if all(condition.holds(item.fields) for condition in conditions):
            yield item
            given += 1
            if given == limit:
                return


def _readable(output: str, job_dir: Path) -> ReadableSink:
    sink: Sink = make_sink(output, SinkConfig(job_dir))
    if not isinstance(sink, ReadableSink):
        raise ConfigError(
            f"items cannot be read back from {without_password(output)}; read them with another "
            "tool, or let crawls also write to a database: -o items.db"
        )
    return sink


def _job_dir(job: str | None) -> Path:
    """The directory where some sinks keep readable items: the job's; a single job needs no name."""
    if job:
        return default_job_dir(job)
    found = [path for path in DEFAULT_JOBS_DIR.glob("*") if path.is_dir()]
    return found[0] if len(found) == 1 else DEFAULT_JOBS_DIR


def _job_with_items(job: str | None) -> Path:
    """The directory of the given job, which says where its items are."""
    if job:
        path = default_job_dir(job)
        if not _has_items(path):
            where = other_arguments(path) or _elsewhere()
            raise StoreMissingError(f"there is no {path / DEFAULT_ITEMS}; {where}")
        return path
    found = sorted(filter(_has_items, DEFAULT_JOBS_DIR.glob("*")))
    if not found:
        raise StoreMissingError(
            f"there is no {DEFAULT_ITEMS} of a job in {DEFAULT_JOBS_DIR.absolute()}; {_elsewhere()}"
        )
    if len(found) > 1:
        raise ConfigError(several_jobs(found))
    return found[0]


def _has_items(job_dir: Path) -> bool:
    return (job_dir / DEFAULT_ITEMS).exists() or read_outputs(job_dir) is not None


def _elsewhere() -> str:
    return (
        "run this where you crawled, or name the sink given to the crawl with -o: weft items SINK"
    )


def _put_by(job_dir: Path) -> FoundItems:
    outputs = read_outputs(job_dir)
    if outputs is None:  # from an older Weft
        return FoundItems(_readable(str(job_dir / DEFAULT_ITEMS), job_dir))
    if not outputs.sinks:
        raise StoreMissingError(f"the job {outputs.job} keeps no items: its WEFT_SINKS is empty")
    output = min(outputs.sinks, key=_needs_secret)  # all of them have all items
    address = _with_secret(output) if _needs_secret(output) else output.found_from(job_dir)
    sink = _readable(address, job_dir)
    is_own = isinstance(sink, JsonLinesSink) or (
        output.is_file and job_dir in Path(address).parents
    )
    return FoundItems(sink, "" if is_own else outputs.job, tuple(outputs.earlier))


def _needs_secret(output: Output) -> bool:
    """Items that go to FTP and S3 are read from the job's directory."""
    return output.lacks_secret and not output.address.startswith(("ftp:", "s3:"))


def _with_secret(output: Output) -> str:
    """The full address, from the project's settings."""
    # Imported here because it loads Scrapy.
    from weft.engine.target import project_sinks

    for address in project_sinks():
        if without_secrets(address, Path()) == output:
            return address
    example = output.address.replace("@", ":PASSWORD@", 1)
    raise ConfigError(
        f"the items are in {output.address}, whose password is not stored; give the full address: "
        f"weft items '{example}'"
    )
