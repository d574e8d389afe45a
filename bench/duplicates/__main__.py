"""`python -m bench.duplicates PAGES`: near-duplicates among labelled pages and changed copies.

PAGES has a folder for each set of labelled pages, and `score.py`, which reads them. It takes some
minutes. No text leaves the process.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import track

from bench.duplicates.pairs import PageText, all_pairs
from bench.duplicates.report import choice_table, distance_table, rule_table
from weft.boards.duplicates.words import words_of
from weft.boards.reading.reading import ReadOptions, read
from weft.errors import PageError

#: With fewer words a page has no text.
MIN_WORDS = 40
#: Groups of sites: thresholds are chosen on all but one and tried on that.
FOLDS = 5


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.duplicates", description=__doc__)
    parser.add_argument("pages", type=Path, help="the labelled pages")
    folder = parser.parse_args(words).pages
    console = Console(width=None if sys.stdout.isatty() else 120)
    texts = list(_texts(folder))
    pairs = list(all_pairs(texts))
    console.print(distance_table(pairs))
    console.print(rule_table(pairs))
    console.print(choice_table(pairs, FOLDS))


def _texts(folder: Path) -> Iterator[PageText]:
    if not (folder / "score.py").exists():
        raise SystemExit(f"there is no score.py in {folder}: name the folder of labelled pages")
    sys.path.insert(0, str(folder))
    options = ReadOptions(is_article=True, seconds=20)
    pages = list(import_module("score").pages(folder))
    for page in track(pages, "reading", console=Console(stderr=True)):
        try:
            reading = read(page.read(), page.url or "", page.encoding, options=options)
        except PageError:
            continue
        body = reading.article.body if reading.article else ""
        if len(words_of(body)) >= MIN_WORDS:
            site = page.set if page.is_of_site else urlsplit(page.url or "").netloc or page.set
            yield PageText(site, page.label.get("kind") or reading.kind, body)


if __name__ == "__main__":
    main()
