"""An article is known by its canonical address if that is believable."""

import pytest

from weft.boards.variants import address_of, are_variants

STORY = "https://a.example/news/harbour-opens-again"


@pytest.mark.parametrize(
    ("url", "canonical", "address"),
    [
        (STORY, "", STORY),
        (STORY, STORY, STORY),
        (f"{STORY}?print=1", STORY, STORY),
        ("https://a.example/news/1042.html?from=top", "https://a.example/news/1042.html", None),
        (
            "https://a.example/show.php?id=7&view=print",
            "https://a.example/show.php?id=7",
            "https://a.example/show.php?id=7",
        ),
    ],
)
def test_a_variant_has_the_address_of_its_page(
    url: str, canonical: str, address: str | None
) -> None:
    assert address_of(url, canonical) == (address or canonical)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        pytest.param(STORY, "https://a.example/", id="the same for all"),
        pytest.param(STORY, "https://b.example/news/harbour-opens-again", id="another host"),
        pytest.param("https://a.example/show.php?id=7", "https://a.example/show.php", id="script"),
        pytest.param("https://a.example/story?id=7", "https://a.example/story", id="word"),
        pytest.param(f"{STORY}?page=2", f"{STORY}?page=1", id="other parameters"),
        pytest.param(f"{STORY}", f"{STORY}?page=1", id="more parameters"),
        pytest.param("https://a.example/?p=7", "https://a.example/", id="home page"),
    ],
)
def test_a_canonical_address_that_may_be_wrong_is_not_believed(url: str, canonical: str) -> None:
    assert address_of(url, canonical) == url


@pytest.mark.parametrize(
    "other",
    [
        "https://x.example/ferry",
        "https://x.example/ferry/index.html",
        "https://x.example/ferry/index.php",
        "https://x.example/ferry.html",
        "http://x.example/ferry/",
        "https://www.x.example/ferry/",
    ],
)
def test_addresses_of_one_page(other: str) -> None:
    assert are_variants("https://x.example/ferry/", other)
    assert are_variants(other, "https://x.example/ferry/")


@pytest.mark.parametrize(
    "other",
    [
        "https://x.example/harbour/",
        "https://x.example/ferry/2.html",
        "https://x.example/ferry/?print=1",
        "https://y.example/ferry/",
        "https://x.example/FERRY/",
    ],
)
def test_addresses_of_different_pages(other: str) -> None:
    assert not are_variants("https://x.example/ferry/", other)
