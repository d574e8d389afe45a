"""Puts together the application of a master."""

from typing import Any

from fastapi import APIRouter, FastAPI

from weft.cluster.tokens import TokenScope
from weft.control.documented import JsonAnswer, answering, describe
from weft.control.guard import HEALTH, Guard
from weft.control.master import Master
from weft.control.problems import answer_problems
from weft.control.routes import audit, boards, frontier, jobs, nodes

PREFIX = "/api/v1"


def make_app(master: Master) -> FastAPI:
    # Its own pages are left out: they load programs from elsewhere.
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.master = master
    app.add_api_route(HEALTH, _tell_health, include_in_schema=False)
    for router in (boards.router, jobs.router, nodes.router, frontier.router, audit.router):
        app.include_router(router, prefix=PREFIX)
    app.include_router(_document_router(app), prefix=PREFIX)
    app.middleware("http")(Guard(master.tokens))
    answer_problems(app)
    return app


async def _tell_health() -> JsonAnswer:
    """That the master answers. It does not ask the store."""
    return JsonAnswer({"status": "ok"})


def _document_router(app: FastAPI) -> APIRouter:
    router = APIRouter(tags=["document"])

    @router.get("/openapi.json", **answering(dict[str, Any], TokenScope.READ))
    async def show_document() -> JsonAnswer:
        """This document."""
        return JsonAnswer(describe(app))

    return router
