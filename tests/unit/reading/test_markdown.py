"""How a body is written as text and as Markdown."""

import pytest
from lxml.etree import fromstring  # type: ignore[import-untyped]
from lxml.html import HtmlElement, fragment_fromstring  # type: ignore[import-untyped]

from weft.boards.reading.article.markdown import as_markdown, as_text, read_lines


def body(html: str) -> HtmlElement:
    return fragment_fromstring(html, create_parent="div")


def markdown(html: str) -> str:
    lines = read_lines(body(html))
    return as_markdown(lines, [line.text for line in lines])


def text(html: str) -> str:
    return as_text(read_lines(body(html)))


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<p>One</p><p>two</p>", "One\n\ntwo"),
        ("<h2>Title</h2><p>text</p>", "## Title\n\ntext"),
        ("<p>One<br>two</p>", "One  \ntwo"),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
        ("<ol><li>one</li><li>two</li></ol>", "1. one\n2. two"),
        ("<ul><li>one<ul><li>in it</li></ul></li></ul>", "- one\n  - in it"),
        ("<blockquote><p>one</p><p>two</p></blockquote>", "> one\n>\n> two"),
        ("<pre>  a = 1\n  b = 2</pre>", "```\n  a = 1\n  b = 2\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td></tr></table>",
            "| a | b |\n| --- | --- |\n| 1 |  |",
        ),
    ],
)
def test_each_kind_of_element_is_written_as_markdown_has_it(html: str, written: str) -> None:
    assert markdown(html) == written


def test_elements_of_trafilatura_are_written_like_those_of_html() -> None:
    found = fromstring(
        '<body><head rend="h3">Title</head><p>One<lb/>two</p><list rend="ol"><item>a</item></list>'
        "<quote>said</quote><table><row><cell>1</cell></row></table></body>"
    )
    lines = read_lines(found)
    assert as_markdown(lines, [line.text for line in lines]).split("\n\n") == [
        "### Title",
        "One  \ntwo",
        "1. a",
        "> said",
        "| 1 |\n| --- |",
    ]


def test_code_in_a_sentence_does_not_interrupt_it() -> None:
    assert text("<p>Call <code>run</code> first.</p>") == "Call run first."


def test_text_has_the_same_lines_without_signs() -> None:
    html = "<h2>Title</h2><p>One<br>two</p><ul><li>three</li></ul><blockquote>four</blockquote>"
    assert text(html).split("\n") == ["Title", "One", "two", "three", "four"]


def test_text_beside_blocks_is_a_paragraph() -> None:
    """Old pages write their text right into a div, with tables and lists between."""
    assert text("One <b>bold</b> line<ul><li>a</li></ul>and another") == (
        "One bold line\na\nand another"
    )


@pytest.mark.parametrize("start", ["# not a heading", "- not a list", "> not a quotation"])
def test_a_paragraph_is_not_taken_for_another_element(start: str) -> None:
    assert markdown(f"<p>{start.replace('>', '&gt;')}</p>") == "\\" + start


def test_a_year_at_the_beginning_of_a_paragraph_is_no_number_of_a_list() -> None:
    assert markdown("<p>1984. A book.</p>") == "1984\\. A book."
    assert markdown("<p>It was in 1984. A book.</p>") == "It was in 1984. A book."


def test_a_bar_in_a_cell_does_not_split_it() -> None:
    assert markdown("<table><tr><td>a|b</td></tr></table>").startswith("| a/b |\n")


def test_empty_elements_leave_nothing() -> None:
    assert markdown("<p> </p><h2></h2><ul><li></li></ul><table></table>") == ""


def test_paragraphs_in_a_table_for_layout_are_lines_and_its_menu_goes() -> None:
    prose = [f"Paragraph {number} of a page from the time of tables. " * 3 for number in "123"]
    menu = "<td>Home<br>Tools<br>Guestbook</td>"
    html = f"<table><tr>{menu}<td>{'<br><br>'.join(prose)}</td></tr></table>"
    assert text(html).split("\n") == [line.strip() for line in prose]


def test_a_table_of_data_within_one_for_layout_stays_a_table() -> None:
    prose = "".join(f"<p>{'Words of a paragraph. ' * 5}</p>" for _ in range(3))
    data = "<table><tr><th>a</th><th>b</th></tr></table>"
    html = f"<table><tr><td>{prose}{data}</td></tr></table>"
    assert markdown(html).endswith("\n\n| a | b |\n| --- | --- |")
    assert markdown(html).count("Words of a paragraph. " * 4) == 3
