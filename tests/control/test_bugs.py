"""What a master answers when it has a bug itself."""

import httpx

from launchers.redis import RedisServer
from masters import check_problem
from weft.cluster.audit import AuditLog
from weft.cluster.tokens import Tokens, TokenScope
from weft.control.app import make_app
from weft.control.documented import answering
from weft.control.master import Master
from weft.frontier import Store
from weft.redis.client import Client
from weft.services.tokens import make_token


async def fail() -> None:
    raise ZeroDivisionError("what only the log may tell")


async def test_a_bug_is_a_problem_that_tells_nothing_and_is_written_down(
    redis_server: RedisServer,
) -> None:
    async with Client(redis_server.url) as client:
        tokens, log = Tokens(client), AuditLog(client)
        token = await make_token(tokens, "ann", TokenScope.WRITE)
        app = make_app(Master(Store(redis_server.url), tokens, log))
        app.add_api_route("/bug", fail, methods=["POST"], **answering(None, TokenScope.WRITE))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://master") as asker:
            answer = await asker.post("/bug", headers={"Authorization": f"Bearer {token}"})
        told = check_problem(answer, 500)
        assert "what only" not in told["detail"]
        [entry] = await log.entries(10)
        assert (entry.what, entry.status) == ("POST /bug", 500)
