"""`weft bench`"""

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.status import Status

from weft.bench.field import CONTESTANTS, default_peers
from weft.bench.scenarios import QUICK, SCENARIOS, Scenario
from weft.cli.options import AsJson
from weft.cli.output import errors, say, show, warn
from weft.cli.plot import check_plot
from weft.errors import ConfigError

# What measures is imported when it is needed, so that other commands start fast.
if TYPE_CHECKING:
    from weft.bench.report import Result
    from weft.bench.rounds import Step, Tell


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
    """Weft beside other crawlers: what a page costs, how fast they are, what memory they take.

    Pages are written to a directory and served by nginx on this machine. Each contestant crawls all
    of them and stores the URL and the title of each page, in processes of its own, one contestant
    after the other, round after round (in endurance, the long crawl stands still for short ones, so
    that both see the same moods of the machine, and nginx has a core of its own). Its row tells
    what it cost; if it missed a page, or took one twice, its row says WRONG, and the command ends
    with 1. Who is not installed is left out.

        weft bench --quick
        weft bench --site links --pages 2000 --contestant weft --contestant scrapy
        weft bench --site polite --site endurance --plot out.png

    Beneath a table stand the limits that Weft promises to keep: ok or MISSED. Read the ratios:
    machines differ, and with few pages they are rough. All sites, with all contestants, take many
    hours; what is chosen, and how long it takes, is told first.
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
    """What is to be run."""
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
    from weft.bench.measure import measure
    from weft.bench.nginx import find_nginx
    from weft.bench.site import default_cache

    find_nginx()
    # Both tidy up; Ctrl-C too where a shell has told its children in the background to ignore it.
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
    from weft.bench.plot import draw

    draw(path, results)
    warn(f"The plot is in {path}")


def _show(results: "Sequence[Result]", *, as_data: bool) -> None:
    from weft.bench.report import NOTES, as_json, header, make_table

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
    """A line that changes on a terminal, a line for each crawl elsewhere."""
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
