"""`python -m bench.extraction --pages DIR`: Weft beside libraries that read pages."""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rich.console import Console
from rich.progress import track

from bench.extraction import contestants
from bench.extraction.report import table_of

#: What is installed beside Weft: all others have a virtual environment of their own.
WITH_WEFT = ("weft", "weft --fast", "trafilatura", "trafilatura precision", "trafilatura fast",
             "resiliparse")  # fmt: skip


def main(words: Sequence[str] | None = None) -> None:
    args = _arguments(words)
    score = _scorer(args.pages)
    pages = list(score.pages(args.pages))
    console = Console(width=200 if not sys.stdout.isatty() else None)
    said: dict[str, dict[tuple[str, str], Any]] = {}
    for name in args.only or contestants.READERS:
        python = sys.executable if name in WITH_WEFT else args.peers
        rows = _run(name, python, args.pages, len(pages))
        if rows:
            said[name] = {(row["set"], row["id"]): row for row in rows}
        if args.predictions and rows:
            _keep(args.predictions, name, rows)
    console.print(table_of(score, pages, said))


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-extract ARGS=…", description=__doc__)
    parser.add_argument(
        "--pages",
        type=Path,
        required=True,
        metavar="DIR",
        help="the labelled pages: a folder for each set, and score.py",
    )
    parser.add_argument(
        "--peers",
        default=".venv-extract/bin/python",
        metavar="PYTHON",
        help="a Python that has newspaper4k and GNE (default: the one of make bench-extract)",
    )
    parser.add_argument(
        "--only", nargs="+", choices=contestants.READERS, help="only some of the contestants"
    )
    parser.add_argument(
        "--predictions", type=Path, metavar="DIR", help="keep what each has read, for score.py"
    )
    return parser.parse_args(words)


def _scorer(folder: Path) -> Any:
    if not (folder / "score.py").exists():
        raise SystemExit(f"there is no score.py in {folder}: name the folder of labelled pages")
    sys.path.insert(0, str(folder))
    return import_module("score")


def _run(name: str, python: str, folder: Path, pages: int) -> list[dict[str, Any]]:
    """What one contestant reads, in a process of its own; nothing if it is not installed."""
    command = [python, "-m", "bench.extraction.contestants", name, str(folder.resolve())]
    if name not in WITH_WEFT:
        command[1:3] = [contestants.__file__]
    with TemporaryFile("w+") as complaints:
        try:
            running = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=complaints, text=True
            )
        except OSError as problem:
            print(f"{name} does not take part: {python}: {problem.strerror}", file=sys.stderr)
            return []
        with running:
            lines = track(running.stdout or (), name, total=pages, console=Console(stderr=True))
            rows = [json.loads(line) for line in lines]
        if running.returncode:
            complaints.seek(0)
            print(f"{name} does not take part:\n{complaints.read()}", file=sys.stderr)
            return []
    return rows


def _keep(folder: Path, name: str, rows: Sequence[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(json.dumps(row) for row in rows)
    (folder / f"{name.replace(' ', '-')}.jsonl").write_text(text + "\n")


if __name__ == "__main__":
    main()
