"""Finds the body of an article: its text, as text and as Markdown.

Trafilatura is the base. It thinks in lengths of English texts, so it is told others for Chinese; of
threads it sees only the posts. What it cannot do, in time or at all, resiliparse does at a tenth of
the cost, with more of the frame of the page in the result.
"""

import re
from collections.abc import Callable, Sequence

import msgspec

from weft.boards.reading.article.datetext import find_dates_in
from weft.boards.reading.article.markdown import Line, as_markdown, as_text
from weft.boards.reading.article.ornaments import Image, find_images, ornament
from weft.boards.reading.article.plain import read_plain
from weft.boards.reading.article.prose import read_posts, read_prose
from weft.boards.reading.article.texts import key
from weft.boards.reading.article.threads import find_posts, without_quotations
from weft.boards.reading.deadline import within
from weft.boards.reading.page import Page
from weft.clock import monotonic_s

#: Pages with more outside of scripts take trafilatura too long.
MAX_CHARACTERS = 2_000_000
#: How much of the time is kept for the fallback.
RESERVE = 0.3
DEFAULT_SECONDS = 2.0
#: Where the title is a larger share of the text, it belongs to it: posts of one sentence.
TITLE_SHARE = 0.2


#: A line that is nothing but a day, perhaps with a time.
LONGEST_DAY = 40

_LETTER = re.compile(r"[^\W\d_]")


class Body(msgspec.Struct, frozen=True):
    #: Paragraphs separated by newlines.
    text: str = ""
    #: With headings, lists, links, images, tables, code and quotes; URLs are absolute.
    markdown: str = ""
    #: Absolute URLs of the images within the body, in their order.
    images: tuple[str, ...] = ()
    #: What found it: "trafilatura", "posts", "resiliparse"; empty if nothing was found.
    method: str = ""


def read_body(
    page: Page, title: str = "", *, fast: bool = False, seconds: float = DEFAULT_SECONDS
) -> Body:
    """The body of the article of a page; an empty one if there is none.

    `title` is left out of the body. `fast`: take resiliparse only. Neither a page
    nor the time that it takes raises anything.
    """
    started_s = monotonic_s()
    if not fast and not _is_large(page):
        body = _in_time((1 - RESERVE) * seconds, lambda: _careful(page, title))
        if body.text:
            return body
    left = seconds - (monotonic_s() - started_s)
    return _in_time(left, lambda: _body(page, title, read_plain(page), "resiliparse"))


def _in_time(seconds: float, find: Callable[[], Body]) -> Body:
    """What `find` finds; nothing if it fails or takes longer."""
    try:
        return within(seconds, find)
    except Exception:  # Libraries raise anything for pages that nobody has tried before.
        return Body()


def _is_large(page: Page) -> bool:
    size = len(page.text)
    if size > MAX_CHARACTERS:
        size -= sum(len(node.text(deep=True)) for node in page.tree.css("script, style"))
    return size > MAX_CHARACTERS


def _careful(page: Page, title: str) -> Body:
    posts = find_posts(page)
    lines = read_posts(without_quotations(posts)) if posts else []
    if lines:
        return _body(page, title, lines, "posts")
    return _body(page, title, read_prose(page), "trafilatura")


def _body(page: Page, title: str, lines: list[Line], method: str) -> Body:
    lines = _without_day(_without_title(lines, title))
    if not lines:
        return Body()
    images = find_images(page, lines)
    return Body(
        text=as_text(lines),
        markdown=_markdown(page, lines, images),
        images=tuple(image.url for image in images),
        method=method,
    )


def _without_title(lines: list[Line], title: str) -> list[Line]:
    """The title has a field of its own; also links to the page itself repeat it."""
    wanted = key(title)
    rest = [line for line in lines if key(line.text) != wanted]
    size = sum(len(line.text) for line in lines)
    return rest if len(title) <= TITLE_SHARE * size else lines


def _without_day(lines: list[Line]) -> list[Line]:
    """A day that stands alone above the text says when that was published."""
    return lines[1:] if lines and _is_day(lines[0].text) else lines


def _is_day(text: str) -> bool:
    if len(text) > LONGEST_DAY:
        return False
    found = next(find_dates_in(text), None)
    return found is not None and not _LETTER.search(text[: found.start] + text[found.end :])


def _markdown(page: Page, lines: Sequence[Line], images: Sequence[Image]) -> str:
    texts = ornament(page, lines)
    parts, at = [], 0
    for image in images:
        parts += [as_markdown(lines[at : image.line], texts[at : image.line]), image.markdown]
        at = image.line
    parts.append(as_markdown(lines[at:], texts[at:]))
    return "\n\n".join(part for part in parts if part)
