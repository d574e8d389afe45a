"""`python -m bench.crawlers`: what `make bench` runs."""

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.status import Status

from bench.crawlers.field import CONTESTANTS, default_peers
from bench.crawlers.scenarios import QUICK, SCENARIOS, Scenario
from weft.cli import ending_in_a_line
from weft.cli.options import AsJson
from weft.cli.output import errors, say, show, warn
from weft.cli.plot import check_plot
from weft.errors import ConfigError

# The measuring modules are imported when needed, so that other commands start fast.
if TYPE_CHECKING:
    from bench.crawlers.report import Result
    from bench.crawlers.rounds import Step, Tell


def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="A few hundred pages, once: under three minutes.")
    ] = False,
    site: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Only this one: {', '.join(SCENARIOS)}. May be given several times.",
            show_default=False,
        ),
    ] = None,
    contestant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Only this one: {', '.join(CONTESTANTS)}. May be given several times.",
            show_default=False,
        ),
    ] = None,
    pages: Annotated[
        int | None,
        typer.Option(min=2, help="So many pages instead of all.", show_default=False),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="So many rounds; medians count.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw it too: FILE.png, FILE.svg or FILE.pdf. Needs weft[plot].",
            show_default=False,
        ),
    ] = None,
    peers: Annotated[
        Path | None,
        typer.Option(
            metavar="PYTHON",
            help="The Python that has Crawlee and feapder. Default: .venv-peers, which "
            "`make bench` makes, or else this one.",
            show_default=False,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where pages are kept for the next time. Default: weft/bench in ~/.cache.",
            show_default=False,
        ),
    ] = None,
    as_data: AsJson = False,
) -> None:
    """Compare Weft with other crawlers: CPU per page, speed and memory.

    Pages are written to a directory and served by nginx on this machine. Each contestant crawls all
    of them and stores the URL and the title of each page, in its own processes, one contestant
    after the other, round after round (in endurance, the long crawl is suspended for short ones, so
    that both see the same state of the machine, and nginx has its own core). Its row shows the
    cost; if it missed a page, or fetched one twice, the exit code is 1 and its row says WRONG.
    Contestants that are not installed are left out.

    Start and end are not part of these figures. The site `start` measures them alone: it has one
    page, which each contestant crawls many times, in turn with the others.

        python -m bench.crawlers --quick
        python -m bench.crawlers --site links --pages 2000 --contestant weft --contestant scrapy
        python -m bench.crawlers --site polite --site endurance --plot out.png
        python -m bench.crawlers --site start

    Below a table are the limits that Weft promises to keep: ok or MISSED. Read the ratios: machines
    differ, and with few pages they are rough. All sites with all contestants take many hours; the
    selection and the expected time are printed first.
    """
    _check_names("--site", site, SCENARIOS)
    _check_names("--contestant", contestant, CONTESTANTS)
    scenarios = _choose(quick, site, contestant, pages, rounds)
    if plot:
        check_plot(plot)
    results = _measure(scenarios, peers or default_peers(), cache)
    _show(results, as_data=as_data)
    if plot:
        _draw(plot, results)
    sys.exit(0 if all(result.is_right for result in results) else 1)


def _check_names(option: str, names: Sequence[str] | None, known: Mapping[str, object]) -> None:
    for name in names or ():
        if name not in known:
            raise ConfigError(f"{option} {name}: there is none; choose from {', '.join(known)}")


def _choose(
    quick: bool,
    sites: Sequence[str] | None,
    contestants: Sequence[str] | None,
    pages: int | None,
    rounds: int | None,
) -> list[Scenario]:
    """The scenarios to run."""
    offered = {each.name: each for each in QUICK} if quick else dict(SCENARIOS)
    chosen = [offered.get(name) or SCENARIOS[name] for name in sites or offered]
    narrowed = [_narrow(each, contestants, pages, rounds) for each in chosen]
    able = [each for each in narrowed if each.contestants]
    if not able:
        names = ", ".join(sorted({name for each in chosen for name in each.contestants}))
        raise ConfigError(f"none of these contestants is in this scenario; it has: {names}")
    return able


def _narrow(
    scenario: Scenario, contestants: Sequence[str] | None, pages: int | None, rounds: int | None
) -> Scenario:
    if contestants:
        kept = [name for name in scenario.contestants if name in contestants]
        scenario = scenario._replace(contestants=kept)
    if pages:
        scenario = scenario.with_pages(pages)
    return scenario._replace(rounds=rounds) if rounds else scenario


def _measure(scenarios: Sequence[Scenario], peers: Path, cache: Path | None) -> "list[Result]":
    from bench.crawlers.measure import measure
    from bench.crawlers.nginx import find_nginx
    from bench.crawlers.site import default_cache

    find_nginx()
    # Both clean up; also Ctrl-C in background processes, which a shell starts with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    for each in scenarios:
        warn(f"{each.name}: {each.about}; rounds: {each.rounds}")
    with _progress() as tell:
        return measure(
            scenarios, peers=peers, cache=cache or default_cache(), expect=_announce, tell=tell
        )


def _announce(expected_s: float) -> None:
    warn(f"This takes about {_duration(expected_s)}. Ctrl-C stops everything.")


def _draw(path: Path, results: "Sequence[Result]") -> None:
    from bench.crawlers.plot import draw

    draw(path, results)
    warn(f"The plot is in {path}")


def _show(results: "Sequence[Result]", *, as_data: bool) -> None:
    from bench.crawlers.report import NOTES, as_json, header, make_table

    if as_data:
        say(json.dumps(as_json(results), indent=2))
        return
    say(header(*NOTES))
    for result in results:
        say(f"\n{result.scenario.about}; rounds: {result.scenario.rounds}")
        show(make_table(result))
        for limit in result.limits:
            say(str(limit))


@contextmanager
def _progress() -> "Iterator[Tell]":
    """A changing line on a terminal, a line per crawl elsewhere."""
    if not errors.is_terminal:
        yield _PlainProgress()
        return
    with Status("starting", console=errors) as status:
        yield lambda step: status.update(_describe(step))


class _PlainProgress:
    def __init__(self) -> None:
        self._last = ""

    def __call__(self, step: "Step") -> None:
        if step.what != self._last:
            self._last = step.what
            warn(_describe(step))


def _describe(step: "Step") -> str:
    parts = [step.what]
    if step.served:
        parts.append(f"{min(step.served, step.pages):,} of {step.pages:,} pages")
    if step.left_s:
        parts.append(f"about {_duration(step.left_s)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


if __name__ == "__main__":
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command()(bench)
    with ending_in_a_line():
        app()
