"""The shapes of addresses."""

import pytest

from weft.boards.reading.shapes import shape_of


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("https://a.example/", "a.example/"),
        ("https://a.example", "a.example/"),
        ("https://a.example/world", "a.example/w"),
        ("https://a.example/world/", "a.example/w"),
        ("https://a.example//world//", "a.example/w"),
        ("https://a.example/2026/05/why-bridges-fall", "a.example/NNS"),
        ("https://a.example/p123.html", "a.example/D"),
        ("https://a.example/verylongwordswithoutanyhyphen", "a.example/S"),
        ("https://a.example/?page=2&b=1", "a.example/?b,page"),
        ("https://a.example/list?u=https://b.example/x", "a.example/w?u"),
        ("", "/"),
    ],
)
def test_a_shape_keeps_the_host_and_what_the_parts_of_the_path_are(url: str, shape: str) -> None:
    assert shape_of(url) == shape


def test_articles_of_one_list_share_a_shape_that_the_list_has_not() -> None:
    one, other = (
        "https://a.example/world/ferry-is-late-again",
        "https://a.example/sport/we-won-it-all",
    )
    assert shape_of(one) == shape_of(other) != shape_of("https://a.example/world/")
