"""Which links of a page a board follows, and as what."""

from collections import Counter

from weft.boards.board import Board
from weft.boards.following import Following, choose_links, trap_of_url
from weft.boards.tracking import clean_url

SITE = "https://x.example"
HOME = Board("b", (SITE + "/",))
STORY, OTHER, ABOUT, NEXT = (f"{SITE}/{name}" for name in ("story", "other", "about", "page/2"))


def chosen(
    board: Board = HOME,
    *,
    topics: tuple[str, ...] = (),
    further: tuple[str, ...] = (),
    links: tuple[str, ...] = (),
    is_deep: bool = False,
    own_url: str = SITE + "/list",
    reason_against: object = trap_of_url,
) -> Following:
    return choose_links(
        board,
        topics=topics,
        further=further,
        links=links,
        is_deep=is_deep,
        clean=lambda url: clean_url(url, board.tracking),
        own_url=own_url,
        reason_against=reason_against,  # type: ignore[arg-type]
    )


def following(
    articles: tuple[str, ...] = (),
    further: tuple[str, ...] = (),
    others: tuple[str, ...] = (),
    jumps: tuple[str, ...] = (),
) -> Following:
    return Following([*articles], [*further], [*others], [*jumps], Counter())


def test_topic_links_are_articles_and_each_link_is_followed_once() -> None:
    found = chosen(topics=(STORY, OTHER), further=(NEXT,), links=(STORY, ABOUT, NEXT, OTHER, ABOUT))
    assert found == following((STORY, OTHER), (NEXT,), (ABOUT,))


def test_a_next_page_among_the_topics_is_as_deep_as_its_list() -> None:
    assert chosen(topics=(STORY, NEXT), further=(NEXT,)) == following((STORY,), (NEXT,))


def test_at_the_depth_of_the_board_only_articles_and_next_pages_follow() -> None:
    found = chosen(topics=(STORY,), further=(NEXT,), links=(STORY, ABOUT), is_deep=True)
    assert found == following((STORY,), (NEXT,))


def test_with_patterns_another_topic_link_is_an_ordinary_one() -> None:
    board = Board("b", (SITE,), articles=(r"/story",))
    found = chosen(board, topics=(STORY, OTHER), links=(SITE + "/story-2", ABOUT))
    assert found == following((STORY, SITE + "/story-2"), (), (OTHER, ABOUT))


def test_with_patterns_articles_count_wherever_they_stand() -> None:
    board = Board("b", (SITE,), articles=(r"/story",))
    found = chosen(board, topics=(OTHER,), further=(STORY,), links=(STORY + "2",), is_deep=True)
    assert found == following((STORY, STORY + "2"))


def test_only_what_the_board_follows_is_followed() -> None:
    board = Board("b", (SITE,), follow=(r"/page/", r"/story"))
    links = (ABOUT, NEXT, "https://y.example/page/3", "mailto:me@x.example", "no url", "")
    found = chosen(board, topics=(STORY, "https://y.example/story"), links=links)
    assert found == following((STORY,), (), (NEXT,))


def test_entries_and_the_page_itself_are_not_followed() -> None:
    board = Board("b", (SITE, f"{SITE}/news?b=2&a=1"))
    links = (SITE + "/", f"{SITE}/#top", f"{SITE}/news?a=1&b=2&utm_source=x", f"{SITE}/list#end")
    assert chosen(board, topics=links[2:], links=links, own_url=f"{SITE}/list") == following()


def test_links_are_cleaned_as_the_board_says() -> None:
    board = Board("b", (SITE,), tracking=("from_*",))
    found = chosen(board, topics=(STORY + "?from_home=1", STORY + "#a", STORY + "?id=1&gclid=1"))
    assert found == following((STORY, STORY + "?id=1"))


def test_a_jump_link_counts_as_the_page_that_it_leads_to() -> None:
    jump = "https://www.google.com/url?q=https%3A%2F%2F{}%2Fstory%3Futm_source%3Dg&ved=1"
    ours, foreign = jump.format("x.example"), jump.format("y.example")
    assert chosen(topics=(ours, STORY, foreign)) == following((STORY,))
    assert chosen(links=(ours,)) == following((), (), (STORY,))


def test_only_topic_links_are_asked_where_they_lead() -> None:
    asked = "https://www.baidu.com/link?url=Ab12"
    nested = "https://www.google.com/url?q=https%3A%2F%2Ft.co%2FAb12"
    assert chosen(topics=(asked, nested), links=(asked, "https://t.co/Ab13")) == following(
        jumps=(asked, "https://t.co/Ab12")
    )


def test_a_board_can_name_its_own_jump_links_or_none() -> None:
    jump = SITE + "/link?url=Qx7"
    board = Board("b", (SITE,), jumping_urls=(r"/link\?url=",))
    assert chosen(board, topics=(jump,)) == following(jumps=(jump,))
    board = Board("b", (SITE,), jumping_urls=())
    assert chosen(board, topics=(jump,)) == following((jump,))


def test_traps_are_left_out_and_counted_by_their_reason() -> None:
    trap = SITE + "/a/b/a/b/a/b"
    found = chosen(topics=(STORY, trap + "/"), further=(trap,), links=(trap + "?c", ABOUT))
    assert found[:4] == following((STORY,), (), (ABOUT,))[:4]
    assert found.traps == {"the path of its address repeats itself": 3}


def test_what_the_board_calls_an_article_is_no_trap() -> None:
    board = Board("b", (SITE,), articles=(r"/a/b/",))
    trap = SITE + "/a/b/a/b/a/b"
    assert chosen(board, links=(trap,)) == following((trap,))


def test_the_rule_for_traps_knows_which_links_are_topics() -> None:
    def only_topics(url: str, *, is_topic: bool = False) -> str:
        return "" if is_topic else "dull"

    found = chosen(topics=(STORY,), further=(NEXT,), links=(ABOUT,), reason_against=only_topics)
    assert found == Following([STORY], [], [], [], Counter(dull=2))


def test_numbered_pages_of_the_list_are_as_deep_as_the_list() -> None:
    """Also if nothing but their addresses says so."""
    pages = (f"{SITE}/list/page/3", f"{SITE}/list?page=4")
    found = chosen(links=(*pages, ABOUT), is_deep=True, own_url=f"{SITE}/list/page/2")
    assert found == following(further=pages)
