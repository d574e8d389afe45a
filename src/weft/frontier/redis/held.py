"""The claims of this client, as the scripts know them: in groups, with places."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from weft.frontier.redis.entry import Entry
from weft.frontier.redis.groups import is_set, places_text
from weft.frontier.redis.layout import Bucket, Layout
from weft.records import PackedRequest


class Held(NamedTuple):
    """A claim of ours."""

    request: PackedRequest
    entry: Entry
    #: The group that it is in, and its place there; see claims.lua.
    group: str
    place: int


class Part:
    """The claims of one bucket that a call is about, each by its number in that call."""

    def __init__(self) -> None:
        self.groups: dict[str, list[int]] = defaultdict(list)
        #: How many are no claims of ours.
        self.stale = 0

    def keep(self, answers: Sequence[bool]) -> None:
        """Leave out those that are no claims, by their numbers in the call."""
        for name, own in [*self.groups.items()]:
            valid = [i for i in own if answers[i]]
            self.stale += len(own) - len(valid)
            self.groups[name] = valid
            if not valid:
                del self.groups[name]


class HeldClaims:
    def __init__(self) -> None:
        self._held: dict[int, Held] = {}

    def __iter__(self) -> Iterator[int]:
        """The tokens."""
        return iter(self._held)

    def __contains__(self, token: int) -> bool:
        return token in self._held

    def __getitem__(self, token: int) -> Held:
        return self._held[token]

    def put(self, token: int, held: Held) -> None:
        self._held[token] = held

    def let_go(self, tokens: Iterable[int]) -> None:
        for token in tokens:
            self._held.pop(token, None)

    def clear(self) -> None:
        self._held.clear()

    def parts(self, layout: Layout, tokens: Sequence[int]) -> dict[Bucket, Part]:
        """The tokens by bucket and group; one that comes again is no claim any more."""
        parts: dict[Bucket, Part] = defaultdict(Part)
        met: set[int] = set()
        for i, token in enumerate(tokens):
            part = parts[layout.bucket_of_token(token)]
            if token not in self._held or token in met:
                part.stale += 1
            else:
                part.groups[self._held[token].group].append(i)
            met.add(token)
        return parts

    def places(self, tokens: Sequence[int], part: Part) -> list[tuple[str, str]]:
        """The groups of a part, and the places that it is about, as the scripts are told."""
        return [
            (name, places_text(self._held[tokens[i]].place for i in own))
            for name, own in part.groups.items()
        ]

    def note_alive(
        self, tokens: Sequence[int], part: Part, alive: Sequence[str], answers: list[bool]
    ) -> None:
        """Answer for each token of a part whether it is a claim, by what the scripts told."""
        for own, text in zip(part.groups.values(), alive, strict=True):
            for i in own:
                answers[i] = is_set(text, self._held[tokens[i]].place)
