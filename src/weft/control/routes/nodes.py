"""The machines that crawl together, and their workers."""

from fastapi import APIRouter

from weft.cluster.tokens import TokenScope
from weft.control.documented import JsonAnswer, answering
from weft.control.master import Name, TheMaster
from weft.control.paging import ListPage, ThePage, page_by_name
from weft.control.shapes import (
    ToldNode,
    ToldSteering,
    ToldWorker,
    tell_node,
    tell_steering,
    tell_worker,
)
from weft.services import nodes as services

router = APIRouter(tags=["nodes"])


@router.get("/nodes", **answering(ListPage[ToldNode], TokenScope.READ))
async def list_nodes(master: TheMaster, wanted: ThePage) -> JsonAnswer:
    """The nodes of the store, by name. One that was not heard of for ten seconds is lost."""
    found = (await services.list_nodes(master.store)).nodes
    return JsonAnswer(page_by_name([*map(tell_node, found)], lambda row: row.name, wanted))


@router.get("/workers", **answering(ListPage[ToldWorker], TokenScope.READ))
async def list_workers(master: TheMaster, wanted: ThePage) -> JsonAnswer:
    """The workers of all jobs, by job; also those that were started by hand."""
    found = (await services.list_nodes(master.store)).workers
    rows = [*map(tell_worker, found)]
    return JsonAnswer(page_by_name(rows, lambda row: f"{row.job}\n{row.name}", wanted))


@router.post("/nodes/{name}/drain", **answering(ToldSteering, TokenScope.WRITE))
async def drain_node(master: TheMaster, name: Name) -> JsonAnswer:
    """Let a node finish what is in progress and start nothing new until it is resumed."""
    return JsonAnswer(tell_steering(await services.drain_node(master.store, name)))


@router.post("/nodes/{name}/resume", **answering(ToldSteering, TokenScope.WRITE))
async def resume_node(master: TheMaster, name: Name) -> JsonAnswer:
    """Let a drained node work again."""
    return JsonAnswer(tell_steering(await services.resume_node(master.store, name)))


@router.post("/nodes/{name}/stop", **answering(ToldSteering, TokenScope.WRITE))
async def stop_node(master: TheMaster, name: Name) -> JsonAnswer:
    """Drain a node and end its agent."""
    return JsonAnswer(tell_steering(await services.stop_node(master.store, name)))
