"""Makes records of what a parser reports of an XML file.

A record is an item of a feed or a page of a sitemap, with the few of its elements that are wanted:
its parts. All that is not in a record, such as the title of a feed, is in the head. Nothing else is
kept, and so a file costs little more memory than its text.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from weft.boards.feeds.addresses import absolute

#: Longer texts of parts are cut, and so are URLs, which are none then.
MAX_TEXT = 4_001
#: More parts of a record are ignored.
MAX_PARTS = 100
#: A longer path leads to nothing that is wanted.
MAX_PATH = 64
#: So many different names are remembered.
MAX_NAMES = 1_000

XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
#: The element around a file, in which the prefixes are declared that a file may have forgotten.
OUTER = "weft-file"
#: Namespaces, with the prefixes that stand for them here. The elements of a file's own namespace
#: have none.
_ATOM = "http://www.w3.org/2005/Atom"
PREFIXES = {
    "": "",
    "http://purl.org/rss/1.0/": "",
    "http://my.netscape.com/rdf/simple/0.9/": "",
    "http://channel.netscape.com/rdf/simple/0.9/": "",
    "http://backend.userland.com/rss2": "",
    _ATOM: "atom",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/rss/1.0/modules/syndication/": "sy",
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "http://www.pheedo.com/namespace/pheedo": "pheedo",
    "http://www.google.com/schemas/sitemap-news/0.9": "news",
}
_OTHER = "other"


class RecordLayout(NamedTuple):
    """Which elements of a file matter."""

    records: frozenset[str]
    #: The paths of parts below their record: "title", "news:news/news:title".
    parts: frozenset[str]


class XmlPart(NamedTuple):
    path: str
    text: str
    attributes: Mapping[str, str]
    #: What its URLs are relative to.
    base: str


class XmlRecord(NamedTuple):
    name: str
    attributes: Mapping[str, str]
    base: str
    parts: list[XmlPart]

    def all(self, *paths: str) -> Iterator[XmlPart]:
        """The parts with one of these paths; those of the first path come first."""
        return (part for path in paths for part in self.parts if part.path == path)

    def text(self, *paths: str) -> str:
        """The first text that is not empty."""
        return next((text for part in self.all(*paths) if (text := part.text.strip())), "")


class RecordTarget:
    """Is told of elements and text by a parser. Elements must be closed in the order of nesting."""

    def __init__(self, layout: RecordLayout, url: str) -> None:
        self.head = XmlRecord("", {}, url, [])
        self._layout = layout
        self._finished: list[XmlRecord] = []
        #: Of the open elements, below the record that they are in.
        self._paths: list[str] = []
        #: xml:base, with the depth of the element that has it.
        self._bases = [(0, url)]
        self._names: dict[str, str] = {}
        self._own_space: str | None = None
        self._record = self.head
        self._record_depth = 0
        self._part: XmlPart | None = None
        self._part_depth = 0
        self._texts: list[str] = []
        self._size = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == OUTER:
            self._paths.append("")
            return
        is_root = self._own_space is None
        if self._own_space is None:
            self._own_space = tag[1:].partition("}")[0] if tag.startswith("{") else ""
        name = self._name(tag)
        if attributes and XML_BASE in attributes:
            base = absolute(self._bases[-1][1], attributes[XML_BASE])
            self._bases.append((len(self._paths) + 1, base or self._bases[-1][1]))
        path = self._begin(name, attributes, is_root)
        self._paths.append(path)

    def end(self, tag: str) -> None:
        depth = len(self._paths)
        if depth == self._part_depth:
            self._end_part()
        if depth == self._record_depth:
            self._end_record()
        if self._bases[-1][0] == depth:
            self._bases.pop()
        self._paths.pop()

    def data(self, text: str) -> None:
        if self._part and self._size < MAX_TEXT:
            self._texts.append(text)
            self._size += len(text)

    def close(self) -> None:
        """The file ends: what is open may be cut."""
        self._part_depth, self._part = 0, None
        self._end_record()

    def taken(self) -> list[XmlRecord]:
        """The records that were finished since the last time."""
        finished, self._finished = self._finished, []
        return finished

    def _begin(self, name: str, attributes: Mapping[str, str], is_root: bool) -> str:
        """The path of an element that begins."""
        if name in self._layout.records:
            # One that is still open was not closed.
            self._part_depth, self._part = 0, None
            self._end_record()
            self._record = XmlRecord(name, _plain(attributes), self._bases[-1][1], [])
            self._record_depth = len(self._paths) + 1
            return ""
        if is_root or (name == "channel" and not self._record_depth):
            return ""
        above = self._paths[-1] if self._paths else ""
        path = f"{above}/{name}" if above and len(above) < MAX_PATH else above or name
        if not self._part and path in self._layout.parts:
            self._part = XmlPart(path, "", _plain(attributes), self._bases[-1][1])
            self._part_depth = len(self._paths) + 1
            self._texts, self._size = [], 0
        return path

    def _end_part(self) -> None:
        if self._part and len(self._record.parts) < MAX_PARTS:
            text = "".join(self._texts)[:MAX_TEXT]
            self._record.parts.append(self._part._replace(text=text))
        self._part_depth, self._part = 0, None

    def _end_record(self) -> None:
        if self._record_depth:
            self._finished.append(self._record)
        self._record, self._record_depth = self.head, 0

    def _name(self, tag: str) -> str:
        """The name with our prefix, in lower case."""
        name = self._names.get(tag)
        if name is None:
            space, _, local = tag.removeprefix("{").rpartition("}")
            prefix = "" if space == self._own_space else PREFIXES.get(space, _OTHER)
            name = (f"{prefix}:{local}" if prefix else local).lower()
            if len(self._names) < MAX_NAMES:
                self._names[tag] = name
        return name


def _plain(attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes without their namespaces."""
    return {
        key.rpartition("}")[2].rpartition(":")[2].lower(): value[:MAX_TEXT]
        for key, value in list(attributes.items())[:MAX_PARTS]
    }
