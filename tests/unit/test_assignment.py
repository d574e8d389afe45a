"""Balance, monotonicity and consistency of the three strategies; where one of them does not keep a
property fully, the test says how far it does."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import combinations
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import given

from weft.cluster.assignment import SEATS, Member, Plan, assign, lowest_free, seats_of
from weft.records import Strategy

ANY = pytest.mark.parametrize("strategy", list(Strategy))
NODES, BUCKETS = 100, 4_096
MIXED = (1.0, 0.25, 2.0, 1.0, 1.0)


def joined(members: Sequence[Member], name: str, weight: float = 1.0) -> list[Member]:
    [number] = lowest_free((member.number for member in members), 1)
    taken = (seat for member in members for seat in member.seats)
    return [*members, Member(name, number, lowest_free(taken, seats_of(weight)))]


def cluster(weights: Iterable[float]) -> list[Member]:
    members: list[Member] = []
    for place, weight in enumerate(weights):
        members = joined(members, f"m{place}", weight)
    return members


EQUAL = cluster([1.0] * NODES)


def without(members: Sequence[Member], *gone: int) -> list[Member]:
    return [member for place, member in enumerate(members) if place not in gone]


def weighted(members: Sequence[Member], buckets: int = BUCKETS, copies: int = 1) -> Plan:
    return assign(Strategy.WEIGHTED, members, buckets, copies=copies)


def loads(plan: Plan) -> Counter[str]:
    return Counter(name for names in plan for name in names)


def most(plan: Plan, members: Sequence[Member]) -> float:
    """What the fullest has, beside the mean."""
    return max(loads(plan).values()) * len(members) / len(plan)


def moved(before: Plan, after: Plan) -> list[int]:
    return [bucket for bucket in range(len(before)) if before[bucket] != after[bucket]]


def assert_only_touches(name: str, before: Plan, after: Plan) -> None:
    """Where that member stands neither before nor after, nothing has changed; where it does, the
    others keep their order."""
    for old, new in zip(before, after, strict=True):
        kept_old, kept_new = ([each for each in names if each != name] for names in (old, new))
        shorter = min(len(kept_old), len(kept_new))
        assert kept_old[:shorter] == kept_new[:shorter]


# Seats and numbers


@pytest.mark.parametrize(
    ("weight", "seats"), [(0.01, 1), (0.25, 1), (1.0, SEATS), (1.25, 5), (3.0, 12)]
)
def test_a_weight_gives_seats(weight: float, seats: int) -> None:
    assert seats_of(weight) == seats


@pytest.mark.parametrize(
    ("taken", "many", "free"),
    [([], 2, (0, 1)), ([0, 2], 3, (1, 3, 4)), ([5, 1], 1, (0,)), ([0], 0, ())],
)
def test_the_lowest_free_numbers_are_taken(
    taken: list[int], many: int, free: tuple[int, ...]
) -> None:
    assert lowest_free(taken, many) == free


# Consistency


@ANY
def test_without_members_nobody_serves_a_bucket(strategy: Strategy) -> None:
    assert assign(strategy, [], 3) == [(), (), ()]


@ANY
def test_one_member_serves_all(strategy: Strategy) -> None:
    assert assign(strategy, EQUAL[:1], 3, copies=2) == [("m0",)] * 3


@ANY
@given(order=st.permutations(cluster(MIXED)), copies=st.integers(1, 6))
def test_members_in_any_order_give_the_same_plan(
    strategy: Strategy, order: list[Member], copies: int
) -> None:
    first = assign(strategy, cluster(MIXED), 50, copies=copies)
    assert assign(strategy, order, 50, copies=copies) == first


@pytest.mark.parametrize(
    ("strategy", "digest"),
    [
        (Strategy.MODULO, "cea1870b770fdcb7"),
        (Strategy.TWO_LEVEL, "622b9b9fb7c172ef"),
        (Strategy.WEIGHTED, "a7c1b6f28d1373f9"),
    ],
)
def test_workers_of_all_versions_make_the_same_plan(strategy: Strategy, digest: str) -> None:
    """Who changes a plan must see that old and new workers do not meet in a job."""
    members = without(cluster([1, 2, 0.5] * 20), 3, 10, 44)
    plan = assign(strategy, members, 1_000, copies=2)
    assert sha256(repr(plan).encode()).hexdigest()[:16] == digest


@ANY
@given(
    weights=st.lists(st.sampled_from([0.25, 1.0, 1.5, 3.0]), min_size=1, max_size=12),
    buckets=st.integers(1, 100),
    copies=st.integers(1, 5),
)
def test_copies_are_distinct_and_as_many_as_there_are(
    strategy: Strategy, weights: list[float], buckets: int, copies: int
) -> None:
    plan = assign(strategy, cluster(weights), buckets, copies=copies)
    assert len(plan) == buckets
    for names in plan:
        assert len(names) == len(set(names)) == min(copies, len(weights))


# Balance


@ANY
def test_100_equal_members_have_the_same_but_for_one_bucket(strategy: Strategy) -> None:
    plan = assign(strategy, EQUAL, BUCKETS)
    assert {*loads(plan).values()} == {40, 41}


@ANY
@pytest.mark.parametrize("buckets", [16, 64])
@pytest.mark.parametrize("many", range(1, 9))
def test_a_few_members_who_joined_in_turn_could_not_be_dealt_to_more_evenly(
    strategy: Strategy, buckets: int, many: int
) -> None:
    plan = assign(strategy, EQUAL[:many], buckets)
    assert max(loads(plan).values()) == -(-buckets // many)


@pytest.mark.parametrize(
    ("buckets", "worst"),
    [
        (16, [1.0, 1.5, 1.88, 2.0, 1.88, 1.88, 1.75, 1.0]),
        (64, [1.0, 1.22, 1.36, 1.38, 1.41, 1.32, 1.21, 1.0]),
        (1_024, [1.0, 1.07, 1.08, 1.09, 1.11, 1.09, 1.05, 1.0]),
    ],
)
def test_whoever_is_left_of_eight_the_fullest_has_at_most_so_many_times_the_mean(
    buckets: int, worst: list[float]
) -> None:
    """`weighted`, for 1 to 8 that are left. Buckets of those who left are scattered by chance: with
    few buckets, unevenly."""
    for many in range(1, 9):
        subsets = combinations(EQUAL[:8], many)
        reached = max(most(weighted(subset, buckets), subset) for subset in subsets)
        assert reached <= worst[many - 1], many


@pytest.mark.parametrize("gone", [1, 10, 50, 90])
def test_weighted_stays_even_whoever_leaves(gone: int) -> None:
    for seed in range(3):
        left = Random(seed).sample(EQUAL, NODES - gone)
        assert most(weighted(left), left) <= 1.3


@pytest.mark.parametrize("place", [0, 1, 50, 99])
def test_weight_3_has_three_times_the_buckets_of_weight_1(place: int) -> None:
    weights = [1.0] * NODES
    weights[place] = 3.0
    plan = loads(weighted(cluster(weights)))
    heavy = plan.pop(f"m{place}")
    assert 2.5 <= heavy / (plan.total() / len(plan)) <= 3.5
    assert all(2.5 <= heavy / load <= 3.5 for load in plan.values())


def test_each_weight_has_its_share() -> None:
    members = cluster([0.25, 0.5, 1, 2, 4] * 20)
    share = BUCKETS / sum(len(member.seats) for member in members)
    plan = loads(weighted(members))
    for member in members:
        assert abs(plan[member.name] - share * len(member.seats)) <= 4


def test_modulo_and_two_level_know_no_weights() -> None:
    members = cluster([1.0, 3.0])
    for strategy in (Strategy.MODULO, Strategy.TWO_LEVEL):
        assert loads(assign(strategy, members, 64)) == {"m0": 32, "m1": 32}


@pytest.mark.parametrize("gone", [1, 10, 50, 90])
def test_two_level_stays_even_whoever_leaves(gone: int) -> None:
    for seed in range(3):
        left = Random(seed).sample(EQUAL, NODES - gone)
        plan = assign(Strategy.TWO_LEVEL, left, BUCKETS, virtual_nodes=128)
        assert most(plan, left) <= 1.3


def test_two_level_leaves_nobody_out_whose_number_is_beyond_the_virtual_table() -> None:
    """It then is as long as the numbers are: all who know the members know that."""
    members = cluster([1.0] * 5)
    plan = assign(Strategy.TWO_LEVEL, members, 64, virtual_nodes=2)
    assert plan == assign(Strategy.TWO_LEVEL, members, 64, virtual_nodes=5)
    assert len(loads(plan)) == 5


# Monotonicity


@pytest.mark.parametrize("leaver", [0, 1, 37, 63, 64, 98, 99])
def test_weighted_moves_only_the_buckets_of_who_leaves(leaver: int) -> None:
    before, after = weighted(EQUAL), weighted(without(EQUAL, leaver))
    own = [bucket for bucket in range(BUCKETS) if before[bucket] == (f"m{leaver}",)]
    assert moved(before, after) == own


@pytest.mark.parametrize("many", [1, 2, 15, 16, 99, 100])
def test_weighted_moves_buckets_only_to_who_joins(many: int) -> None:
    before = weighted(EQUAL[:many])
    after = weighted(joined(EQUAL[:many], "new"))
    to_newcomer = [bucket for bucket in range(BUCKETS) if after[bucket] == ("new",)]
    assert moved(before, after) == to_newcomer
    assert len(to_newcomer) == pytest.approx(BUCKETS / (many + 1), abs=1)


def test_who_comes_in_place_of_another_gets_the_same_buckets() -> None:
    changed = weighted(joined(without(EQUAL, 20), "new"))
    assert changed == [
        tuple("new" if n == "m20" else n for n in names) for names in weighted(EQUAL)
    ]


@given(
    changes=st.lists(st.floats(0.25, 4.0) | st.integers(0, 30), max_size=30),
    buckets=st.sampled_from([1, 3, 16, 64, 200]),
    copies=st.integers(1, 4),
)
def test_weighted_changes_only_what_concerns_who_comes_or_goes(
    changes: list[float | int], buckets: int, copies: int
) -> None:
    """A weight: someone joins with it. A whole number: someone leaves."""
    members = cluster([1.0])
    for number, change in enumerate(changes):
        if isinstance(change, float):
            name, then = f"new{number}", joined(members, f"new{number}", change)
        elif len(members) > 1:
            place = change % len(members)
            name, then = members[place].name, without(members, place)
        else:
            continue
        before, after = (weighted(each, buckets, copies) for each in (members, then))
        assert_only_touches(name, before, after)
        members = then


@given(
    weights=st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=2, max_size=12),
    seats=st.integers(1, 20),
    copies=st.integers(1, 3),
)
def test_another_weight_changes_only_what_concerns_its_member(
    weights: list[float], seats: int, copies: int
) -> None:
    members = cluster(weights)
    name, number, own = members[0].name, members[0].number, members[0].seats
    taken = [seat for member in members for seat in member.seats]
    more = lowest_free(taken, max(0, seats - len(own)))
    changed = [Member(name, number, (own + more)[:seats]), *members[1:]]
    assert_only_touches(name, weighted(members, 64, copies), weighted(changed, 64, copies))


@given(
    many=st.integers(2, 40),
    gone=st.sets(st.integers(0, 39), max_size=30),
    leaver=st.integers(0, 39),
    virtual_nodes=st.sampled_from([40, 64, 1_024]),
)
def test_two_level_never_moves_a_bucket_whose_place_is_taken(
    many: int, gone: set[int], leaver: int, virtual_nodes: int
) -> None:
    """Unless its own member leaves. So what moves is at most the share of the places that are not
    taken, and the leaver's."""
    members = without(EQUAL[:many], *gone) or EQUAL[:1]
    left = [member for member in members if member.number != leaver]
    before, after = (
        assign(Strategy.TWO_LEVEL, each, 500, virtual_nodes=virtual_nodes)
        for each in (members, left)
    )
    taken = {member.number for member in left}
    for bucket in moved(before, after):
        assert bucket % virtual_nodes not in taken


@pytest.mark.parametrize(
    ("virtual_nodes", "by_leave", "by_join"),
    [(101, 0.02, 0.01), (128, 0.227, 0.219), (1_024, 0.9, 0.9)],
)
def test_two_level_moves_the_more_the_more_places_are_free(
    virtual_nodes: int, by_leave: float, by_join: float
) -> None:
    """Of 100 members one leaves, or one joins. The best would be one in 100."""
    before, left, more = (
        assign(Strategy.TWO_LEVEL, members, BUCKETS, virtual_nodes=virtual_nodes)
        for members in (EQUAL, without(EQUAL, 50), joined(EQUAL, "new"))
    )
    assert len(moved(before, left)) / BUCKETS == pytest.approx(by_leave, rel=0.05)
    assert len(moved(before, more)) / BUCKETS == pytest.approx(by_join, rel=0.05)


@pytest.mark.parametrize("change", [without(EQUAL, 50), joined(EQUAL, "new")])
def test_modulo_moves_nearly_everything(change: list[Member]) -> None:
    before, after = (assign(Strategy.MODULO, members, BUCKETS) for members in (EQUAL, change))
    assert len(moved(before, after)) / BUCKETS >= 0.95
