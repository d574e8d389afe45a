"""The topic links of small pages, each with one difficulty of real ones."""

import pytest

from weft.boards.reading.page import Page
from weft.boards.reading.topics import Topics, find_topics

URL = "https://news.example/world/"
MENU = "<nav>" + "".join(f'<a href="/section-{n}/">Section {n}</a>' for n in range(30)) + "</nav>"
TITLES = [
    "Ferry service to the islands resumes after storm",
    "Council votes to rebuild the old market hall",
    "Why the harvest came three weeks early this year",
    "Museum opens a wing for maps and globes",
    "New bridge will cost twice as much as planned",
    "Swimmers find a wreck off the northern coast",
]


def topics(body: str, url: str = URL) -> Topics:
    return find_topics(Page(f"<html><body>{body}</body></html>", url))


def article(number: int) -> str:
    return f"/world/2026/{TITLES[number].lower().replace(' ', '-')}"


def articles() -> list[str]:
    return ["https://news.example" + article(number) for number in range(len(TITLES))]


def listed(card: str) -> str:
    """A page with a menu and a card for each title."""
    cards = [card.format(url=article(n), title=title, n=n) for n, title in enumerate(TITLES)]
    return MENU + "<main>" + "".join(cards) + "</main>"


def urls(found: Topics) -> list[str]:
    return [link.url for link in found.links]


def test_a_long_menu_does_not_beat_a_short_list() -> None:
    assert urls(topics(listed('<h2><a href="{url}">{title}</a></h2>'))) == articles()


def test_image_title_and_read_more_are_one_link_with_the_title_as_text() -> None:
    card = (
        '<div class="card"><a class="pic" href="{url}"><img src="x" alt="A very long description of'
        ' a photograph that nobody would take for a title"></a><h2><a href="{url}">{title}</a></h2>'
        '<a class="more" href="{url}">Read more</a></div>'
    )
    found = topics(listed(card))
    assert urls(found) == articles()
    assert [link.text for link in found.links] == TITLES


def test_an_empty_link_over_a_card_takes_the_heading_of_the_card() -> None:
    card = '<div class="card"><a class="over" href="{url}"></a><h3>{title}</h3><p>Text</p></div>'
    found = topics(listed(card))
    assert [link.text for link in found.links] == TITLES


def test_a_link_around_a_whole_card_takes_the_heading_in_it() -> None:
    summary = "What happened, who was there, and what may come of it. " * 4
    found = topics(listed('<a href="{url}"><h3>{title}</h3><p>' + summary + "</p></a>"))
    assert [link.text for link in found.links] == TITLES


def test_a_label_serves_as_text_where_a_link_has_none() -> None:
    found = topics(listed('<div><a href="{url}" aria-label="{title}"><svg></svg></a></div>'))
    assert [link.text for link in found.links] == TITLES


def test_authors_and_tags_beside_each_title_are_no_topic_links() -> None:
    card = (
        '<article><h2><a href="{url}">{title}</a></h2><p>By <a href="/people/writer-number-{n}">The'
        ' honourable correspondent number {n}</a></p><p><a href="/t/{n}">Tag</a></p></article>'
    )
    assert urls(topics(listed(card))) == articles()


def test_a_big_story_above_the_list_belongs_to_it() -> None:
    big = "/world/2026/a-very-big-story-indeed"
    hero = f'<section class="hero"><a href="{big}">A very big story indeed, and a sad one</a>'
    found = topics(hero + "</section>" + listed('<h2><a href="{url}">{title}</a></h2>'))
    assert urls(found) == ["https://news.example" + big, *articles()]


def test_a_blog_that_prints_whole_posts_lists_posts_and_not_what_they_cite() -> None:
    prose = "".join(
        f' We read with interest what <a href="https://other{n}.example/some/paper">another paper'
        f" wrote</a> on this matter, and did not agree with much of it." for n in range(5)
    )  # fmt: skip
    card = '<article><h2><a href="{url}">{title}</a></h2><p>' + prose + "</p></article>"
    assert urls(topics(listed(card))) == articles()


def test_an_aggregator_lists_links_to_other_hosts() -> None:
    items = "".join(
        f'<tr><td><a href="https://site{n}.example/story/{n}">{title}</a></td></tr>'
        for n, title in enumerate(TITLES)
    )
    found = topics(f"{MENU}<table>{items}</table>")
    assert urls(found) == [f"https://site{n}.example/story/{n}" for n in range(len(TITLES))]


def test_class_names_of_single_posts_do_not_part_the_list() -> None:
    card = (
        '<article class="post-{n} post tag-{n} sidebar-{n}"><a href="{url}">{title}</a></article>'
    )
    assert urls(topics(listed(card))) == articles()


def test_a_page_wrapper_named_after_its_footer_is_no_footer() -> None:
    page = (
        listed('<div><a href="{url}">{title}</a></div>')
        .replace("<main>", "")
        .replace("</main>", "")
    )
    assert urls(topics(f'<div class="sticky-footer">{page}</div>')) == articles()


def test_short_chinese_titles_count_as_much_as_long_english_ones() -> None:
    menu = "".join(f'<li class="m"><a href="/c/{n}">Category {n}</a></li>' for n in range(8))
    items = "".join(
        f'<div class="t"><a href="/a/{n}.html">第{n}届城市马拉松今天开跑</a></div>'
        for n in range(8)
    )
    found = topics(f"<ul>{menu}</ul>{items}", "https://zh.example/")
    assert urls(found) == [f"https://zh.example/a/{n}.html" for n in range(8)]


def test_links_to_the_page_itself_are_left_out() -> None:
    body = listed('<h2><a href="{url}">{title}</a></h2><h2><a href="#c{n}">{title}, again</a></h2>')
    assert urls(topics(body)) == articles()


def test_an_article_scores_far_below_a_list() -> None:
    text = "The council met on Tuesday and spoke for hours about the market hall. " * 10
    related = f'<aside><a href="{article(1)}">{TITLES[1]}</a></aside>'
    prose = f'<p>{text} It was <a href="{article(2)}">{TITLES[2]}</a> that came first. {text}</p>'
    single = topics(MENU + f"<article><h1>Market hall</h1>{prose}</article>" + related)
    assert single.score * 5 < topics(listed('<h2><a href="{url}">{title}</a></h2>')).score


def test_each_group_says_why_it_was_chosen() -> None:
    found = topics(listed('<h2><a href="{url}">{title}</a></h2>'))
    assert found.size == len(TITLES)
    assert 0 < found.share < 1
    assert found.groups[0].reason == (
        "6 links at one kind of place, 45 letters long on average, 100% of one shape,"
        " 100% within the site"
    )


def test_the_best_links_and_the_cards_around_them_are_given() -> None:
    card = '<article><h2><a href="{url}">{title}</a></h2><p>Summary</p></article>'
    page = Page(f"<html><body>{listed(card)}</body></html>", URL)
    found = find_topics(page)
    assert [link.url for link in found.best] == articles()
    assert found.cards == {node.mem_id for node in page.tree.css("article")}


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<a href=",
        "no markup at all",
        "<a href='http://[broken'>x</a><a href='?'>y</a>",
        "<div>" * 500 + "<a href='/deep'>A link deep down in the page</a>",
        "<a href='/a'></a>" * 50,
        "<svg><a href='/in-svg'>In a picture</a></svg><template><a href='/t'>t</a></template>",
        "\x00<a href='/\x00'>\ud800</a>",
    ],
)
@pytest.mark.parametrize("url", ["", URL, "no url"])
def test_broken_pages_never_raise(page: str, url: str) -> None:
    found = find_topics(Page(page, url))
    assert 0 <= found.share <= 1
