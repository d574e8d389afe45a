"""The blocks of small pages."""

from weft.boards.reading.blocks import CJK_WEIGHT, Blocks, weight
from weft.markup import parse_page

SENTENCE = "The council met on Tuesday and spoke for hours about the old market hall in town. "


def blocks(body: str) -> Blocks:
    return Blocks(parse_page(f"<html><body>{body}</body></html>".encode()))


def test_elements_within_a_line_belong_to_the_block_around_them() -> None:
    found = blocks("<p>One <b>two</b> <a href='/3'>three</a></p>")
    assert [(block.plain, block.linked) for block in found.all] == [(6, 5)]


def test_all_within_a_link_is_linked_however_deep_in_the_line() -> None:
    found = blocks("<p><b>12</b><a href='/'><i><b>345</b> 6</i></a><b><i>78</i></b></p>")
    assert [(block.plain, block.linked) for block in found.all] == [(4, 4)]


def test_text_that_nobody_sees_is_none() -> None:
    found = blocks("<script>var a</script><style>p {}</style><p>Seen</p><select><option>x</select>")
    assert found.texts == ["Seen"]


def test_white_space_between_tags_is_no_text() -> None:
    found = blocks("<div>\n <p>One</p>\n&nbsp;<p>Two</p> </div>")
    assert found.texts == ["One", "Two"]
    assert len(found.all) == 2


def test_short_and_linked_text_is_no_prose() -> None:
    found = blocks(f"<p>Short</p><p><a href='/x'>{SENTENCE * 2}</a></p><p>{SENTENCE}</p>")
    assert found.prose == len(SENTENCE.strip())


def test_the_container_with_most_of_the_prose_comes_first() -> None:
    page = f"<aside><p>{SENTENCE}</p></aside><main>{f'<p>{SENTENCE}</p>' * 6}</main>"
    assert blocks(page).containers[0][1].tag == "main"


def test_a_link_without_text_belongs_to_the_block_it_stands_in() -> None:
    tree = parse_page(b"<div>Text <span><a href='/x'><img></a></span></div>")
    link = tree.css_first("a")
    assert link is not None
    block = Blocks(tree).around(link)
    assert block is not None
    assert block.node.tag == "div"


def test_a_chinese_character_weighs_more_than_a_letter() -> None:
    assert weight("城市a") == 2 * CJK_WEIGHT + 1
