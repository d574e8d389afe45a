"""The API does what its OpenAPI document says, whatever it is sent."""

import asyncio
import random
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from launchers.redis import RedisServer
from masters import Asker, MasterProcess, check_problem
from weft.frontier import open_frontier, parse_store
from weft.records import PackedRequest
from weft.urls import fingerprint

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
#: Requests to each endpoint: those that fit the document, and those that do not.
EXAMPLES = 12
#: Names of what is there, and what can be crawled.
NAMES = {"job": "boards", "name": "news", "kind": "nav"}
URL = "https://example.org/"
BOARD = {"name": "news", "entries": [URL], "sinks": ["a.jsonl"]}


def with_known(case: Any) -> Any:
    """A request for what is there."""
    case.path_parameters = {name: NAMES[name] for name in case.path_parameters}
    if "url" in case.query:
        case.query["url"] = URL
    if case.operation.label == "POST /api/v1/jobs":
        case.body["targets"] = [URL]
    if case.operation.label.startswith("PUT") and isinstance(case.body, dict):
        case.body = {"depth": case.body.get("depth", 1)} | BOARD
    return case


async def add_page(url: str) -> None:
    async with open_frontier(parse_store(url), NAMES["job"]) as frontier:
        await frontier.begin(is_fresh=False, is_rerun=False)
        await frontier.add([PackedRequest(fingerprint(URL), URL, "example.org")])


@pytest.mark.filterwarnings("ignore")  # of what schemathesis is made of
def test_nothing_that_is_sent_breaks_a_master_or_its_document(
    ask: Asker,
    running_master: MasterProcess,
    tokens: dict[str, str],
    redis_server: RedisServer,
    rng: random.Random,
) -> None:
    assert ask("PUT", "/jobs/boards/boards/news", json=BOARD).status_code == 201
    asyncio.run(add_page(redis_server.url))
    schema = schemathesis.openapi.from_dict(ask.get("/openapi.json"))
    found = list(schema.get_all_operations())
    operations = [each.ok() for each in found if isinstance(each, Ok)]
    assert len(operations) == len(found), found
    assert len(operations) > 20
    headers = {"Authorization": f"Bearer {tokens['admin']}"}

    def send(case: Any) -> None:
        case.call_and_validate(
            base_url=running_master.address, headers=headers, timeout=30, checks=CHECKS
        )

    for operation in operations:
        fitting = operation.as_strategy(GenerationMode.POSITIVE)
        cases = [fitting, fitting.map(with_known)]
        if operation.body or list(operation.iter_parameters()):
            cases.append(operation.as_strategy(GenerationMode.NEGATIVE))
        run = settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(given(case=st.one_of(cases))(send))
        seed(rng.random())(run)()
    assert ask.get("/jobs")


def test_what_is_no_endpoint_is_a_problem_too(ask: Asker) -> None:
    assert "GET /api/v1/nothing" in check_problem(ask("GET", "/nothing"), 404)["detail"]
    answer = ask("PATCH", "/jobs")
    check_problem(answer, 405)
    assert answer.headers["allow"] == "GET"
    for body in (b"", b"{", b"\xff", b"[" * 50_000, b'{"targets": [], "foo": 1}'):
        assert check_problem(ask("POST", "/jobs", content=body), 422)["mistakes"]
    check_problem(ask("POST", "/jobs", content=b" " * 250_001), 413)
