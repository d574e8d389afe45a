"""The line that tells how a crawl gets on: live on a terminal, now and then elsewhere."""

import os
import pty
import re
import select
import time
from pathlib import Path

import pytest

from running import WEFT
from weft.cli.progress import PLAIN_S, PlainDisplay, describe
from weft.records import Stats
from weft.reports import Progress
from weft.testing import Site, SiteServer

_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def run_on_terminal(directory: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and all that a terminal would show."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(directory)
        os.environ |= {"TERM": "xterm", "COLUMNS": "120"}
        os.execv(WEFT, [WEFT, *arguments])
    output = b""
    deadline_s = time.monotonic() + 60
    while time.monotonic() < deadline_s:
        if select.select([terminal], [], [], 1)[0]:
            try:
                output += os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), _ESCAPES.sub(b"", output).decode()


# The child only executes another program, which is what the warning is about.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_terminal_shows_a_line_that_changes(tmp_path: Path) -> None:
    with SiteServer(Site(pages=400, latency_s=0.02)) as server:
        code, shown = run_on_terminal(tmp_path, "crawl", server.url)
    assert code == 0
    counts = re.findall(r"(\d+) pages · [\d.]+/s · queue [\d,]+ · errors 0 · hosts 1", shown)
    assert len({int(count) for count in counts}) >= 3
    assert "400 pages and 400 items" in shown


def progress(elapsed_s: float, pages: int, **fields: bool) -> Progress:
    stats = Stats(queued_data=1234, claimed=3, hosts=2)
    fields.setdefault("is_stopping", False)
    return Progress(elapsed_s=elapsed_s, pages=pages, items=0, errors=5, stats=stats, **fields)


def test_a_line_tells_pages_rate_queue_errors_and_hosts() -> None:
    told = describe(progress(10, 1500), 42.04)
    assert told == "1,500 pages · 42.0/s · queue 1,234 · errors 5 · hosts 2"


def test_a_line_tells_that_the_crawl_is_stopping() -> None:
    told = describe(progress(10, 1, is_stopping=True), 0)
    assert told.endswith("stopping, 3 requests in progress (Ctrl-C again: stop at once)")


def test_elsewhere_there_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainDisplay() as display:
        for second in range(int(3 * PLAIN_S)):
            display(progress(float(second), second * 10))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" · ")[:2] for line in lines] == [
        ["100 pages", "10.0/s"],
        ["200 pages", "10.0/s"],
    ]
