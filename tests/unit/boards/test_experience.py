"""What a crawl learns of a board's pages tells it what further pages are."""

import pytest

from weft.boards.experience import MAX_SHAPES, Experience
from weft.boards.foundas import FoundAs

SITE = "https://x.example"


@pytest.fixture
def experience() -> Experience:
    return Experience({})


def votes(experience: Experience, path: str) -> tuple[int, int]:
    """How many pages like this one were articles, and how many were not."""
    known = experience.provenance(SITE + path, FoundAs.TOPIC)
    return known.articles_alike, known.lists_alike


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/posts/ferry/", "/posts/harbour/"),
        ("/2026/10/31/the-ferry-is-late/", "/2025/01/02/the-old-harbour-of-the-town/"),
        ("/news/123456.html", "/news/98765.html"),
        ("/news/2026/t20261031_17.html", "/news/2025/t20250102_9.html"),
        ("/the-ferry-is-late/", "/a-day-in-the-harbour/"),
        ("/show.php?id=1", "/show.php?id=2"),
    ],
)
def test_pages_of_one_kind_speak_for_each_other(
    experience: Experience, path: str, other: str
) -> None:
    experience.note_verdict(SITE + path, is_article=True)
    assert votes(experience, other) == (1, 0)


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/categories/travel/", "/travel/ferry/"),
        ("/tags/ferry/", "/posts/ferry/"),
        ("/authors/ann-b-smith/", "/news/the-ferry-is-late/"),
        ("/list.php?id=1", "/show.php?id=1"),
        ("/news/index_2.html", "/news/t20261031_17.html"),
        ("/ferry/", "https://blog.x.example/ferry/"),
    ],
)
def test_pages_at_other_places_say_nothing(experience: Experience, path: str, other: str) -> None:
    experience.note_verdict(SITE + path, is_article=False)
    assert votes(experience, other) == (0, 0)


def test_pages_are_articles_if_most_of_those_with_such_addresses_are(
    experience: Experience,
) -> None:
    url = f"{SITE}/posts/rain/"
    experience.note_verdict(f"{SITE}/posts/ferry/", is_article=False)
    for number, word in enumerate(["harbour", "town", "market"]):
        assert not experience.are_articles(url), number
        experience.note_verdict(f"{SITE}/posts/{word}/", is_article=True)
    assert experience.are_articles(url)
    experience.note_verdict(f"{SITE}/posts/snow/", is_article=False)
    assert not experience.are_articles(url)


def test_votes_are_told_once(experience: Experience) -> None:
    experience.note_verdict(f"{SITE}/posts/ferry/", is_article=True)
    experience.note_verdict(f"{SITE}/posts/harbour/", is_article=False)
    assert list(experience.take_new_votes().values()) == [(1, 1)]
    assert experience.take_new_votes() == {}
    assert votes(experience, "/posts/town/") == (1, 1)


def test_shapes_are_bounded(experience: Experience) -> None:
    for number in range(MAX_SHAPES + 10):
        word = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        experience.note_verdict(f"{SITE}/{word}/ferry/", is_article=True)
    assert len(experience.take_new_votes()) == MAX_SHAPES
