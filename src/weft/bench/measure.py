"""The whole benchmark: scenario after scenario, on one Redis."""

from collections.abc import Callable, Sequence
from pathlib import Path

from weft.bench.cores import all_cores
from weft.bench.report import Result
from weft.bench.rounds import Race, Tell
from weft.bench.rows import make_row
from weft.bench.scenarios import Scenario
from weft.bench.trial import Arena
from weft.testing.redis import RedisServer


def measure(
    scenarios: Sequence[Scenario],
    *,
    peers: Path,
    cache: Path,
    expect: Callable[[float], None],
    tell: Tell,
) -> list[Result]:
    """`expect` is told beforehand how many seconds it takes, roughly; `tell` is told where it is.

    Redis does not write to the disk: its CPU is that of its commands.
    """
    with RedisServer(appendonly=False) as server:
        arena = Arena(server, peers, all_cores())
        races = [Race(scenario, arena, cache, tell) for scenario in scenarios]
        expect(sum(race.expected_s for race in races))
        return [_result(race) for race in races]


def _result(race: Race) -> Result:
    scenario = race.scenario
    rows = [make_row(entry, scenario.pace, has_means=scenario.has_lengths) for entry in race.run()]
    return Result(scenario, rows)
