"""Random things that are done with a frontier. Run as a program, it does them until it is killed:
it says what it is about to do, does it, and says that it is done, one line each.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

import msgspec

from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier import FrontierBackend, RocksFrontier
from weft.frontier.redis import RedisFrontier
from weft.records import Claim, Ending, Order, Outcome, PackedRequest, PageKind
from weft.testing.clock import FakeClock

HOSTS = 7
DAY_MS = 86_400_000
#: So soon pages are due again. Victims that follow each other live a day each, by their clock,
#: however much they do: what comes after them is never earlier.
DUE_IN_MS = (0, 1_000, 60_000, 600_000, 3_600_000, 3 * DAY_MS)
#: So much time passes between two calls.
STEP_MS = (0, 0, 100, 5_000, 60_000, 600_000)
#: So many pages wait before a victim begins, so that there are blocks of them in Redis.
WAITING = 200


def config(order: Order) -> FrontierConfig:
    limits = HostLimits(concurrency=1_000_000)
    shared = SharedConfig(buckets=1)
    return FrontierConfig(order=order, limits=limits, bad_url_ms=1_000 * DAY_MS, shared=shared)


def open_frontier(store: str, order: Order, clock: FakeClock) -> FrontierBackend:
    """`store`: a directory, or a Redis."""
    if store.startswith("redis"):
        return RedisFrontier(store, "job", config(order), clock)
    return RocksFrontier(Path(store), config(order), clock)


def request(number: int) -> PackedRequest:
    host = f"h{number % HOSTS}"
    kind = PageKind(number % 3 % 2)
    return PackedRequest(number, f"http://{host}/{number}", host, kind, priority=number % 4 - 2)


def mark(call: int) -> bytes:
    """The payload of what waits since this call."""
    return b"%d" % call


class Victim:
    def __init__(
        self, frontier: FrontierBackend, chance: random.Random, clock: FakeClock, first: int
    ) -> None:
        self._frontier = frontier
        self._chance = chance
        self._clock = clock
        self._dies_at_ms = clock.now_ms() + DAY_MS
        self._next = first
        self._claims: list[Claim] = []

    async def make_waiting(self) -> None:
        await self._add(WAITING)
        await self._claim(WAITING)
        await self._wait(self._claims)
        self._claims = []

    async def step(self) -> None:
        left_ms = self._dies_at_ms - self._clock.now_ms()
        self._clock.advance(min(left_ms, self._chance.choice(STEP_MS)))
        # Adds and finishes about as many, so that the queue stays short.
        match self._chance.choice(["add", "claim", "finish", "wait", "wait", "release", "renew"]):
            case "add":
                await self._add(self._some())
            case "claim":
                await self._claim(self._some())
            case "finish":
                await self._finish(self._chosen())
            case "wait":
                await self._wait(self._chosen())
            case "release":
                chosen = self._chosen()
                self._tell("release")
                await self._frontier.release([claim.token for claim in chosen])
                self._tell("ok")
            case "renew":
                self._tell("renew")
                await self._frontier.renew("me", [claim.token for claim in self._claims])
                self._tell("ok")

    async def _add(self, many: int) -> None:
        new = range(self._next, self._next + many)
        known = [self._chance.randrange(self._next + 1) for _ in range(3)]
        self._next = new.stop
        numbers = [*new, *(number for number in known if number < new.start)]
        self._tell("add", *numbers)
        await self._frontier.add([request(number) for number in numbers])
        self._tell("ok")

    async def _claim(self, many: int) -> None:
        self._tell("claim")
        self._claims += (await self._frontier.claim("me", many)).claims
        self._tell("ok")

    async def _finish(self, claims: list[Claim]) -> None:
        endings = [Ending.DONE, Ending.REPLACED, Ending.FAILED, Ending.DROPPED]
        self._tell("finish", *(claim.request.fingerprint for claim in claims))
        outcomes = [Outcome(claim.token, self._chance.choice(endings), 200) for claim in claims]
        await self._end(claims, outcomes)

    async def _wait(self, claims: list[Claim]) -> None:
        """Finish them so that they are due again."""
        call = self._chance.getrandbits(50)
        self._tell("wait", call, *(claim.request.fingerprint for claim in claims))
        outcomes = [
            Outcome(
                claim.token,
                self._chance.choice([Ending.DONE, Ending.FAILED]),
                due_in_ms=self._chance.choice(DUE_IN_MS),
                again=msgspec.structs.replace(claim.request, payload=mark(call)),
            )
            for claim in claims
        ]
        await self._end(claims, outcomes)

    async def _end(self, claims: list[Claim], outcomes: list[Outcome]) -> None:
        """Says too which of them had no answer."""
        answers = await self._frontier.finish(outcomes)
        left = [
            c.request.fingerprint for c, is_so in zip(claims, answers, strict=True) if not is_so
        ]
        self._tell("ok", *left)

    def _some(self) -> int:
        return self._chance.randint(1, 20)

    def _chosen(self) -> list[Claim]:
        self._chance.shuffle(self._claims)
        count = self._some()
        chosen, self._claims = self._claims[:count], self._claims[count:]
        return chosen

    def _tell(self, word: str, *numbers: int) -> None:
        print(json.dumps([word, *numbers]), flush=True)


async def work_until_killed(store: str, order: Order, seed: str, first: int, now_ms: int) -> None:
    print("opening", flush=True)
    clock = FakeClock(now_ms)
    async with open_frontier(store, order, clock) as frontier:
        victim = Victim(frontier, random.Random(seed), clock, first)
        print("open", flush=True)
        if not first:
            await victim.make_waiting()
        while True:
            await victim.step()


if __name__ == "__main__":
    asyncio.run(
        work_until_killed(
            sys.argv[1], Order(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
        )
    )
