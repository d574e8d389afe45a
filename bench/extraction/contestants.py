"""The libraries that are compared, each as a function of one page.

Runs in a virtual environment that need not have Weft: `python contestants.py NAME PAGES` writes a
line of JSON for each page that comes in, as the scorer reads it.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

#: A page: its bytes, its URL, the encoding of its header. What was read from it, as the scorer
#: names it.
Reader = Callable[[bytes, str, str | None], dict[str, Any]]


def weft_reader(*, is_fast: bool = False) -> Reader:
    from weft.boards.reading.reading import ReadOptions, read

    options = ReadOptions(is_article=True, is_fast=is_fast, seconds=60)

    def read_with_weft(page: bytes, url: str, encoding: str | None) -> dict[str, Any]:
        reading = read(page, url, encoding, options=options)
        article = reading.article
        assert article is not None
        return {
            "kind": reading.kind,
            "title": article.title,
            "author": list(article.authors),
            "date": article.published,
            "body": article.body,
            "links": [link.url for link in reading.links],
            "next": list(reading.next),
        }

    return read_with_weft


def trafilatura_reader(**how: Any) -> Reader:
    import trafilatura

    def read_with_trafilatura(page: bytes, url: str, encoding: str | None) -> dict[str, Any]:
        html = page.decode(encoding, "replace") if encoding else page
        found: Any = trafilatura.bare_extraction(
            html, url=url or None, include_comments=False, with_metadata=True, **how
        )
        if found is None:
            return {}
        return {
            "title": found.title,
            "author": found.author,
            "date": found.date,
            "body": found.text,
        }

    return read_with_trafilatura


def resiliparse_reader() -> Reader:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding
    from resiliparse.parse.html import HTMLTree

    def read_with_resiliparse(page: bytes, url: str, encoding: str | None) -> dict[str, Any]:
        tree = HTMLTree.parse(bytes_to_str(page, encoding or detect_encoding(page) or "utf-8"))
        return {"title": tree.title, "body": extract_plain_text(tree, main_content=True)}

    return read_with_resiliparse


def newspaper_reader() -> Reader:
    import newspaper

    def read_with_newspaper(page: bytes, url: str, encoding: str | None) -> dict[str, Any]:
        html = page.decode(encoding or "utf-8", "replace")
        article = newspaper.Article(url or "http://example.org/", fetch_images=False)
        article.download(input_html=html)
        article.parse()
        date = article.publish_date
        return {
            "title": article.title,
            "author": list(article.authors),
            "date": date.isoformat() if date else "",
            "body": article.text,
        }

    return read_with_newspaper


def gne_reader() -> Reader:
    from gne import GeneralNewsExtractor

    def read_with_gne(page: bytes, url: str, encoding: str | None) -> dict[str, Any]:
        html = page.decode(encoding or "utf-8", "replace")
        found = GeneralNewsExtractor().extract(html, host=url)
        return {
            "title": found["title"],
            "author": found["author"],
            "date": found["publish_time"],
            "body": found["content"],
        }

    return read_with_gne


#: Makers of readers, by the name in the table.
READERS: dict[str, Callable[[], Reader]] = {
    "weft": weft_reader,
    "weft --fast": lambda: weft_reader(is_fast=True),
    "trafilatura": trafilatura_reader,
    "trafilatura precision": lambda: trafilatura_reader(favor_precision=True),
    "trafilatura fast": lambda: trafilatura_reader(fast=True),
    "resiliparse": resiliparse_reader,
    "newspaper4k": newspaper_reader,
    "GNE": gne_reader,
}


def main() -> None:
    name, folder = sys.argv[1:]
    sys.path.insert(0, folder)
    reader = READERS[name]()
    pages = list(import_module("score").pages(Path(folder)))
    for page in pages[:3]:  # what a library loads with its first page costs the first page nothing
        _predict(reader, page)
    for page in pages:
        print(json.dumps(_predict(reader, page)), flush=True)


def _predict(reader: Reader, page: Any) -> dict[str, Any]:
    html = page.read()
    started_s = process_time()
    try:
        found = reader(html, page.url or "", page.encoding)
    except Exception as problem:  # whatever a library raises: it has read nothing
        found = {"problem": repr(problem)}
    return {"set": page.set, "id": page.id, "ms": 1000 * (process_time() - started_s), **found}


if __name__ == "__main__":
    main()
