"""What a node makes of the jobs that it sees, with small programs in place of workers."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from launchers.redis import RedisServer
from weft.clock import monotonic_s
from weft.cluster.jobs import Job, Jobs
from weft.cluster.membership import Membership
from weft.cluster.nodes import NodeJobState, NodeState
from weft.cluster.status import JobState, Status, Work
from weft.cluster.workers import Workers
from weft.frontier import parse_store
from weft.node import nodejob, process
from weft.node.config import NodeConfig
from weft.node.follower import JobFollower
from weft.node.nodejobs import NodeJobs
from weft.redis.client import Client
from weft.testing.waiting import until

WORK = Work(("books.py",), {}, {"DEPTH_LIMIT": 3}, "INFO")
JOB = Job("it", JobState.RUNNING, WORK, starts=1, run="1")

TELL = """
import json, os, signal, sys, time
work = json.load(sys.stdin)
stats = [0] * 17
def progress(pages):
    return dict(elapsed_s=1, pages=pages, items=0, errors=1, stats=stats, is_stopping=False)
def tell(**word):
    print(json.dumps(word), flush=True)
def report(reason, error=None):
    tell(report=dict(reason=reason, progress=progress(2), sinks=[], failures={}, refused=0,
                     item_errors=0, dead_letters=0, error=error))
"""
WAITS = "tell(progress=progress(1)); time.sleep(100)"
DEAF = (
    f"signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), file=sys.stderr); {WAITS}"
)


class Stage:
    """A node that is shown jobs."""

    def __init__(self, client: Client, url: str) -> None:
        self.said: list[str] = []
        self.jobs = Jobs(client)
        self.workers = Workers(client)
        self.client = client
        config = NodeConfig(parse_store(url), "n1", processes=1, weight=2.0)
        self.node_jobs = NodeJobs(self.said.append)
        self.follower = JobFollower(config, self.workers, self.node_jobs)

    async def show(self, **changes: Any) -> None:
        await self.follower.follow([msgspec.structs.replace(JOB, **changes)])

    @property
    def begun(self) -> int:
        return self.said.count("it: starts 1 worker")

    def state(self) -> NodeJobState | None:
        told = self.node_jobs.statuses().get("it")
        return told.state if told else None

    async def wait_for(self, state: NodeJobState) -> None:
        await until(lambda: self.state() is state, f"the job is {state.value}")


Plays = Callable[[str], None]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Plays:
    """Let the workers be this program."""

    def become(program: str) -> None:
        command = (sys.executable, "-I", "-c", TELL + program)
        monkeypatch.setattr(process, "COMMAND", command)

    return become


@asynccontextmanager
async def stage(redis_server: RedisServer) -> AsyncIterator[Stage]:
    async with Client(redis_server.url) as client:
        made = Stage(client, redis_server.url)
        try:
            yield made
        finally:
            made.node_jobs.kill()
            await made.node_jobs.end()


async def test_workers_are_told_what_their_node_is(redis_server: RedisServer, play: Plays) -> None:
    play("print(json.dumps(work['overrides']), file=sys.stderr); report('finished')")

    async with stage(redis_server) as made:
        await made.show()
        await made.wait_for(NodeJobState.ENDED)
        told = next(line for line in made.said if "DEPTH_LIMIT" in line)
        assert msgspec.json.decode(told.removeprefix("it: [worker 1] ")) == {
            "DEPTH_LIMIT": 3,
            "WEFT_STORE": redis_server.url,
            "WEFT_JOB": "it",
            "WEFT_NODE": "n1",
            "WEFT_WEIGHT": 2.0,
            "WEFT_FRESH": False,
        }


async def test_a_job_that_has_ended_here_is_left_alone_for_a_while(
    redis_server: RedisServer, play: Plays, monkeypatch: pytest.MonkeyPatch
) -> None:
    play("report('finished')")

    async with stage(redis_server) as made:
        await made.show(run="")  # the worker makes the run
        await made.wait_for(NodeJobState.ENDED)
        await made.show()
        await made.show()
        assert made.begun == 1
        await made.show(run="2")  # someone started it over
        assert made.begun == 2
        await made.wait_for(NodeJobState.ENDED)
        monkeypatch.setattr(nodejob, "REST_S", 0.0)
        await made.show(run="2")
        assert made.begun == 3
        await made.wait_for(NodeJobState.ENDED)
        assert made.node_jobs.totals().pages == 6
        assert made.node_jobs.totals().errors == 3


@pytest.mark.parametrize(
    ("program", "state"),
    [
        ("report('max_pages')", NodeJobState.ENDED),
        ("tell(failure='no such spider')", NodeJobState.FAILED),
        ("report('store_error', 'the disk is full')", NodeJobState.FAILED),
    ],
)
async def test_what_would_end_in_the_same_way_is_tried_when_it_is_started_again(
    program: str, state: NodeJobState, redis_server: RedisServer, play: Plays
) -> None:
    play(program)

    async with stage(redis_server) as made:
        for starts in (1, 2):
            await made.show(starts=starts)
            await made.wait_for(state)
            await made.show(starts=starts)
            assert made.begun == starts
        made.follower.forgive()
        await made.show(starts=2)
        assert made.begun == (3 if state is NodeJobState.FAILED else 2)


async def test_a_worker_that_stopped_because_the_job_was_is_there_again_when_it_is_not(
    redis_server: RedisServer, play: Plays
) -> None:
    play("report('stopped')")

    async with stage(redis_server) as made:
        await made.show()
        await made.wait_for(NodeJobState.ENDED)
        await made.show()
        assert made.begun == 2


async def test_a_job_that_is_paused_keeps_its_workers_and_gets_no_new_ones(
    redis_server: RedisServer, play: Plays
) -> None:
    play(WAITS)

    async with stage(redis_server) as made:
        await made.show(state=JobState.PAUSED)
        await made.show(work=None)
        assert made.begun == 0
        await made.show()
        await made.wait_for(NodeJobState.RUNNING)
        await made.show(state=JobState.PAUSED)
        assert made.state() is NodeJobState.RUNNING


async def test_workers_of_a_job_that_is_stopped_or_gone_are_killed_if_they_do_not_end(
    redis_server: RedisServer, play: Plays
) -> None:
    play(DEAF)

    async with stage(redis_server) as made:
        await made.show()
        await made.wait_for(NodeJobState.RUNNING)
        pid = int(made.said[-1].removeprefix("it: [worker 1] "))
        membership = Membership(made.client, "it", "its name")
        await membership.meet(Status(node="n1", pid=pid), seats=1, patience_ms=0)
        stopped_s = monotonic_s()
        await made.show(state=JobState.STOPPED)
        assert made.state() is NodeJobState.STOPPING
        await made.wait_for(NodeJobState.ENDED)
        assert monotonic_s() - stopped_s < 4
        await made.follower.follow([])
        assert made.state() is None
        assert (await made.workers.of(["it"]))["it"] == []


async def test_who_drains_begins_nothing(redis_server: RedisServer, play: Plays) -> None:
    play(WAITS)

    async with stage(redis_server) as made:
        await made.show()
        await made.wait_for(NodeJobState.RUNNING)
        made.follower.drain()
        await made.node_jobs.end()
        assert made.follower.state is NodeState.DRAINED
        await made.show()
        await made.show()
        assert (made.begun, made.state()) == (1, None)
        made.follower.is_draining = False
        await made.show()
        assert made.begun == 2


async def test_a_worker_that_dies_with_pages_is_replaced_after_growing_pauses(
    redis_server: RedisServer, play: Plays
) -> None:
    play("tell(progress=progress(1)); os.kill(os.getpid(), 9)")

    async with stage(redis_server) as made:
        begun_s = monotonic_s()
        await made.show()
        await until(lambda: made.node_jobs.totals().deaths == 4, "four have died")
        assert monotonic_s() - begun_s > 0.25 + 0.5 + 1
        assert made.state() is NodeJobState.RUNNING
