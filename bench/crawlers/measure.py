"""The whole benchmark: scenario after scenario, on one Redis."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench.crawlers.cores import all_cores
from bench.crawlers.report import Result
from bench.crawlers.rounds import Race, Tell
from bench.crawlers.rows import make_row
from bench.crawlers.scenarios import Scenario
from bench.crawlers.trial import Arena
from launchers.redis import RedisServer


def measure(
    scenarios: Sequence[Scenario],
    *,
    peers: Path,
    cache: Path,
    expect: Callable[[float], None],
    tell: Tell,
) -> list[Result]:
    """`expect` is called first with the approximate seconds, `tell` with the progress.

    Redis does not write to disk: its CPU time is that of its commands.
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
