"""`weft simulate assignment`: the strategies beside each other and beside the ideal."""

import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from running import Weft
from weft.cluster.simulation import PLANS, SimulationScenario, simulate

SMALL = ("--nodes", "10", "--buckets", "200", "--join", "2", "--leave", "2")
SCENARIO = SimulationScenario(
    nodes=10, buckets=200, join=2, leave=2, weights=(1.0,), virtual_nodes=16, seed=0
)


def rows(shown: str) -> dict[str, list[float]]:
    """The figures of each strategy: max/mean, deviation, then moved and max/mean twice."""
    found = {}
    for line in shown.splitlines():
        name, *cells = re.findall(r"[\w./%-]+", line) or [""]
        if name in ("modulo", "two-level", "weighted", "ideal"):
            found[name] = [float(cell.rstrip("%")) for cell in cells]
    return found


def test_the_table_has_each_strategy_and_the_ideal(weft: Weft) -> None:
    ended = weft("simulate", "assignment", *SMALL)
    assert (ended.returncode, ended.stderr) == (0, "")
    table = rows(ended.stdout)
    assert [*table] == ["modulo", "two-level", "weighted", "ideal"]
    assert table["ideal"] == [1.0, 0.0, 16.67, 1.02, 20.0, 1.0]
    assert table["weighted"][:5] == [1.0, 0.0, 16.5, 1.02, 20.0]
    assert table["weighted"][4] < table["two-level"][4] < table["modulo"][4]
    assert "200 buckets on 10 nodes" in ended.stdout
    assert "virtual table of 16" in ended.stdout


def test_weights_are_dealt_out_in_turn(weft: Weft) -> None:
    table = rows(weft("simulate", "assignment", *SMALL, "--weights", "1, 3").stdout)
    assert table["modulo"][:2] == [2.0, 66.7]
    assert table["weighted"][0] <= 1.1


def test_the_seed_says_who_leaves(weft: Weft) -> None:
    shown = [
        weft("simulate", "assignment", *SMALL, "--seed", seed).stdout for seed in ("1", "1", "2")
    ]
    assert rows(shown[0]) == rows(shown[1]) != rows(shown[2])


def test_in_a_larger_virtual_table_more_moves(weft: Weft) -> None:
    table = rows(weft("simulate", "assignment", *SMALL, "--virtual", "1024").stdout)
    smaller = rows(weft("simulate", "assignment", *SMALL).stdout)
    assert table["two-level"][2] > smaller["two-level"][2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--leave", "10"], "at most 9 of 10 nodes can leave"),
        (["--weights", "1,x"], '"x" is not a weight; write numbers above 0'),
        (["--weights", "0"], '"0" is not a weight'),
        (["--weights", "nan"], '"nan" is not a weight'),
        (["--virtual", "11"], "give at least 12"),
        (["--plot", "out.txt"], "use one of .png, .svg, .pdf"),
        (["--plot", "nowhere/out.png"], "there is no directory nowhere; create it first"),
    ],
)
def test_what_cannot_be_is_told_with_its_cure(weft: Weft, options: list[str], told: str) -> None:
    ended = weft("simulate", "assignment", *SMALL, *options)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert told in ended.stderr


@pytest.mark.parametrize("option", ["--nodes=0", "--buckets=65537", "--join=-1"])
def test_a_number_out_of_its_range_is_told(weft: Weft, option: str) -> None:
    ended = weft("simulate", "assignment", option)
    assert ended.returncode == 2
    assert option.split("=")[0] in ended.stderr
    assert "than or equal to" in ended.stderr


def test_a_plot_is_drawn(weft: Weft, tmp_path: Path) -> None:
    ended = weft("simulate", "assignment", *SMALL, "--plot", "out.png")
    assert ended.returncode == 0, ended.stderr
    assert "The plot is in out.png" in ended.stdout
    picture = (tmp_path / "out.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == (1560, 540)


def test_without_matplotlib_it_is_told_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "sys.argv = ['weft', 'simulate', 'assignment', '--plot', 'out.png']\n"
        "from weft.cli import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "pip install 'weft[plot]'" in ended.stderr


def test_help_shows_an_example(weft: Weft) -> None:
    assert "weft simulate assignment --nodes 1000" in weft("simulate", "assignment", "-h").stdout


# The simulation itself


def test_progress_is_told_after_each_plan() -> None:
    told: list[None] = []
    simulate(SCENARIO, lambda: told.append(None))
    assert len(told) == PLANS


def test_who_changes_nothing_moves_nothing() -> None:
    still = SimulationScenario(
        nodes=3, buckets=7, join=0, leave=0, weights=(1.0, 2.0), virtual_nodes=4, seed=0
    )
    for result in simulate(still):
        assert (result.moved_by_join, result.moved_by_leave) == (0, 0)
        assert result.start == result.joined == result.left


def test_the_ideal_gives_each_its_due_in_whole_buckets() -> None:
    scenario = SimulationScenario(
        nodes=3, buckets=10, join=1, leave=1, weights=(1.0, 1.0, 2.0), virtual_nodes=4, seed=0
    )
    ideal = simulate(scenario)[-1]
    loads = [
        round(share * due, 6) for share, due in zip(ideal.start.shares, (2.5, 2.5, 5), strict=True)
    ]
    assert loads == [3, 2, 5]
    assert ideal.moved_by_join == pytest.approx(1 / 5)
