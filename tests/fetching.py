"""Random things that are done with an embedded frontier. Run as a program, it does them until it is
killed: it says what it is about to do, does it, and says that it is done, one line each.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

from weft.config import FrontierConfig, HostLimits
from weft.frontier import RocksFrontier
from weft.records import Claim, Ending, Order, Outcome, PackedRequest, PageKind

HOSTS = 7


def config(order: Order) -> FrontierConfig:
    return FrontierConfig(order=order, limits=HostLimits(concurrency=1_000_000))


def request(number: int) -> PackedRequest:
    host = f"h{number % HOSTS}"
    kind = PageKind(number % 3 % 2)
    return PackedRequest(number, f"http://{host}/{number}", host, kind, priority=number % 4 - 2)


class Victim:
    def __init__(self, frontier: RocksFrontier, chance: random.Random, first: int) -> None:
        self._frontier = frontier
        self._chance = chance
        self._next = first
        self._claims: list[Claim] = []

    async def step(self) -> None:
        # Adds and finishes about as many, so that the queue stays short.
        match self._chance.choice(["add", "claim", "finish", "finish", "release", "renew"]):
            case "add":
                await self._add()
            case "claim":
                self._tell("claim")
                self._claims += (await self._frontier.claim("me", self._some())).claims
                self._tell("ok")
            case "finish":
                await self._finish(self._chosen())
            case "release":
                chosen = self._chosen()
                self._tell("release")
                await self._frontier.release([claim.token for claim in chosen])
                self._tell("ok")
            case "renew":
                self._tell("renew")
                await self._frontier.renew("me", [claim.token for claim in self._claims])
                self._tell("ok")

    async def _add(self) -> None:
        new = range(self._next, self._next + self._some())
        known = [self._chance.randrange(self._next + 1) for _ in range(3)]
        self._next = new.stop
        numbers = [*new, *(number for number in known if number < new.start)]
        self._tell("add", *numbers)
        await self._frontier.add([request(number) for number in numbers])
        self._tell("ok")

    async def _finish(self, claims: list[Claim]) -> None:
        endings = [Ending.DONE, Ending.REPLACED, Ending.FAILED, Ending.DROPPED]
        self._tell("finish", *(claim.request.fingerprint for claim in claims))
        answers = await self._frontier.finish(
            [Outcome(claim.token, self._chance.choice(endings), 200) for claim in claims]
        )
        assert all(answers)
        self._tell("ok")

    def _some(self) -> int:
        return self._chance.randint(1, 20)

    def _chosen(self) -> list[Claim]:
        self._chance.shuffle(self._claims)
        count = self._some()
        chosen, self._claims = self._claims[:count], self._claims[count:]
        return chosen

    def _tell(self, word: str, *numbers: int) -> None:
        print(json.dumps([word, *numbers]), flush=True)


async def work_until_killed(path: Path, order: Order, seed: str, first: int) -> None:
    print("opening", flush=True)
    async with RocksFrontier(path, config(order)) as frontier:
        print("open", flush=True)
        victim = Victim(frontier, random.Random(seed), first)
        while True:
            await victim.step()


if __name__ == "__main__":
    asyncio.run(
        work_until_killed(Path(sys.argv[1]), Order(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    )
