"""docs/api.md tells the truth: its commands work, and its table has every endpoint."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from launchers.redis import RedisServer
from masters import PREFIX, Asker, MasterProcess
from running import WEFT

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "api.md").read_text()
STORE = "redis://crawl.example:6379/0"
ADDRESS = "http://127.0.0.1:8900"


def test_the_table_has_every_endpoint_with_its_scope(ask: Asker) -> None:
    told = set(re.findall(r"^\| `(\w+) (\S+)` \| (\w+) \|", TEXT, re.MULTILINE))
    document = ask.get("/openapi.json")
    found = {
        (method.upper(), path.removeprefix(PREFIX), operation["security"][0]["token"][0])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert told == found


def test_the_fields_of_a_job_are_told(ask: Asker) -> None:
    [text] = re.findall(
        r"Its fields are the options of `weft job start`: (.*?)\. ", TEXT, re.DOTALL
    )
    fields = ask.get("/openapi.json")["components"]["schemas"]["JobStart"]["properties"]
    assert re.findall(r"`(\w+)`", text) == list(fields)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is missing")
def test_its_commands_work(
    running_master: MasterProcess, redis_server: RedisServer, tmp_path: Path
) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    script = "\n".join(("set -e", 'curl() { command curl -sS --fail-with-body "$@"; }', *blocks))
    script = script.replace(STORE, redis_server.url).replace(ADDRESS, running_master.address)
    path = f"{Path(WEFT).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"status":"changed","version":2' in done.stdout


@pytest.mark.parametrize("name", ["api.md", "security.md"])
def test_its_links_lead_somewhere(name: str) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", (DOCS / name).read_text()):
        assert (DOCS / link).exists(), link
