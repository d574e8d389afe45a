"""What the strategies would do with a cluster: how even their plans are, how much a change moves.

From the same start, some nodes join in one case and some leave in the other. The strategies are
compared with the ideal: the most even plan possible, with the fewest possible moves.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from statistics import pstdev

import msgspec

from weft.cluster.assignment import Member, Plan, assign, lowest_free, seats_of
from weft.records import Strategy

IDEAL = "ideal"
#: Number of plans in a simulation, and of calls of `after_plan`.
PLANS = 3 * len(Strategy)


class SimulationScenario(msgspec.Struct, frozen=True):
    nodes: int
    buckets: int
    join: int
    leave: int
    #: Of the nodes in turn, including those that join.
    weights: tuple[float, ...]
    #: Places in the virtual table of `two-level`.
    virtual_nodes: int
    #: Decides which nodes leave.
    seed: int

    def weight(self, node: int) -> float:
        return self.weights[node % len(self.weights)]


class Balance(msgspec.Struct, frozen=True):
    """The load of each node, divided by the fair share for its weight."""

    shares: list[float]

    @property
    def most(self) -> float:
        return max(self.shares)

    @property
    def deviation(self) -> float:
        return pstdev(self.shares)


class SimulationResult(msgspec.Struct, frozen=True):
    strategy: str
    start: Balance
    joined: Balance
    left: Balance
    #: Share of all buckets that moved when nodes joined, and when nodes left.
    moved_by_join: float
    moved_by_leave: float


def simulate(
    scenario: SimulationScenario, after_plan: Callable[[], None] = lambda: None
) -> tuple[SimulationResult, ...]:
    """Return a result for each strategy, and the ideal last."""
    clusters = _clusters(scenario)
    return (
        *(_try(strategy, scenario, clusters, after_plan) for strategy in Strategy),
        _ideal(scenario, clusters),
    )


#: The members at the start, after some joined, after some left. A name is the number of a node.
_Clusters = tuple[list[Member], list[Member], list[Member]]


def _clusters(scenario: SimulationScenario) -> _Clusters:
    start = _joined([], scenario, scenario.nodes)
    gone = Random(scenario.seed).sample(range(scenario.nodes), scenario.leave)
    left = [member for node, member in enumerate(start) if node not in gone]
    return start, _joined(start, scenario, scenario.join), left


def _joined(members: Sequence[Member], scenario: SimulationScenario, many: int) -> list[Member]:
    nodes = range(len(members), len(members) + many)
    wanted = [seats_of(scenario.weight(node)) for node in nodes]
    numbers = lowest_free((member.number for member in members), many)
    taken = (seat for member in members for seat in member.seats)
    seats = iter(lowest_free(taken, sum(wanted)))
    newcomers = [
        Member(str(node), number, tuple(next(seats) for _ in range(own)))
        for node, number, own in zip(nodes, numbers, wanted, strict=True)
    ]
    return [*members, *newcomers]


def _try(
    strategy: Strategy,
    scenario: SimulationScenario,
    clusters: _Clusters,
    after_plan: Callable[[], None],
) -> SimulationResult:
    plans: list[Plan] = []
    for members in clusters:
        virtual_nodes = scenario.virtual_nodes
        plans.append(assign(strategy, members, scenario.buckets, virtual_nodes=virtual_nodes))
        after_plan()
    start, joined, left = (
        _balance(scenario, members, [loads[member.name] for member in members])
        for members, loads in zip(clusters, map(_loads, plans), strict=True)
    )
    moved_by_join, moved_by_leave = _moved(plans[0], plans[1]), _moved(plans[0], plans[2])
    return SimulationResult(strategy, start, joined, left, moved_by_join, moved_by_leave)


def _loads(plan: Plan) -> Counter[str]:
    return Counter(name for [name] in plan)


def _moved(before: Plan, after: Plan) -> float:
    return sum(old != new for old, new in zip(before, after, strict=True)) / len(before)


def _ideal(scenario: SimulationScenario, clusters: _Clusters) -> SimulationResult:
    start, joined, left = (
        _balance(scenario, members, _most_even(_fair(scenario, members))) for members in clusters
    )
    weights = [_total_weight(scenario, members) for members in clusters]
    moved_by_join, moved_by_leave = 1 - weights[0] / weights[1], 1 - weights[2] / weights[0]
    return SimulationResult(IDEAL, start, joined, left, moved_by_join, moved_by_leave)


def _balance(
    scenario: SimulationScenario, members: Sequence[Member], loads: Sequence[int]
) -> Balance:
    fair = _fair(scenario, members)
    return Balance([load / due for load, due in zip(loads, fair, strict=True)])


def _fair(scenario: SimulationScenario, members: Sequence[Member]) -> list[float]:
    """The fair share of each for its weight."""
    unit = scenario.buckets / _total_weight(scenario, members)
    return [scenario.weight(int(member.name)) * unit for member in members]


def _total_weight(scenario: SimulationScenario, members: Sequence[Member]) -> float:
    return sum(scenario.weight(int(member.name)) for member in members)


def _most_even(fair: Sequence[float]) -> list[int]:
    """Whole buckets: those whose share was rounded down most get one more."""
    loads = [int(due) for due in fair]
    by_rest = sorted(range(len(fair)), key=lambda index: loads[index] - fair[index])
    for index in by_rest[: round(sum(fair)) - sum(loads)]:
        loads[index] += 1
    return loads
