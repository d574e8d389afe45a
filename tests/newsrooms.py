"""What a crawl of the bundled newspapers has to have stored."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from weft.demo.newsroom.site import Newsroom
from weft.demo.newsroom.stories import PaperStory
from weft.testing import Hit

ROBOTS = "/robots.txt"


def write_board(path: Path, entries: Sequence[str], **rest: Any) -> Path:
    """A board in a file; JSON is YAML, too."""
    board = {"name": path.stem, "entries": list(entries), "limits": {"delay": 0}, **rest}
    path.write_text(json.dumps(board))
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def wanted(newsroom: Newsroom, *, has_browser: bool = False) -> dict[str, PaperStory]:
    """The articles that a crawl can find, by URL."""
    return {
        url: story
        for url, story in newsroom.stories().items()
        if has_browser or not story.needs_browser
    }


def check_articles(
    items: Iterable[dict[str, Any]], newsroom: Newsroom, *, has_browser: bool = False
) -> None:
    """Exactly the articles of the site, each once, each field right."""
    stories = wanted(newsroom, has_browser=has_browser)
    found = [item["url"] for item in items]
    twice = sorted({url for url in found if found.count(url) > 1})
    assert not twice, f"{len(twice)} articles are there twice, such as {twice[:3]}"
    missing = sorted(stories.keys() - set(found))
    assert not missing, f"{len(missing)} articles are missing, such as {missing[:3]}"
    others = sorted(set(found) - stories.keys())
    assert not others, f"{len(others)} pages are no articles, such as {others[:3]}"
    for item in items:
        check_fields(item, stories[item["url"]])


def check_fields(item: dict[str, Any], story: PaperStory) -> None:
    url = item["url"]
    assert item["title"] == story.title, url
    assert item["authors"] == list(story.authors), url
    assert item["published"] == story.published, url
    assert item["language"].split("-")[0] == story.language.split("-")[0], url
    assert item["body"].split("\n") == story.body.split("\n"), url
    if story.image:
        assert item["images"][0].endswith(story.image), url


def check_duplicates(items: Iterable[dict[str, Any]], newsroom: Newsroom) -> None:
    """A reprint and its original name each other: whichever was met later names the earlier."""
    by_key = {story.key: url for url, story in newsroom.stories().items()}
    pairs = {
        frozenset((url, by_key[story.duplicate_of]))
        for url, story in newsroom.stories().items()
        if story.duplicate_of
    }
    named = {frozenset((i["url"], i["duplicate_of"])) for i in items if i["duplicate_of"]}
    assert named == pairs


def urls_of(hits: Iterable[Hit]) -> list[str]:
    """What was asked for, but for robots.txt, which each worker reads."""
    return [f"{hit.host}{hit.path}" for hit in hits if hit.path != ROBOTS]
