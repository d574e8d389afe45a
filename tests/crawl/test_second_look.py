"""A short article that came first is looked at again when it is known what pages like it are."""

from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from newsrooms import read_lines, write_board
from running import Weft

BRIEF = "/notes/brief"
#: Articles that come after it.
WORDS = [f"{first}{second}" for first in ("har", "mar", "tow", "win") for second in "bcdefghijk"]


def page(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head><body>{body}</body></html>"


def article(word: str, sentences: int) -> str:
    text = " ".join(
        f"On day {n} the {word} master said that boats may leave." for n in range(sentences)
    )
    return page(word, f"<nav><a href='/'>Home</a></nav><h1>{word} notice</h1><p>{text}</p>")


def list_page() -> str:
    paths = [BRIEF, *(f"/notes/{word}" for word in WORDS)]
    links = [
        f"<li><a href='{path}'>What the {path[7:]} master says about boats</a>" for path in paths
    ]
    return page("Notes", f"<h1>Notes</h1><ul>{''.join(links)}</ul>")


PAGES = {"/": list_page(), BRIEF: article("brief", 1)}
PAGES |= {f"/notes/{word}": article(word, 20) for word in WORDS}


class Notes(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Notes

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        body = PAGES.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def notes() -> Iterator[Notes]:
    with Notes() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_short_article_is_found_when_others_like_it_are_known(weft: Weft, notes: Notes) -> None:
    board = {"limits": {"concurrency": 1}, "sitemaps": False}
    write_board(weft.directory / "notes.yaml", [f"{notes.url}/"], **board)
    done = weft("crawl", "notes.yaml", "-o", "items.jsonl")
    assert done.returncode == 0, done.stderr
    items = [item["url"] for item in read_lines(weft.directory / "items.jsonl")]
    assert sorted(items) == sorted(f"{notes.url}{path}" for path in PAGES if path != "/")
    assert {path for path, times in notes.asked.items() if times > 1} == {BRIEF}
