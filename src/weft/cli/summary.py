"""The result of a crawl, for people and for scripts."""

from collections.abc import Iterator

from weft.cli import INTERRUPTED
from weft.cli.output import count, say, warn
from weft.node.supervisor import SHUTDOWN
from weft.records import Stats
from weft.reports import Report, tell_counts
from weft.services.crawls import PlannedCrawl
from weft.sinks.deadletters import DEAD_LETTERS
from weft.sinks.outputs import listed, read_outputs


def summarize(report: Report, *, continues: bool = True) -> None:
    """`continues`: whether the same command goes on with this crawl."""
    progress = report.progress
    rate = progress.pages / progress.elapsed_s if progress.elapsed_s else 0.0
    say(
        f"{count(progress.pages, 'page')} and {count(progress.items, 'item')} "
        f"in {progress.elapsed_s:,.1f} s ({rate:,.1f} pages/s)"
    )
    for kind, number in report.failures.items():
        say(f"  {count(number, 'request')} failed: {kind}")
    if report.item_errors:
        say(f"  {count(report.item_errors, 'item')} failed in a pipeline, see the log")
    if report.dead_letters:
        refused = count(report.dead_letters, "item")
        say(f"  {refused} refused by a sink, see {DEAD_LETTERS} in the job's directory")
    if report.refused:
        say(f"  {count(report.refused, 'request')} refused, for example by robots.txt or a limit")
    for what, hint in _left(report):
        say(f"{what}{hint}" if continues else what)
    if report.sinks and progress.items:
        say(f"Items are in {', '.join(report.sinks)}")


def _left(report: Report) -> Iterator[tuple[str, str]]:
    """What is left, and how to go on."""
    stats = report.progress.stats
    if stats.held:
        yield (
            f"  {count(stats.held, 'request')} held, because their hosts do not exist",
            "; run the same command after an hour to retry them",
        )
    if stats.waiting and not stats.pending:
        yield (
            f"  {count(stats.waiting, 'page')} waiting until they are due again",
            "; run the same command to go on"
            if report.reason == SHUTDOWN
            else "; run the same command then, or go on with --watch",
        )
    left = stats.queued - stats.held + stats.parked
    if left > 0:
        yield (
            f"Not finished ({report.reason}): {count(left, 'request')} left.",
            " Run the same command to continue.",
        )


def tell_past(crawl: PlannedCrawl, stats: Stats) -> None:
    """Before a crawl: what it continues, if it does."""
    if stats.added:
        warn(f"The job {crawl.home.job} continues: {tell_counts(stats)}. --fresh starts over.")


def tell_job(crawl: PlannedCrawl) -> None:
    """After a crawl: its job, if the user could not know its name."""
    if crawl.target.given and crawl.home.job == crawl.target.job:
        say(f"The job is {crawl.home.job}: `weft items --job {crawl.home.job}` shows its items")


def tell_finished(crawl: PlannedCrawl) -> None:
    say(f"Nothing to do: this crawl is finished. Its job is {crawl.home}; --fresh starts over.")
    if (outputs := read_outputs(crawl.home.job_dir)) and outputs.sinks:
        say(f"Items are in {listed(outputs.sinks)}")


def exit_code(report: Report) -> int:
    """Return 0 only if the crawl did what was asked."""
    if report.error is not None:
        raise report.error
    if report.reason == SHUTDOWN:
        return INTERRUPTED
    stats = report.progress.stats
    has_met_trouble = report.failures or report.refused or stats.held
    # A run that goes on may have nothing but dead links left.
    has_pages = report.progress.pages > 0 or stats.done > 0
    is_fruitless = has_met_trouble and not has_pages
    has_faults = "spider error" in report.failures or report.item_errors
    if is_fruitless:
        warn("weft: not a single page could be fetched", "red")
    return 1 if is_fruitless or has_faults or report.reason == "start_error" else 0
