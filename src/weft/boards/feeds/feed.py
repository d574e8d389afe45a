"""Reads feeds of all kinds."""

from weft.boards.feeds.found import Feed
from weft.boards.feeds.jsonfeed import read_json_feed
from weft.boards.feeds.kinds import find_root, is_feed_root
from weft.boards.feeds.text import FEED_LIMITS, file_text
from weft.boards.feeds.xmlfeed import read_xml_feed
from weft.errors import PageError


def read_feed(body: bytes, url: str) -> Feed:
    """The entries of a feed: RSS, Atom, JSON Feed; broken ones as far as they can be read.

    Raises PageError for what is no feed, is too large or cannot be read.
    """
    text = file_text(body, FEED_LIMITS)
    if text.lstrip("\ufeff\0 \t\r\n").startswith("{"):
        return read_json_feed(text, url)
    root = find_root(text)
    # Whoever asks takes it for a feed: so does a root that only Atom's is like.
    if root is None or not is_feed_root(root, text, kind="atom"):
        raise PageError("not read: neither RSS, Atom nor JSON Feed")
    return read_xml_feed(text, root.start, url)
