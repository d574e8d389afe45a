"""Reads the articles back from the collection, as `weft items` does, and shows them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import set_cell_size

from weft.services.items import find_items, read_items

#: Articles of each board that are shown.
ROWS = 3
#: Titles are cut after this many columns; a Chinese character takes two.
TITLE_WIDTH = 70

Article = Mapping[str, Any]


async def read_articles(collection: str, job: str) -> list[Article]:
    return [item.fields async for item in read_items(find_items(collection, job))]


def describe(articles: Sequence[Article]) -> Iterator[str]:
    """Line by line: how many each board has, the newest of each, and which repeat others."""
    yield f"\n{len(articles):,} articles are in the collection."
    for board, number in sorted(Counter(each["board"] for each in articles).items()):
        yield f"\n{board}: {number:,} articles, the newest:"
        own = (each for each in articles if each["board"] == board)
        newest = sorted(own, key=lambda each: str(each["published"]), reverse=True)
        yield from map(_line, newest[:ROWS])
    for first, others in stories(articles):
        yield "\nOne story, printed more than once:"
        yield from map(_line, (first, *others))


def stories(articles: Sequence[Article]) -> Iterator[tuple[Article, list[Article]]]:
    """Each article that others repeat, with these."""
    by_url = {each["url"]: each for each in articles}
    repeats = defaultdict(list)
    for each in articles:
        if each["duplicate_of"]:
            repeats[each["duplicate_of"]].append(each)
    for url, others in repeats.items():
        if url in by_url:
            yield by_url[url], others


def _line(article: Article) -> str:
    title = set_cell_size(article["title"], TITLE_WIDTH)
    return f"  {article['published'][:10]:10}  {title}  {', '.join(article['authors'])}".rstrip()
