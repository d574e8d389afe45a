"""Who may do what: tokens and scopes on every endpoint that the OpenAPI document tells of."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from fastapi.routing import APIRoute

from launchers.redis import RedisServer
from masters import (
    PREFIX,
    Asker,
    MasterProcess,
    asking,
    check_problem,
    contents,
    master,
    new_token,
)
from running import Weft
from weft.cluster.audit import AuditLog
from weft.cluster.tokens import Tokens
from weft.control.app import make_app
from weft.control.documented import describe
from weft.control.master import Master
from weft.frontier import Store
from weft.redis.client import Client
from weft.testing.waiting import wait_until

SCOPES = ["read", "write", "admin"]


class Endpoint(NamedTuple):
    method: str
    path: str
    scope: str


def make_document() -> tuple[set[tuple[str, str]], list[Endpoint]]:
    """The routes of the application, and the endpoints that its document tells of."""
    client = Client("redis://nowhere")
    app = make_app(Master(Store("redis://nowhere"), Tokens(client), AuditLog(client)))
    routes = {
        (method, route.path)
        for route in app.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    told = [
        Endpoint(method.upper(), path, scope)
        for path, operations in describe(app)["paths"].items()
        for method, operation in operations.items()
        for security in operation["security"]
        for [scope] in security.values()
    ]
    return routes, told


ROUTES, ENDPOINTS = make_document()


def path_of(endpoint: Endpoint) -> str:
    """With something in place of its parameters."""
    path = endpoint.path.removeprefix(PREFIX).replace("{kind}", "all")
    return re.sub(r"\{\w+\}", "some", path)


@pytest.fixture
def nobody(running_master: MasterProcess) -> Iterator[Asker]:
    with asking(running_master.address) as asker:
        yield asker


def test_the_document_tells_of_every_endpoint_but_health() -> None:
    assert len(ENDPOINTS) > 20
    told = {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    assert {path for _, path in ROUTES - told} == {"/health"}
    assert {endpoint.scope for endpoint in ENDPOINTS} == set(SCOPES)


def test_what_changes_something_needs_more_than_the_scope_read() -> None:
    """Checking a board changes nothing."""
    changing = [each for each in ENDPOINTS if each.method != "GET"]
    read = [each.path for each in changing if each.scope == "read"]
    assert read == [f"{PREFIX}/board-check"]


def test_every_endpoint_wants_a_token_with_its_scope(
    running_master: MasterProcess, tokens: dict[str, str], redis_server: RedisServer
) -> None:
    before = contents(redis_server)
    with asking(running_master.address) as nobody:
        for endpoint in ENDPOINTS:
            answer = nobody(endpoint.method, path_of(endpoint))
            check_problem(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
    for scope in SCOPES:
        with asking(running_master.address, tokens[scope]) as asker:
            for endpoint in ENDPOINTS:
                if SCOPES.index(endpoint.scope) > SCOPES.index(scope):
                    told = check_problem(asker(endpoint.method, path_of(endpoint)), 403)
                    assert endpoint.scope in told["detail"]
    # Nothing was changed, and nobody who may change nothing can fill the audit log.
    assert contents(redis_server) == before


def test_every_endpoint_answers_who_has_its_scope(
    running_master: MasterProcess, tokens: dict[str, str]
) -> None:
    for endpoint in ENDPOINTS:
        with asking(running_master.address, tokens[endpoint.scope]) as asker:
            answer = asker(endpoint.method, path_of(endpoint))
            assert answer.status_code not in (401, 403, 429), (endpoint, answer.text)
            assert answer.status_code < 500, (endpoint, answer.text)


def test_without_a_token_only_health_is_there(running_master: MasterProcess, nobody: Asker) -> None:
    with asking(running_master.address.replace(PREFIX, "")) as asker:
        health = asker("GET", f"{running_master.address}/health")
    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    for path in ("/", "/docs", "/openapi.json", "/health/", "//health", "/health/../api/v1/jobs"):
        check_problem(nobody("GET", f"{running_master.address}{path}"), 401)
    check_problem(nobody("OPTIONS", "/jobs"), 401)
    for header in ("Basic YTpi", "Bearer", "bearer wrong", "Bearer \xff"):
        answer = nobody("GET", "/jobs", headers=[(b"Authorization", header.encode("latin-1"))])
        check_problem(answer, 401)


def test_pages_of_other_sites_may_not_ask(ask: Asker) -> None:
    headers = {"Origin": "https://example.org", "Access-Control-Request-Method": "GET"}
    for answer in (ask("OPTIONS", "/jobs", headers=headers), ask("GET", "/jobs", headers=headers)):
        assert not [name for name in answer.headers if name.startswith("access-control")]
    check_problem(ask("OPTIONS", "/jobs", headers=headers), 405)


def test_a_revoked_token_stops_within_two_seconds_on_all_masters(
    weft: Weft, redis_server: RedisServer, running_master: MasterProcess, tokens: dict[str, str]
) -> None:
    with (
        master(weft, redis_server.url) as other,
        asking(running_master.address, tokens["read"]) as first,
        asking(other.address, tokens["read"]) as second,
    ):
        assert [asker.status("GET", "/jobs") for asker in (first, second)] == [200, 200]
        assert weft("token", "revoke", "read", "--store", redis_server.url).returncode == 0
        revoked_at_s = time.monotonic()
        for asker in (first, second):
            wait_until(lambda at=asker: at.status("GET", "/jobs") == 401, description="it is out")  # type: ignore[misc]
        assert time.monotonic() - revoked_at_s < 2


def test_a_new_token_is_known_at_once(
    weft: Weft, redis_server: RedisServer, ask: Asker, running_master: MasterProcess
) -> None:
    ask.get("/jobs")
    text = new_token(weft, redis_server.url, "new", "read")
    with asking(running_master.address, text) as asker:
        assert asker.status("GET", "/jobs") == 200


def test_wrong_tokens_are_not_looked_at_for_ever_and_right_ones_are_not_locked_out(
    running_master: MasterProcess, ask: Asker
) -> None:
    with asking(running_master.address, "weft_wrong") as guesser, ThreadPoolExecutor(8) as pool:
        tried = list(pool.map(lambda _: guesser.status("GET", "/jobs"), range(40)))
        assert sorted(tried) == [401] * 10 + [429] * 30
        answer = guesser("GET", "/jobs")
    check_problem(answer, 429)
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert ask.status("GET", "/jobs") == 200


# weft token


def test_tokens_are_created_listed_and_revoked(weft: Weft, redis_server: RedisServer) -> None:
    store = ("--store", redis_server.url)
    assert "There is no token" in weft("token", "list", *store).stdout
    text = new_token(weft, redis_server.url, "dash", "read")
    assert re.fullmatch(r"weft_[\w-]{43}", text)
    [row] = json.loads(weft("token", "list", "--json", *store).stdout)
    assert (row["name"], row["scope"]) == ("dash", "read")
    listed = weft("token", "list", *store).stdout
    assert "dash" in listed
    again = weft("token", "create", "dash", "--scope", "admin", *store)
    assert (again.returncode, again.stdout) == (1, "")
    assert "there is a token dash already" in again.stderr
    assert json.loads(weft("token", "list", "--json", *store).stdout) == [row]
    assert weft("token", "revoke", "dash", *store).stdout == "dash is revoked.\n"
    missing = weft("token", "revoke", "dash", *store)
    assert (missing.returncode, "there is no token dash" in missing.stderr) == (1, True)
    bad = weft("token", "create", "a b", "--scope", "read", *store)
    assert (bad.returncode, "cannot be the name of a token" in bad.stderr) == (1, True)


def test_the_store_has_no_text_of_a_token(weft: Weft, redis_server: RedisServer) -> None:
    text = new_token(weft, redis_server.url, "dash", "read")
    stored = str(contents(redis_server))
    assert "dash" in stored
    assert text.removeprefix("weft_") not in stored
