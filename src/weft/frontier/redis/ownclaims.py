"""The claims of this client, as the scripts know them: in groups, by number."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from weft.frontier.redis.entry import Entry
from weft.frontier.redis.groups import is_set, marks_text
from weft.frontier.redis.layout import Bucket, RedisLayout
from weft.records import PackedRequest


class OwnClaim(NamedTuple):
    """A claim of ours."""

    request: PackedRequest
    entry: Entry
    #: The group that it is in, and its number there; see claims.lua.
    group: str
    number: int


class ClaimsOfBucket:
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


class ClientClaims:
    def __init__(self) -> None:
        self._claims: dict[int, OwnClaim] = {}

    def __iter__(self) -> Iterator[int]:
        """The tokens."""
        return iter(self._claims)

    def __contains__(self, token: int) -> bool:
        return token in self._claims

    def __getitem__(self, token: int) -> OwnClaim:
        return self._claims[token]

    def put(self, token: int, claim: OwnClaim) -> None:
        self._claims[token] = claim

    def let_go(self, tokens: Iterable[int]) -> None:
        for token in tokens:
            self._claims.pop(token, None)

    def clear(self) -> None:
        self._claims.clear()

    def by_bucket(self, layout: RedisLayout, tokens: Sequence[int]) -> dict[Bucket, ClaimsOfBucket]:
        """The tokens by bucket and group; one that comes again is no claim any more."""
        parts: dict[Bucket, ClaimsOfBucket] = defaultdict(ClaimsOfBucket)
        met: set[int] = set()
        for i, token in enumerate(tokens):
            part = parts[layout.bucket_of_token(token)]
            if token not in self._claims or token in met:
                part.stale += 1
            else:
                part.groups[self._claims[token].group].append(i)
            met.add(token)
        return parts

    def marks(self, tokens: Sequence[int], part: ClaimsOfBucket) -> list[tuple[str, str]]:
        """The groups of a part, and which claims in them are meant, as the scripts read it."""
        return [
            (name, marks_text(self._claims[tokens[i]].number for i in own))
            for name, own in part.groups.items()
        ]

    def note_alive(
        self, tokens: Sequence[int], part: ClaimsOfBucket, alive: Sequence[str], answers: list[bool]
    ) -> None:
        """Answer for each token of a part whether it is a claim, by what the scripts told."""
        for own, text in zip(part.groups.values(), alive, strict=True):
            for i in own:
                answers[i] = is_set(text, self._claims[tokens[i]].number)
