"""Random faults, one after the other and some at the same time; a seed gives the same again."""

import random
import time
from collections import Counter
from collections.abc import Callable

from cluster import Node
from world import World

LEAST_NODES, MOST_NODES = 2, 5
#: Time between two faults.
PAUSE_S = (0.5, 3.0)
#: How long faults last, in times of a lease.
LEASES = (0.3, 2.5)
#: Time between two looks whether the crawl is over.
LOOK_S = 2.0


class Troubles:
    def __init__(self, world: World, rng: random.Random, lease_s: float) -> None:
        self._world = world
        self._rng = rng
        self._lease_s = lease_s
        #: When what is to be done, to end a fault.
        self._ends: list[tuple[float, Callable[[], None]]] = []
        self._is_store_up = True
        self._looked_at_s = time.monotonic()
        #: What was done, and how often.
        self.done: Counter[str] = Counter()
        self._kinds: dict[str, Callable[[], bool]] = {
            "kill": self._kill,
            "stop": self._stop,
            "cut off from the store": lambda: self._cut_off("store"),
            "cut off from all": lambda: self._cut_off("store", "site"),
            "slow store": self._slow_down,
            "store killed": self._kill_store,
            "join": self._join,
            "leave": self._leave,
        }

    def run(self, seconds: float) -> None:
        """Make trouble for so long, or until the crawl is over; then end it all."""
        until_s = time.monotonic() + seconds
        next_s = 0.0
        while (now_s := time.monotonic()) < until_s and not self._is_over(now_s):
            self._end_those_due(now_s)
            if now_s >= next_s:
                kind = self._rng.choice([*self._kinds])
                if self._kinds[kind]():
                    self.done[kind] += 1
                    next_s = now_s + self._rng.uniform(*PAUSE_S)
            time.sleep(0.05)
        self._end_those_due(float("inf"))

    def _is_over(self, now_s: float) -> bool:
        """Whether the crawl is; looked at now and then."""
        if not self._is_store_up or now_s < self._looked_at_s + LOOK_S:
            return False
        self._looked_at_s = now_s
        return self._world.is_over

    def _end_those_due(self, now_s: float) -> None:
        due = sorted((end for end in self._ends if end[0] <= now_s), key=lambda end: end[0])
        self._ends = [end for end in self._ends if end[0] > now_s]
        for _, end in due:
            end()

    def _later(self, end: Callable[[], None], *, least_s: float = 0.0) -> None:
        seconds = max(least_s, self._lease_s * self._rng.uniform(*LEASES))
        self._ends.append((time.monotonic() + seconds, end))

    def _trouble(self, node: Node, end: Callable[[], None]) -> None:
        """Until it has ended, nothing else befalls this node."""
        node.is_troubled = True

        def end_it() -> None:
            end()
            node.is_troubled = False

        self._later(end_it)

    def _any(self) -> Node | None:
        """One that runs and has no trouble."""
        well = [node for node in self._world.cluster.nodes if node.is_well]
        return self._rng.choice(well) if well else None

    # Each tells whether it could be done

    def _kill(self) -> bool:
        node = self._any()
        if node is None:
            return False
        node.kill()
        self._trouble(node, node.start)
        return True

    def _stop(self) -> bool:
        node = self._any()
        if node is None:
            return False
        node.stop()
        self._trouble(node, node.go_on)
        return True

    def _cut_off(self, *networks: str) -> bool:
        node = self._any()
        if node is None:
            return False
        node.machine.cut_off(*networks)
        self._trouble(node, node.machine.reconnect)
        return True

    def _slow_down(self) -> bool:
        """For one node, or for all."""
        link = self._world.link
        assert link
        if link.delays_s:
            return False
        machines = [node.machine for node in self._world.cluster.nodes]
        if self._rng.random() < 0.5:
            machines = [self._rng.choice(machines)]
        delay_s = self._rng.choice([0.02, 0.1, 0.3])
        link.delays_s |= {machine.store_address: delay_s for machine in machines}
        self._later(link.delays_s.clear)
        return True

    def _kill_store(self) -> bool:
        if not self._is_store_up:
            return False
        self._world.store.kill()
        self._is_store_up = False
        self._ends.append((time.monotonic() + self._rng.uniform(0.0, 2.0), self._start_store))
        return True

    def _start_store(self) -> None:
        self._world.store.start()
        self._is_store_up = True

    def _join(self) -> bool:
        if sum(node.is_running for node in self._world.cluster.nodes) >= MOST_NODES:
            return False
        self._world.cluster.join()
        return True

    def _leave(self) -> bool:
        """Only if the store answers: a node would wait for it to say goodbye."""
        node = self._any()
        count = sum(each.is_running for each in self._world.cluster.nodes)
        if node is None or count <= LEAST_NODES or not self._is_store_up:
            return False
        node.leave()
        return True
