"""Duties: work of the control plane that one master at a time does.

A master takes the lease of a duty and keeps it, more often than it runs out. One that dies keeps
nothing, and another takes the duty when the lease has run out. One that was away for too long hears
that the duty is not its own any more as soon as it tries to keep it.

Each lease has a token, greater than those of all leases of the duty before. What a master does
under its lease carries the token, so that what comes late, from a master that does not know yet
that it has lost the duty, is recognised. The rule is that of the leases of buckets:
`weft/redis/lua/leases.lua`. A script on keys under the prefix of the duty can ask `valid_lease`
there, in the same step in which it writes.
"""

import msgspec

from weft.clock import Clock
from weft.redis import keys
from weft.redis.client import Client
from weft.redis.script import NO_CONFIG, NoConfig, Script


class TakeDuty(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    lease_ms: int


class KeepDuty(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    lease_token: int
    lease_ms: int


class GiveUpDuty(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    owner: str
    lease_token: int


class LookAtDuty(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int


class DutyHolder(msgspec.Struct, frozen=True, array_like=True):
    """The master that has a duty."""

    owner: str
    token: int
    #: For how long it still has it, if it is not heard of; 0: the next who asks takes it.
    left_ms: int


_PACKAGE = "weft.cluster.lua"
_LEASES = ("basics", "leases")

TAKE_DUTY = Script(_PACKAGE, ("take_duty",), NoConfig, TakeDuty, int, libraries=_LEASES)
KEEP_DUTY = Script(_PACKAGE, ("keep_duty",), NoConfig, KeepDuty, bool, libraries=_LEASES)
GIVE_UP_DUTY = Script(_PACKAGE, ("give_up_duty",), NoConfig, GiveUpDuty, bool, libraries=_LEASES)
DUTY = Script(_PACKAGE, ("duty",), NoConfig, LookAtDuty, list[DutyHolder], libraries=_LEASES)


class Duties:
    """The duties of one master. `owner` names its process; no two have the same name.

    `clock` is for tests; without it Redis' own counts.
    """

    def __init__(self, client: Client, owner: str, clock: Clock | None = None) -> None:
        self._client = client
        scripts = (TAKE_DUTY, KEEP_DUTY, GIVE_UP_DUTY, DUTY)
        self._client.know({script.sha: script.source for script in scripts})
        self._owner = owner
        self._clock = clock

    async def take(self, duty: str, lease_ms: int) -> int | None:
        """The token of our lease, which may be the one that we had already; None: another has
        it."""
        call = TakeDuty(self._now_ms(), self._owner, lease_ms)
        [raw] = await self._client.run([TAKE_DUTY.call(keys.duty_prefix(duty), NO_CONFIG, call)])
        return TAKE_DUTY.read(raw) or None

    async def keep(self, duty: str, token: int, lease_ms: int) -> bool:
        """Keep our lease with this token; False: it is over, and the duty is not ours."""
        call = KeepDuty(self._now_ms(), self._owner, token, lease_ms)
        [raw] = await self._client.run([KEEP_DUTY.call(keys.duty_prefix(duty), NO_CONFIG, call)])
        return KEEP_DUTY.read(raw)

    async def give_up(self, duty: str, token: int) -> None:
        """Let another take the duty at once."""
        call = GiveUpDuty(self._now_ms(), self._owner, token)
        await self._client.run([GIVE_UP_DUTY.call(keys.duty_prefix(duty), NO_CONFIG, call)])

    async def holder(self, duty: str) -> DutyHolder | None:
        """Who has it; None: nobody."""
        call = LookAtDuty(self._now_ms())
        [raw] = await self._client.run([DUTY.call(keys.duty_prefix(duty), NO_CONFIG, call)])
        return next(iter(DUTY.read(raw)), None)

    def _now_ms(self) -> int:
        return self._clock.now_ms() if self._clock else 0
