"""The kind of small pages, each with one difficulty of real ones."""

# ruff: noqa: RUF001 - Chinese text has signs of its own

import pytest

from weft.boards.reading.kind import Judgement, Provenance, judge
from weft.boards.reading.page import Page
from weft.boards.reading.pager import find_next
from weft.boards.reading.topics import find_topics
from weft.records import PageKind

SITE = "https://news.example"
ARTICLE_URL = SITE + "/2026/05/07/council-votes-to-rebuild-the-old-market-hall"
LIST_URL = SITE + "/world/"
SENTENCE = "The council met on Tuesday and spoke for hours about the old market hall in town. "
TITLES = [
    "Ferry service to the islands resumes after storm",
    "Council votes to rebuild the old market hall",
    "Why the harvest came three weeks early this year",
    "Museum opens a wing for maps and globes",
    "New bridge will cost twice as much as planned",
    "Swimmers find a wreck off the northern coast",
    "Last tram of the old line stops for good",
    "School children count the birds of the valley",
]
MENU = "<nav>" + "".join(f'<a href="/section-{n}/">Section {n}</a>' for n in range(30)) + "</nav>"


def page(body: str, url: str, title: str) -> Page:
    head = f"<head><title>{title}</title></head>"
    return Page(f"<html>{head}<body>{MENU}<h1>{title}</h1>{body}</body></html>", url)


def judged(page: Page, provenance: Provenance | None = None) -> Judgement:
    return judge(page, find_topics(page), find_next(page), provenance or Provenance())


def slug(title: str) -> str:
    return "/2026/05/07/" + title.lower().replace(" ", "-")


def cards(text: str, titles: list[str] = TITLES) -> str:
    return "".join(
        f'<article><h2><a href="{slug(title)}">{title}</a></h2><p>{text}</p></article>'
        for title in titles
    )


def prose(paragraphs: int) -> str:
    return f"<p>{SENTENCE * 4}</p>" * paragraphs


def article(extra: str = "") -> Page:
    return page(f"<main>{prose(6)}</main>{extra}", ARTICLE_URL, TITLES[1])


def front(body: str = "") -> Page:
    return page(body or cards("A summary."), LIST_URL, "World")


def archive(path: str = "/notebook/") -> Page:
    """A blog that prints whole posts, few enough to look like an article with sections. Their
    titles lead nowhere."""
    posts = "".join(
        f"<h2>{t}</h2>{prose(5)}<h3><a href='{slug(t)}'>{t}</a></h3>" for t in TITLES[:2]
    )
    return page(f"<main>{posts}</main>", SITE + path, "Everything of the seventh of May")


def declares_one_thing(found: Judgement) -> bool:
    return any(
        "declares itself to be about one thing" in reason for reason in found.article.reasons
    )


def test_an_article_is_data_and_a_list_is_not() -> None:
    assert judged(article()).kind is PageKind.DATA
    assert judged(front()).kind is PageKind.NAV


def test_a_list_has_topic_links() -> None:
    assert judged(front()).topics.passes


def test_an_article_with_related_articles_below_stays_an_article() -> None:
    assert judged(article(cards("A summary.", TITLES[2:6]))).article.passes


def test_summaries_of_a_list_are_no_prose_of_its_own() -> None:
    found = judged(front(cards(SENTENCE * 3)))
    assert not found.article.passes
    assert "no prose of its own" in found.article.reasons


def test_a_short_chinese_article_counts_its_characters() -> None:
    text = (
        "市政府星期二宣布，旧市场大厅将于明年春天开始重建，预计两年内完工，总投资超过三亿元人民币。"
        * 5
    )
    found = page(
        f"<div>2026-05-07 10:30</div><p>{text}</p>",
        SITE + "/a/20260507.html",
        "旧市场大厅明年春天开始重建",
    )
    assert judged(found).article.passes


def test_a_product_says_itself_that_it_is_one_thing() -> None:
    product = '<script type="application/ld+json">{"@type": "Product", "name": "Kettle"}</script>'
    alike = cards("12.00", TITLES[:4])
    url = SITE + "/kettle"
    plain = judged(page("<p>A kettle.</p>" + alike, url, "Kettle"))
    declared = judged(page(product + "<p>A kettle.</p>" + alike, url, "Kettle"))
    assert declared.article.score > plain.article.score
    assert declares_one_thing(declared)
    assert not declares_one_thing(plain)


def test_a_list_that_declares_each_of_its_products_is_not_one_thing() -> None:
    entry = '{"@type": "Product", "name": "Kettle"}'
    many = f'<script type="application/ld+json">[{entry}, {entry}, {entry}]</script>'
    found = judged(page(many + cards("12.00"), LIST_URL, "Kettles"))
    assert not declares_one_thing(found)


def test_a_page_whose_address_nobody_knows_is_judged_by_the_rest() -> None:
    unknown = Page(front().text)
    assert judged(unknown).kind is PageKind.NAV
    assert judged(unknown).topics.passes
    assert judged(Page(article().text)).kind is PageKind.DATA


def test_a_page_of_days_does_not_show_its_own() -> None:
    days = "".join(f"<li>2026-05-{day:02}</li>" for day in range(1, 20))
    assert "it shows a day" in judged(article("<p>2026-05-07</p>")).article.reasons
    assert "it shows a day" not in judged(article(f"<ul>{days}</ul>")).article.reasons


def test_without_any_links_there_are_no_topic_links_to_follow() -> None:
    found = judged(Page(f"<html><body>{prose(3)}</body></html>", ARTICLE_URL))
    assert found.topics.score == 0
    assert found.topics.reasons == ("no topic links",)


def test_an_archive_of_whole_posts_looks_like_an_article() -> None:
    assert judged(archive()).article.passes


@pytest.mark.parametrize(
    "post",
    [
        f"<h2><a href='{slug(TITLES[0])}'>{TITLES[0]}</a></h2>{prose(3)}",
        f"<a href='{slug(TITLES[0])}'><h2>{TITLES[0]}</h2></a>{prose(3)}",
        f"<article><header><h2>{TITLES[0]}</h2></header>{prose(3)}"
        f"<a href='{slug(TITLES[0])}' aria-label='Read: {TITLES[0]}'></a></article>",
        f"<h2><a href='?p=42'>{TITLES[0]}</a></h2>{prose(3)}",
    ],
    ids=["heading with a link", "link around a heading", "link over a card", "link with a query"],
)
def test_prose_below_a_heading_that_leads_to_another_page_is_not_of_this_one(post: str) -> None:
    found = page(f"<main>{post}</main>", SITE + "/?subject=oats", "What we wrote about oats")
    assert judged(found).article.reasons[0] == "no prose of its own"


@pytest.mark.parametrize(
    "heading",
    [
        f"<h2>{TITLES[1]}</h2>",
        f"<h2><a href='{slug(TITLES[1])}'>{TITLES[1]}</a></h2>",
        f"<h2><a href='{slug(TITLES[1])}/?from=mail'>{TITLES[1]}</a></h2>",
        f"<h2><a href='/2026/05/07/#post-7'>{TITLES[1]}</a></h2>",
        f"<h2><a href='https://paper.example/story'>{TITLES[1]}</a></h2>",
        "<h2><a href='/people/ann'>Ann Lee</a></h2>",
        f"<div><h2>{TITLES[1]}</h2><a href='/'></a></div>",
    ],
    ids=["none", "itself", "a parameter", "a place", "another site", "a name", "a logo"],
)
def test_prose_below_other_headings_is_of_the_page(heading: str) -> None:
    found = judged(page(f"<main>{heading}{prose(6)}</main>", ARTICLE_URL, "A blog"))
    assert found.kind is PageKind.DATA
    assert "letters of prose in one container" in " ".join(found.article.reasons)


@pytest.mark.parametrize(
    "path",
    [
        "/2026/05/07/", "/2026", "/archives/2026/5", "/blog/page/3/", "/tags/oats",
        "/category/town", "/Kategorie/Stadt/", "/blog/author/ann-miller", "/categorias/pueblo",
        "/etiquetas/x/page/2",
    ],
)  # fmt: skip
def test_the_address_of_a_collection_shows_that_it_is_a_list(path: str) -> None:
    found = judged(archive(path))
    assert found.kind is PageKind.NAV
    assert found.article.reasons[0].startswith("its address is that of a tag, a category")


@pytest.mark.parametrize(
    "path",
    [
        "/2026/05/07/market-hall", "/2026-05-07", "/1726/05", "/page/market-hall", "/3", "/tags",
        "/tags/oats/why-they-are-late", "/hashtag/oats", "/category-oats", "/author?name=ann",
    ],
)  # fmt: skip
def test_an_address_that_only_resembles_that_of_a_collection_says_nothing(path: str) -> None:
    reasons = judged(archive(path)).article.reasons
    assert not any("that of a tag, a category" in reason for reason in reasons)


def test_links_that_are_no_topic_links_show_that_it_is_a_list() -> None:
    found = judged(archive(), Provenance(links=40, topic_links=0))
    assert found.kind is PageKind.NAV
    assert found.article.reasons[0] == "0 of 40 links that lead here are topic links"


def test_topic_links_show_that_a_page_with_little_text_is_an_article() -> None:
    short = page(
        "<p>A photo.</p>" + cards("A summary.", TITLES[:4]), SITE + "/photo-of-the-day", "Sunset"
    )
    assert not judged(short).article.passes
    assert judged(short, Provenance(links=10, topic_links=10)).article.passes


def test_one_link_says_less_than_many() -> None:
    alone, one, many = (
        judged(article(), Provenance(links=links, topic_links=0)).article.score
        for links in (0, 1, 50)
    )
    assert alone > one > many


def test_pages_of_one_shape_are_of_one_kind() -> None:
    text = f'<p>2026-05-07</p><a href="{slug(TITLES[2])}">{TITLES[2]}</a>{prose(4)}'
    subject = page(text, SITE + "/subjects/oats", "What we wrote about oats")
    assert judged(subject).kind is PageKind.DATA
    listed = judged(subject, Provenance(links=1, topic_links=1, lists_alike=60))
    assert listed.kind is PageKind.NAV
    assert listed.article.reasons[0] == "0 of 60 pages with addresses of this shape are articles"


def test_a_shape_that_articles_and_lists_share_says_little() -> None:
    few = page(f'<a href="{slug(TITLES[2])}">{TITLES[2]}</a>', SITE + "/p/1234.html", "Tag: oats")
    assert judged(few, Provenance(articles_alike=60)).kind is PageKind.DATA
    mixed = judged(few, Provenance(articles_alike=60, lists_alike=50))
    assert mixed.kind is PageKind.NAV
    assert not any("identifier in its address" in reason for reason in mixed.article.reasons)


def test_it_is_known_what_a_page_is_without_those_like_it() -> None:
    known = Provenance(links=2, topic_links=2, lists_alike=200)
    few = page(prose(1), SITE + "/p/1234.html", "Why oats")
    assert judged(few, known).kind is PageKind.NAV
    assert judged(few, known).is_article_alone
    assert not judged(front(), Provenance(articles_alike=200)).is_article_alone


def test_a_day_without_prose_is_that_of_a_link() -> None:
    link = f'<li><a href="{slug(TITLES[2])}">{TITLES[2]}</a> 2026-05-07</li>'
    listed = judged(page(link, LIST_URL, "Oats"))
    assert not any("it shows a day" in reason for reason in listed.article.reasons)
    assert "it shows a day" in judged(article("<p>2026-05-07</p>")).article.reasons


def test_a_page_whose_prose_is_that_of_other_pages_is_a_list() -> None:
    post = f"<div><h2><a href='{slug(TITLES[0])}'>{TITLES[0]}</a></h2>{prose(3)}</div>"
    what = "what prose it shows is that of other pages"
    assert what in judged(page(post, LIST_URL, "Oats")).article.reasons
    assert what not in " ".join(judged(article(post)).article.reasons)


def test_a_shape_alone_does_not_outvote_what_is_sure() -> None:
    assert judged(article(), Provenance(lists_alike=10_000)).article.passes


def test_the_links_of_an_entry_are_always_followed() -> None:
    odd = article(cards("A summary.", TITLES[2:5]))
    assert not judged(odd).topics.passes
    assert judged(odd, Provenance(is_followed=True)).topics.passes


def test_an_entry_may_still_be_an_article() -> None:
    assert judged(article(), Provenance(is_followed=True)).article.passes


def test_reasons_come_strongest_first_and_those_against_last() -> None:
    reasons = judged(article(cards("A summary."))).article.reasons
    against = [reason.startswith("but ") for reason in reasons]
    assert against == sorted(against)
    assert any(against)
    assert not all(against)


def test_reasons_are_told_in_words() -> None:
    reasons = judged(front()).article.reasons
    assert "a list of 8 links" in reasons
    assert "no identifier in its address" in reasons


def test_more_topic_links_than_links_do_not_count() -> None:
    odd = judged(article(), Provenance(links=2, topic_links=5))
    assert "2 of 2 links that lead here are topic links" in odd.article.reasons


@pytest.mark.parametrize(
    "text",
    ["", "<a href=", "no markup", "<a href='http://[x'>x</a>", "\x00\ud800", "<div>" * 500],
)
@pytest.mark.parametrize("url", ["", "no url", "https://[broken", LIST_URL, SITE])
def test_broken_pages_never_raise(text: str, url: str) -> None:
    found = judged(Page(text, url), Provenance(10**12, 10**12, True, 10**12, 0))
    assert 0 <= found.article.score <= 1
    assert 0 <= found.topics.score <= 1
