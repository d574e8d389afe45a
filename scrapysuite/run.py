"""Runs Scrapy's tests in a process of their own, with Weft or without."""

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from scrapysuite.verdicts import Verdicts, is_complete, read_verdicts
from weft.errors import WeftError

#: For one test. Commands that tests start have 15 seconds.
TIMEOUT_S = 60

_HERE = Path(__file__).parent
_SESSION = _HERE / "session.py"
_HOOK = _HERE / "hook"
# As in the hook, which imports nothing of this package.
_STORE = "WEFT_SUITE_STORE"

#: What takes too long ends the process: what hangs in an event loop that it shares with pytest can
#: be stopped in no other way. Tests that ask websites of others are left out.
_OPTIONS = (
    *("-q", "--no-header", "--no-summary", "-p", "no:cacheprovider"),
    "--continue-on-collection-errors",
    *("-m", "not requires_internet"),
    *(f"--timeout={TIMEOUT_S}", "--timeout-method=thread"),
)


def run_on_weft(tree: Path, path: Path, store: str, arguments: Sequence[str]) -> Verdicts:
    """`arguments` are pytest's. `store`: a directory for the stores of all crawlers, or the address
    of a Redis. `path` is a new file, here and below."""
    return _run(tree, path, ["", *arguments], {_STORE: store}, [_HOOK])


def run_plain(tree: Path, path: Path, tests: Collection[str]) -> Verdicts:
    """Run these tests without Weft."""
    if not tests:
        return {}
    chosen = path.with_suffix(".txt")
    chosen.write_text("\n".join(tests))
    files = sorted({test.partition("::")[0] for test in tests})
    return _run(tree, path, [str(chosen), *files], {}, [])


def _run(
    tree: Path,
    path: Path,
    arguments: Sequence[str],
    variables: dict[str, str],
    imported: Sequence[Path],
) -> Verdicts:
    """Start a process again and again until all tests have run; each runs once."""
    # Some scripts that tests start import other tests.
    paths = {"PYTHONPATH": os.pathsep.join(map(str, [*imported, tree]))}
    command = [sys.executable, "-P", str(_SESSION), str(path), *arguments, *_OPTIONS]
    while not is_complete(path):
        before = len(read_verdicts(path))
        _run_once(command, tree, _environment() | variables | paths)
        if not is_complete(path) and len(read_verdicts(path)) == before:
            raise WeftError("pytest ended without running a test; its output says why")
    return read_verdicts(path)


def _run_once(command: Sequence[str], tree: Path, environment: dict[str, str]) -> None:
    process = subprocess.Popen(command, cwd=tree, env=environment, start_new_session=True)
    try:
        process.wait()
    finally:
        # The servers of tests too: where the process died, nobody else ends them.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment() -> dict[str, str]:
    """Without what would change Python, pytest, Scrapy or Weft."""
    prefixes = ("PYTHON", "PYTEST_", "SCRAPY_", "WEFT_")
    return {name: text for name, text in os.environ.items() if not name.startswith(prefixes)}
