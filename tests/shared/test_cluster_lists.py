"""What nodes and workers say of themselves in Redis, and what others read from it."""

import msgspec

from launchers.redis import RedisServer
from servers import Kit
from weft.cluster.jobs import Job, Jobs
from weft.cluster.membership import Membership
from weft.cluster.nodes import (
    NodeCommand,
    NodeJobState,
    NodeJobStatus,
    Nodes,
    NodeState,
    NodeStatus,
)
from weft.cluster.status import JobState, Status, Work
from weft.cluster.workers import Workers
from weft.redis import keys
from weft.redis.client import Client

STATUS = NodeStatus(host="h", pid=7, jobs={"j": NodeJobStatus(NodeJobState.FAILED, 3, 0, "why")})
WORK = Work(("https://example.org/",), {"a": "1"}, {"DEPTH_LIMIT": 2, "WEFT_SINKS": ["x"]}, "INFO")


async def make_older(client: Client, name: str, age_ms: int) -> None:
    """Let a node have been silent for so long."""
    [record] = await client.run([("HGET", keys.NODES, name)])
    instance, heard_at_ms, packed = record.split(b" ", 2)
    older = b"%s %d %s" % (instance, int(heard_at_ms) - age_ms, packed)
    await client.run([("HSET", keys.NODES, name, older)])


async def test_a_node_is_listed_as_it_says_it_is(setup: Kit) -> None:
    async with Client(setup.url) as client:
        nodes = Nodes(client)
        assert await nodes.all() == []
        beaten, order = await nodes.beat("b", "1", STATUS)
        assert beaten.is_new
        assert not beaten.rival_at_ms
        assert order is None
        await nodes.beat("a", "2", NodeStatus(state=NodeState.DRAINED))
        assert not (await nodes.beat("b", "1", STATUS))[0].is_new
        first, second = await nodes.all()
        assert (first.name, first.state) == ("a", NodeState.DRAINED)
        assert (second.name, second.instance, second.status) == ("b", "1", STATUS)
        assert 0 <= second.heard_ago_ms < 5_000
        await nodes.leave("b")
        assert [node.name for node in await nodes.all()] == ["a"]


async def test_a_name_belongs_to_one_node_until_that_is_lost(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:
        nodes = Nodes(client)
        await nodes.beat("n", "first", STATUS)
        refused, _ = await nodes.beat("n", "second", NodeStatus())
        assert refused.rival_at_ms
        assert (await nodes.all())[0].instance == "first"
        await make_older(client, "n", 9_000)
        assert (await nodes.all())[0].state is NodeState.RUNNING
        assert (await nodes.beat("n", "second", NodeStatus()))[0].rival_at_ms
        await make_older(client, "n", 1_500)
        assert (await nodes.all())[0].state is NodeState.LOST
        assert not (await nodes.beat("n", "second", NodeStatus()))[0].rival_at_ms
        assert (await nodes.beat("n", "first", STATUS))[0].rival_at_ms  # it comes back too late
        assert (await nodes.all())[0].instance == "second"


async def test_a_lost_node_is_forgotten_after_a_day(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:
        for name, age_h in (("old", 25), ("lost", 23)):
            await Nodes(client).beat(name, "1", STATUS)
            await Nodes(client).tell(name, NodeCommand.DRAIN)
            await make_older(client, name, age_h * 3_600_000)
        await Nodes(client).beat("new", "1", STATUS)
        assert [node.name for node in await Nodes(client).all()] == ["lost", "new"]
        [orders] = await client.run([("HKEYS", keys.NODE_COMMANDS)])
        assert orders == [b"lost"]


async def test_a_node_hears_its_orders(redis_server: RedisServer) -> None:
    async with Client(redis_server.url) as client:
        nodes = Nodes(client)

        async def order_of(instance: str) -> NodeCommand | None:
            return (await nodes.beat("n", instance, STATUS))[1]

        await nodes.tell("n", NodeCommand.DRAIN)
        assert await order_of("1") is NodeCommand.DRAIN  # also one that was started again
        await nodes.tell("n", NodeCommand.STOP)
        assert await order_of("1") is NodeCommand.STOP
        await make_older(client, "n", 20_000)
        assert await order_of("2") is None  # it was meant for the one before
        assert await order_of("2") is None
        await nodes.tell("n", NodeCommand.DRAIN)
        await nodes.withdraw("n")
        assert await order_of("2") is None


async def test_a_job_is_started_and_steered(setup: Kit) -> None:
    async with Client(setup.url) as client:
        jobs = Jobs(client)
        assert await jobs.get("j") == Job("j")
        await jobs.let_run("j")
        assert await jobs.all() == []
        assert await jobs.start("j", WORK) == 1
        assert await jobs.all() == [Job("j", JobState.RUNNING, WORK, 1)]
        await jobs.set_state("j", JobState.STOPPED)
        assert (await jobs.get("j")).state is JobState.STOPPED
        await jobs.let_run("j")
        assert (await jobs.get("j")).state is JobState.RUNNING
        await jobs.set_state("j", JobState.PAUSED)
        other = msgspec.structs.replace(WORK, targets=("books",))
        assert await jobs.start("j", other) == 2
        assert await jobs.get("j") == Job("j", JobState.RUNNING, other, 2)


async def test_workers_are_listed_until_they_are_buried(setup: Kit) -> None:
    async def join(client: Client, name: str) -> Membership:
        membership = Membership(client, "j", name)
        await membership.meet(Status(node="n", pid=3), seats=1, patience_ms=0)
        return membership

    async with Client(setup.url) as client:
        workers = Workers(client)
        one = await join(client, "one")
        await join(client, "two")
        found = (await workers.of(["none", "j"]))["j"]
        assert [each.name for each in found] == ["one", "two"]
        assert found[0].status == Status(node="n", pid=3)
        assert not found[0].is_lost
        await workers.bury("j", ["two"])
        assert [each.name for each in (await workers.of(["j"]))["j"]] == ["one"]
        epoch = one.view.epoch
        view = await one.meet(Status(), seats=1, patience_ms=0)
        assert view.epoch > epoch
        assert [member.name for member in view.members] == ["one"]
        await client.run([("ZADD", "weft:{j}:heard", 1, "one")])
        [lost] = (await workers.of(["j"]))["j"]
        assert lost.is_lost
        assert lost.state == "lost"


async def test_all_workers_are_forgotten_by_one_who_knows_that_none_lives(
    redis_server: RedisServer,
) -> None:
    async with Client(redis_server.url) as client:
        for job, name in (("j", "one"), ("j", "two"), ("other", "three")):
            await Membership(client, job, name).meet(Status(), seats=1, patience_ms=0)
        await Workers(client).forget("j")
        found = await Workers(client).of(["j", "other"])
        assert [[worker.name for worker in found[job]] for job in ("j", "other")] == [[], ["three"]]
        view = await Membership(client, "j", "new").meet(Status(), seats=1, patience_ms=0)
        assert [(member.name, member.number) for member in view.members] == [("new", 0)]
