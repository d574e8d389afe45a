"""Crawls a labelled site with a board, as a user does: `weft crawl FILE`."""

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bench.boards.site import LabelledSite


class Result(NamedTuple):
    #: Paths of what was stored as articles.
    stored: set[str]
    #: Requests that the site was sent.
    fetched: int
    cpu_s: float


def crawl_site(site: LabelledSite, directory: Path) -> Result:
    with _served(site) as (base, requests):
        board = directory / "board.yaml"
        board.write_text(f"name: {site.name}\nentries: ['{base}/']\nlimits: {{delay: 0}}\n")
        before_s = children_s()
        subprocess.run(
            [sys.executable, "-m", "weft", "crawl", "board.yaml", "-o", "items.jsonl"],
            cwd=directory,
            check=True,
            env=os.environ | {"COLUMNS": "120"},
        )
        cpu_s = children_s() - before_s
    items = directory / "items.jsonl"
    lines = items.read_text("utf-8").splitlines() if items.exists() else []
    stored = {unquote(urlsplit(json.loads(line)["url"]).path) for line in lines}
    return Result(stored, len(requests), cpu_s)


@contextmanager
def _served(site: LabelledSite) -> Iterator[tuple[str, list[str]]]:
    """The address of the site, and the paths that are asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            page = site.served(self.path, base)
            body = page.body if page else b""
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", page.content_type if page else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield base, asked
    finally:
        server.shutdown()
        server.server_close()


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
