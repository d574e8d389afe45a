"""Tables of how many pairs are taken for the same story."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from statistics import mean, quantiles

import mmh3
import msgspec
from rich.table import Table

from bench.duplicates.pairs import Pair
from weft.boards.duplicates.rule import DEFAULT_RULE, DuplicateRule, is_duplicate

DISTANCES = (0, 3, 6, 9, 12, 15, 18)
#: What each threshold may be.
GRID = {
    "containment": (50, 55, 60, 65, 70, 75, 80),
    "resemblance": (30, 34, 38, 42, 46, 50),
    "facts": (0, 30, 40, 50, 60, 70),
    "min_facts": (1, 2, 3, 4),
}
#: A story that is taken for another one is lost to who leaves out duplicates: it weighs more than
#: a duplicate that is not found.
WEIGHT = 5

Judge = Callable[[Pair], bool]
#: By whether it is the same story, kind of pair and fold: how many are taken for it, of how many.
Tally = dict[tuple[bool, str, int], list[int]]


def distance_table(pairs: Sequence[Pair]) -> Table:
    """What the SimHash alone could do."""
    table = Table("pairs", "number", *(f"≤ {most}" for most in DISTANCES), title="SimHash distance")
    for name, group in _groups(pairs):
        shares = (_share(group, _is_within(most)) for most in DISTANCES)
        table.add_row(name, str(len(group)), *(f"{share:.1%}" for share in shares))
    return table


def rule_table(pairs: Sequence[Pair]) -> Table:
    """What the rule does, and what of that is found by marks."""
    columns = ("same by the rule", "have a mark in common", "both", "SimHash distance, 10 50 90 %")
    table = Table("pairs", "number", *columns, title="The rule")
    for name, group in _groups(pairs):
        shares = (_share(group, judge) for judge in (_is_same, _is_found, _is_grouped))
        deciles = quantiles(map(_distance, group), n=10) if len(group) > 1 else [0.0] * 9
        shown = " ".join(f"{deciles[at]:.0f}" for at in (0, 4, 8))
        table.add_row(name, str(len(group)), *(f"{share:.1%}" for share in shares), shown)
    return table


def choice_table(pairs: Sequence[Pair], folds: int) -> Table:
    """Thresholds chosen on some sites, tried on the others."""
    table = Table("left out", "chosen", "recall", "false", title="Chosen without the sites tried")
    tallies = {rule: _tally(pairs, rule, folds) for rule in [DEFAULT_RULE, *_rules()]}
    everything = set(range(folds))
    for fold in sorted(everything):
        rule = max(tallies, key=lambda rule: _merit(tallies[rule], everything - {fold}))
        table.add_row(str(fold), _shown(rule), *_rates(tallies[rule], {fold}))
    best = max(tallies, key=lambda rule: _merit(tallies[rule], everything))
    table.add_row("none", _shown(best), *_rates(tallies[best], everything))
    table.add_row(
        "", f"default: {_shown(DEFAULT_RULE)}", *_rates(tallies[DEFAULT_RULE], everything)
    )
    return table


def _rules() -> Iterator[DuplicateRule]:
    for values in product(*GRID.values()):
        yield msgspec.structs.replace(DEFAULT_RULE, **dict(zip(GRID, values, strict=True)))


def _tally(pairs: Sequence[Pair], rule: DuplicateRule, folds: int) -> Tally:
    tally: Tally = defaultdict(lambda: [0, 0])
    for pair in pairs:
        counts = tally[pair.is_same, pair.name, mmh3.hash(pair.site, signed=False) % folds]
        counts[0] += is_duplicate(pair.one.signature, pair.other.signature, rule)
        counts[1] += 1
    return tally


def _merit(tally: Tally, folds: set[int]) -> float:
    return _rate(tally, folds, is_same=True) - WEIGHT * _rate(tally, folds, is_same=False)


def _rates(tally: Tally, folds: set[int]) -> tuple[str, str]:
    recall, false = (_rate(tally, folds, is_same=is_same) for is_same in (True, False))
    return f"{recall:.1%}", f"{false:.2%}"


def _rate(tally: Tally, folds: set[int], *, is_same: bool) -> float:
    """The share of pairs that are taken for the same story; each kind of pair counts alike."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (same, name, fold), (taken, number) in tally.items():
        if same == is_same and fold in folds:
            sums[name][0] += taken
            sums[name][1] += number
    return mean(taken / number for taken, number in sums.values())


def _groups(pairs: Iterable[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[("same: " if pair.is_same else "other: ") + pair.name].append(pair)
    yield from groups.items()


def _share(pairs: Sequence[Pair], judge: Judge) -> float:
    return sum(map(judge, pairs)) / len(pairs)


def _distance(pair: Pair) -> int:
    return (pair.one.simhash ^ pair.other.simhash).bit_count()


def _is_within(most: int) -> Judge:
    return lambda pair: _distance(pair) <= most


def _is_same(pair: Pair) -> bool:
    return is_duplicate(pair.one.signature, pair.other.signature)


def _is_found(pair: Pair) -> bool:
    return any(mark in pair.other.signature.marks for mark in pair.one.signature.marks)


def _is_grouped(pair: Pair) -> bool:
    return _is_same(pair) and _is_found(pair)


def _shown(rule: DuplicateRule) -> str:
    return ", ".join(f"{name} {getattr(rule, name)}" for name in GRID)
