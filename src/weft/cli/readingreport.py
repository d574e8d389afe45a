"""Writes a reading for people."""

import re
import textwrap
from collections.abc import Iterable, Iterator

from weft.boards.reading.kind import Verdict
from weft.boards.reading.reading import Article, Reading

#: Lines of the body that are shown.
BODY_LINES = 12
#: Topic links that are shown.
SHOWN_LINKS = 20
WIDTH = 100
_INDENT = " " * 12
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def report_lines(source: str, reading: Reading) -> Iterator[str]:
    """Pages cannot write control characters to the terminal."""
    return (_CONTROL.sub(" ", line) for line in _lines(source, reading))


def _lines(source: str, reading: Reading) -> Iterator[str]:
    yield reading.url or source
    yield from _kind(reading)
    if reading.article:
        yield from _article(reading.article, reading.method)
    else:
        yield from _field("title", reading.title)
    for name, problem in reading.unmatched.items():
        yield from _field("no match", f"the rule for {name} found nothing {problem}".strip())
    yield from _links(reading)
    yield from _field("next page", reading.next[:1])
    yield from _field("feeds", reading.feeds)
    yield ""


def _kind(reading: Reading) -> Iterator[str]:
    judgement = reading.judgement
    yield from _verdict("an article", judgement.article)
    yield from _verdict("a list of topic links", judgement.topics)


def _verdict(what: str, verdict: Verdict) -> Iterator[str]:
    says = "is" if verdict.passes else "is not"
    yield f"  {says} {what} ({verdict.score:.2f})"
    for reason in verdict.reasons:
        yield f"      {reason}"


def _article(article: Article, method: str) -> Iterator[str]:
    yield from _field("title", article.title)
    yield from _field("authors", ", ".join(article.authors))
    yield from _field("published", article.published)
    yield from _field("modified", article.modified)
    yield from _field("language", article.language)
    yield from _field("site", article.site_name)
    yield from _field("description", article.description)
    yield from _field("tags", ", ".join(article.tags))
    yield from _field("images", article.images)
    yield from _field("canonical", article.canonical_url)
    for name, value in article.extra.items():
        yield from _field(name, str(value))
    yield from _body(article, method)


def _body(article: Article, method: str) -> Iterator[str]:
    if not article.body:
        yield from _field("body", "none found")
        return
    yield from _field("body", f"{len(article.body):,} characters, by {method}:")
    lines = list(_wrapped(article.body))
    yield from (f"{_INDENT}  {line}" for line in lines[:BODY_LINES])
    if len(lines) > BODY_LINES:
        yield f"{_INDENT}  … (--json has all of it, and Markdown)"


def _wrapped(text: str) -> Iterator[str]:
    for paragraph in text.splitlines():
        yield from textwrap.wrap(paragraph, WIDTH - len(_INDENT)) if paragraph.strip() else ()


def _links(reading: Reading) -> Iterator[str]:
    links = reading.links
    if not links:
        return
    yield f"  {len(links):,} topic links:"
    for link in links[:SHOWN_LINKS]:
        yield f"      {_short(link.text, 60):<60}  {link.url}"
    if len(links) > SHOWN_LINKS:
        yield f"      … and {len(links) - SHOWN_LINKS:,} more"


def _field(name: str, value: str | Iterable[str]) -> Iterator[str]:
    """A line for a text, one for each entry of a list, none for nothing."""
    values = [value] if isinstance(value, str) else list(value)
    for number, text in enumerate(filter(None, values)):
        label = name if number == 0 else ""
        yield f"  {label:<10}{text}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
