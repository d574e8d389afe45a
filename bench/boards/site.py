"""A labelled site, as it is served on loopback."""

import gzip
import json
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from weft.boards.reading.page import open_page


class LabelledPage(NamedTuple):
    body: bytes
    content_type: str
    kind: str


class LabelledSite(NamedTuple):
    name: str
    #: Its own address, which its absolute links carry.
    base: str
    #: By path.
    pages: dict[str, LabelledPage]

    @property
    def articles(self) -> set[str]:
        return {path for path, page in self.pages.items() if page.kind == "data"}

    def served(self, path: str, base: str) -> LabelledPage | None:
        """A page as it is at another address."""
        path = unquote(urlsplit(path).path)
        page = self.pages.get(path) or self.pages.get(f"{path}index.html")
        if page is None:
            return None
        host = self.base.partition("://")[2]
        body = page.body
        for scheme in (b"https://", b"http://", b"//"):
            body = body.replace(scheme + host.encode(), base.encode())
        return page._replace(body=body)

    def linked(self) -> set[str]:
        """The paths to which its pages link: no crawl finds others."""
        found = set()
        for path, page in self.pages.items():
            for link in open_page(page.body, self.base + path).links:
                if link.url.startswith(self.base):
                    found.add(unquote(urlsplit(link.url).path))
        return found


def read_site(folder: Path) -> LabelledSite | None:
    """None if the pages of a folder are not those of one site."""
    rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    bases = {_base_of(row["url"]) for row in rows if "url" in row}
    if len(bases) != 1 or not all("url" in row and "file" in row for row in rows):
        return None
    pages = {
        unquote(urlsplit(row["url"]).path): LabelledPage(
            gzip.decompress((folder / row["file"]).read_bytes()),
            f"text/html; charset={row['enc']}" if row.get("enc") else "text/html",
            row.get("kind", ""),
        )
        for row in rows
    }
    return LabelledSite(folder.name, bases.pop(), pages)


def _base_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
