"""`weft simulate`: compute what a cluster would do."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from weft.cli.output import count, errors, results, say
from weft.cli.plot import check_plot
from weft.cluster.simulation import IDEAL, PLANS, Balance, SimulationResult, SimulationScenario
from weft.cluster.simulation import simulate as run
from weft.config import MAX_BUCKETS
from weft.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What can be simulated within a minute or two.
MAX_NODES = 10_000
MAX_WEIGHT = 100.0
#: For the strategies and the ideal; distinguishable for the colour-blind.
COLOURS = ("#e69f00", "#56b4e9", "#d55e00", "#000000")
LINES = (6.0, 4.0, 2.0, 0.8)

simulate = typer.Typer(no_args_is_help=True, help="Simulate what a cluster would do.")


@simulate.callback()
def _simulate() -> None:
    """A callback, so that Typer keeps the name of the only command."""


@simulate.command()
def assignment(
    nodes: Annotated[int, typer.Option(min=1, max=MAX_NODES, help="Nodes at the start.")] = 100,
    buckets: Annotated[
        int, typer.Option(min=1, max=MAX_BUCKETS, help="Buckets of the job: WEFT_BUCKETS.")
    ] = 4_096,
    join: Annotated[int, typer.Option(min=0, max=MAX_NODES, help="Number of nodes that join.")] = 1,
    leave: Annotated[int, typer.Option(min=0, help="Number of nodes that leave.")] = 1,
    weights: Annotated[
        str,
        typer.Option(
            metavar="W,W,…",
            help="Weights, given to the nodes in turn: one with weight 2 should have twice as "
            "many buckets as one with weight 1.",
        ),
    ] = "1",
    virtual: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Places in the virtual table of two-level: WEFT_VIRTUAL_NODES of the job. "
            "Default: the power of two that holds all nodes.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed; it decides which nodes leave.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also draw a plot: FILE.png, FILE.svg or FILE.pdf. Needs weft[plot].",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show how evenly each strategy assigns buckets, and how many move when nodes join or leave.

        weft simulate assignment --nodes 1000 --buckets 65536 --join 10 --leave 10
        weft simulate assignment --nodes 40 --weights 1,1,2,4 --plot out.png

    Nothing is started and nothing is stored. A job takes its strategy from WEFT_ASSIGNMENT when it
    begins. "max/mean" is what the fullest node has, divided by what it should have by its weight;
    "deviation" is the standard deviation of that among the nodes. Joining and leaving both begin
    with the same nodes.
    """
    scenario = SimulationScenario(
        nodes=nodes,
        buckets=buckets,
        join=join,
        leave=_read_leave(leave, nodes),
        weights=_read_weights(weights),
        virtual_nodes=_read_virtual(virtual, nodes + join),
        seed=seed,
    )
    if plot:
        check_plot(plot)
    found = _run(scenario)
    results.print(_table(scenario, found))
    if plot:
        _draw(plot, scenario, found)
        say(f"The plot is in {plot}")


def _read_leave(leave: int, nodes: int) -> int:
    if leave >= nodes:
        raise ConfigError(
            f"--leave {leave}: at most {nodes - 1} of {count(nodes, 'node')} can leave, because "
            "one must remain; let fewer leave, or start with more --nodes"
        )
    return leave


def _read_weights(text: str) -> tuple[float, ...]:
    return tuple(_read_weight(word.strip(), text) for word in text.split(","))


def _read_weight(word: str, text: str) -> float:
    try:
        weight = float(word)
    except ValueError:
        weight = math.nan
    if not 0 < weight <= MAX_WEIGHT:
        raise ConfigError(
            f'--weights {text}: "{word}" is not a weight; write numbers above 0 and up to '
            f"{MAX_WEIGHT:g}, separated by commas, as in --weights 1,1,2,4"
        )
    return weight


def _read_virtual(virtual: int | None, most_nodes: int) -> int:
    if virtual is None:
        return 1 << (most_nodes - 1).bit_length()
    if virtual < most_nodes:
        raise ConfigError(
            f"--virtual {virtual}: the virtual table needs a place for each of the up to "
            f"{most_nodes} nodes; give at least {most_nodes}, or omit --virtual"
        )
    return virtual


def _run(scenario: SimulationScenario) -> tuple[SimulationResult, ...]:
    with Progress(console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("Dealing out buckets", total=PLANS)
        return run(scenario, lambda: progress.advance(task))


def _table(scenario: SimulationScenario, found: Sequence[SimulationResult]) -> Table:
    table = Table(title=_dealt(scenario), caption=_caption(scenario))
    table.add_column("strategy")
    joins, leaves = f"{scenario.join:,} join\nmoved", f"{scenario.leave:,} leave\nmoved"
    for name in ("max/mean", "deviation", joins, "max/mean", leaves, "max/mean"):
        table.add_column(name, justify="right")
    for each in found:
        table.add_row(*_row(each), style="dim" if each.strategy == IDEAL else "")
    return table


def _dealt(scenario: SimulationScenario) -> str:
    return f"{count(scenario.buckets, 'bucket')} on {count(scenario.nodes, 'node')}"


def _caption(scenario: SimulationScenario) -> str:
    weights = ", ".join(f"{weight:g}" for weight in scenario.weights)
    return f"weights {weights}; virtual table of {scenario.virtual_nodes:,}; seed {scenario.seed}"


def _row(result: SimulationResult) -> list[str]:
    return [
        result.strategy,
        f"{result.start.most:.3f}",
        f"{result.start.deviation:.1%}",
        f"{result.moved_by_join:.2%}",
        f"{result.joined.most:.3f}",
        f"{result.moved_by_leave:.2%}",
        f"{result.left.most:.3f}",
    ]


# The plot


def _draw(path: Path, scenario: SimulationScenario, found: Sequence[SimulationResult]) -> None:
    """Draw the load of each node at the start and after some left, and what moved."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.5), dpi=120, layout="constrained")
    figure.suptitle(f"{_dealt(scenario)}; {_caption(scenario)}")
    start, left, moved = figure.subplots(1, 3)
    _draw_loads(start, "At the start", {each.strategy: each.start for each in found})
    _draw_loads(
        left, f"After {scenario.leave:,} left", {each.strategy: each.left for each in found}
    )
    _draw_moves(moved, scenario, found)
    try:
        figure.savefig(path)
    except OSError as problem:
        raise ConfigError(f"--plot {path}: {problem}; choose another place") from problem


def _draw_loads(axes: "Axes", title: str, balances: Mapping[str, Balance]) -> None:
    """The first curve is the widest, so that curves on top of each other stay visible."""
    for place, (strategy, balance) in enumerate(balances.items()):
        shares = sorted(balance.shares, reverse=True)
        label = f"{strategy}: max/mean {balance.most:.3f}"
        edges = range(len(shares) + 1)
        axes.stairs(
            shares, edges, baseline=None, label=label, lw=LINES[place], color=COLOURS[place]
        )
    axes.set(title=title, xlabel="nodes, the fullest first", ylabel="buckets / fair share")
    axes.set_ylim(0, 1.5 * max(balance.most for balance in balances.values()))
    axes.legend(loc="upper right")


def _draw_moves(
    axes: "Axes", scenario: SimulationScenario, found: Sequence[SimulationResult]
) -> None:
    width = 0.8 / len(found)
    for place, each in enumerate(found):
        moves = [100 * each.moved_by_join, 100 * each.moved_by_leave]
        spots = [group + (place - (len(found) - 1) / 2) * width for group in range(len(moves))]
        bars = axes.bar(spots, moves, width, label=each.strategy, color=COLOURS[place])
        axes.bar_label(bars, fmt="%.2f", fontsize="small", padding=2)
    axes.set_xticks(range(2), [f"{scenario.join:,} join", f"{scenario.leave:,} leave"])
    axes.set(title="Buckets that moved", ylabel="% of all buckets")
    axes.set_ylim(0, 130)
    axes.set_yticks(range(0, 101, 20))
    axes.legend(loc="upper right", ncols=2)
