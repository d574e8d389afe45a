"""An XML file as a stream of records: strictly as long as it is well-formed, and else loosely."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml.etree import ErrorLevels, XMLParser, XMLSyntaxError  # type: ignore[import-untyped]

from weft.boards.feeds.loose import read_loosely
from weft.boards.feeds.records import OUTER, PREFIXES, RecordLayout, RecordTarget, XmlRecord
from weft.errors import PageError

CHUNK = 65_536

#: Prefixes that files use without declaring them. Those that mean nothing here are there so that
#: their elements are not taken for others.
_IGNORED = (
    "content", "creativecommons", "georss", "googleplay", "image", "itunes", "media", "mobile",
    "podcast", "slash", "thr", "video", "wfw", "xhtml",
)  # fmt: skip
_DECLARED = {prefix: space for space, prefix in PREFIXES.items() if prefix} | {
    prefix: f"ignored:{prefix}" for prefix in _IGNORED
}
_OPENING = f"<{OUTER}" + "".join(f' xmlns:{name}="{uri}"' for name, uri in _DECLARED.items()) + ">"


class XmlFile:
    """Can be iterated once; the parts of the head are there as far as the records were read."""

    def __init__(self, text: str, start: int, layout: RecordLayout, url: str) -> None:
        """`start`: where the root is. What precedes it is not read."""
        self._text = text
        self._start = start
        self._layout = layout
        self._url = url
        self._target = RecordTarget(layout, url)
        self._is_broken = False

    @property
    def head(self) -> XmlRecord:
        return self._target.head

    def __iter__(self) -> Iterator[XmlRecord]:
        """The records in their order. Raises PageError if nothing is found in a broken file."""
        known = 0
        try:
            for record in self._strictly():
                known += 1
                yield record
        except _BrokenXmlError:
            for record in islice(self._loosely(), known, None):
                known += 1
                yield record
        if self._is_broken and not known and not self.head.parts:
            raise PageError("not read: its XML is broken")

    def _strictly(self) -> Iterator[XmlRecord]:
        # A target builds no tree, and there is no DTD: there is nothing to resolve or to load.
        parser = XMLParser(
            target=self._target, encoding="utf-8", resolve_entities=False, no_network=True
        )
        _feed(parser, _OPENING)
        for start in range(self._start, len(self._text), CHUNK):
            _feed(parser, self._text[start : start + CHUNK])
            yield from self._target.taken()
        self._end(parser)
        yield from self._target.taken()

    def _end(self, parser: Any) -> None:
        try:
            parser.feed(f"</{OUTER}>".encode())
            _refuse_errors(parser)
            parser.close()
        except XMLSyntaxError as error:
            if OUTER not in str(error):
                raise _BrokenXmlError from error
            # The file is cut, and all that there is of it was read.
            self._is_broken = True
            self._target.close()

    def _loosely(self) -> Iterator[XmlRecord]:
        self._is_broken = True
        self._target = RecordTarget(self._layout, self._url)
        for _ in read_loosely(self._text, self._start, self._layout, self._target):
            yield from self._target.taken()


class _BrokenXmlError(Exception):
    """It is not well-formed, or has prefixes that are not declared."""


def _feed(parser: Any, text: str) -> None:
    try:
        parser.feed(text.encode("utf-8", "replace"))
    except XMLSyntaxError as error:
        raise _BrokenXmlError from error
    _refuse_errors(parser)


def _refuse_errors(parser: Any) -> None:
    """lxml does not raise for prefixes that are not declared, but forgets them."""
    if any(entry.level >= ErrorLevels.ERROR for entry in parser.feed_error_log):
        raise _BrokenXmlError
