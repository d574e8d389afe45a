"""The metadata of a page as a whole."""

import random
from datetime import date

import pytest

from weft.boards.reading.article.metadata import Metadata, find_metadata
from weft.boards.reading.page import Page, open_page

URL = "https://www.dailyharbour.example/news/ferry?from=home"
HEAD = """
<title>Ferry returns | Daily Harbour</title>
<meta property="og:site_name" content="Daily Harbour">
<meta property="og:description" content="It is back.">
<meta property="og:image" content="/ferry.jpg">
<meta property="article:published_time" content="2024-05-01T12:30:00Z">
<meta property="article:tag" content="Ferry"><meta property="article:tag" content="Storm">
<meta name="keywords" content="Storm, Sea; 港口、渡轮">
<meta name="author" content="Ann Lee">
"""


def page(head: str = "", body: str = "", lang: str = "", url: str = URL) -> Page:
    return Page(f'<html lang="{lang}"><head>{head}</head><body>{body}</body></html>', url)


def test_everything_that_a_page_declares_is_found() -> None:
    body = "<h1>Ferry returns</h1><article><img src='b.jpg'><img src='logo.png'></article>"
    found = find_metadata(page(HEAD, body, lang="en_gb"), date(2025, 1, 1))
    assert found == Metadata(
        title="Ferry returns",
        authors=("Ann Lee",),
        published="2024-05-01T12:30:00+00:00",
        language="en-GB",
        description="It is back.",
        images=(
            "https://www.dailyharbour.example/ferry.jpg",
            "https://www.dailyharbour.example/news/b.jpg",
        ),
        site_name="Daily Harbour",
        tags=("Ferry", "Storm", "Sea", "港口", "渡轮"),
    )


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("渡轮在风暴后恢复通航", "zh"),
        ("フェリーは嵐の後に戻った", "ja"),
        ("폭풍 후 여객선이 돌아왔다", "ko"),
        ("Паром вернулся после шторма", "ru"),
        ("عادت العبارة بعد العاصفة", "ar"),
        ("Die Fähre ist nach dem Sturm zurück und das Wetter ist gut, der Hafen voll", "de"),
        ("Ferry", ""),
    ],
)
def test_language_is_guessed_from_script_and_words(text: str, language: str) -> None:
    assert find_metadata(page(body=f"<p>{text}</p>")).language == language


def test_small_pictures_and_later_loaded_ones_are_told_apart() -> None:
    body = "<article><img width=20 src=dot.gif><img data-src=/big.jpg src=data:x></article>"
    assert find_metadata(page(body=body)).images == ("https://www.dailyharbour.example/big.jpg",)


@pytest.mark.parametrize(
    "link",
    [
        "<a href=/other>{}</a>",
        "<li><a href=/other><span>{}</span></a></li>",
        "<aside><div>{}</div></aside>",
        "<nav>{}</nav>",
        "<footer>{}</footer>",
    ],
)
@pytest.mark.parametrize("place", ["main", "article"])
def test_pictures_that_belong_to_something_else_are_left_out(link: str, place: str) -> None:
    card = link.replace("{}", "<img src=/card.jpg>")
    body = f"<{place}><img src=/ferry.jpg>{card}</{place}>"
    assert find_metadata(page(body=body)).images == ("https://www.dailyharbour.example/ferry.jpg",)


@pytest.mark.parametrize("href", ["/ferry-large.JPG?w=2000", "#", URL, "javascript:show()"])
def test_picture_that_leads_to_a_larger_one_or_nowhere_stays(href: str) -> None:
    body = f"<article><a href='{href}'><img src=/ferry.jpg></a></article>"
    assert find_metadata(page(body=body)).images == ("https://www.dailyharbour.example/ferry.jpg",)


def test_publisher_by_reference_is_the_name_of_the_site() -> None:
    graph = '[{"@type":"NewsArticle","publisher":{"@id":"#o"}},'
    graph += '{"@type":"NewsMediaOrganization","@id":"#o","name":"Daily Harbour"}]'
    found = find_metadata(page(f'<script type="application/ld+json">{graph}</script>'))
    assert found.site_name == "Daily Harbour"


@pytest.mark.parametrize("value", ["5", "null", "[[[]]]", '{"name": null}', '"x"', "[null, 3, {}]"])
def test_wrong_types_anywhere_in_json_ld_never_raise(value: str) -> None:
    names = ("headline", "author", "datePublished", "image", "keywords", "publisher", "description")
    fields = ",".join(f'"{name}":{value}' for name in names)
    script = f'<script type="application/ld+json">{{"@type":"Article",{fields}}}</script>'
    found = find_metadata(page(script))
    assert found.published == ""


def test_binary_junk_never_raises() -> None:
    random_bytes = random.Random(7)
    for size in (0, 1, 100, 5000):
        junk = random_bytes.randbytes(size)
        find_metadata(open_page(junk, "not a url"))
        find_metadata(open_page(b"<html><h1><meta content=x name=date><time>" + junk, ""))
