# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""What is found as the body of an article, on small pages with one difficulty each."""

import time

import pytest

from weft.boards.reading.article import body as module
from weft.boards.reading.article.body import Body, read_body
from weft.boards.reading.page import Page, open_page

SENTENCE = "The committee met on Tuesday, and nobody was surprised by what it said. "
CHINESE = "委员会星期二举行会议，讨论了新的预算方案，并且公布了结果。"


def read(html: str, title: str = "", url: str = "https://example.com/a/", **how: bool) -> Body:
    # Enough time: other tests run beside this one.
    return read_body(Page(html, url), title, seconds=30, **how)


def article(content: str) -> str:
    return f"<html><body><nav><a href='/'>Home</a></nav><article>{content}</article></body></html>"


def test_the_text_of_an_article_is_found_without_its_frame() -> None:
    html = article(f"<p>{SENTENCE * 4}</p><p>{SENTENCE * 3}Second.</p>")
    body = read(html)
    assert body.method == "trafilatura"
    assert body.text.split("\n") == [(SENTENCE * 4).strip(), f"{SENTENCE * 3}Second."]


def test_links_become_absolute_and_stay_where_they_were() -> None:
    html = article(f'<p>See the <a href="../report">report</a> of it. {SENTENCE * 5}</p>')
    body = read(html)
    assert body.markdown.startswith("See the [report](https://example.com/report) of it.")
    assert body.text.startswith("See the report of it.")


def test_emphasis_within_a_link_is_kept() -> None:
    html = article(f'<p>It is <a href="/x"><b>very</b> new</a> here. {SENTENCE * 5}</p>')
    assert read(html).markdown.startswith("It is [**very** new](https://example.com/x) here.")


def test_a_word_is_linked_where_the_page_links_it_and_not_before() -> None:
    html = article(f'<p>A bank. {SENTENCE * 5}</p><p>Another <a href="/b">bank</a> fell. </p>')
    markdown = read(html).markdown
    assert markdown.startswith("A bank.")
    assert "Another [bank](https://example.com/b) fell." in markdown


def test_code_in_a_sentence_is_marked() -> None:
    html = article(f"<p>Call <code>run()</code> first. {SENTENCE * 5}</p><p>{SENTENCE * 3}</p>")
    assert read(html).markdown.startswith("Call `run()` first.")


@pytest.mark.parametrize(
    "heading",
    ["<h2 id='x'><a href='#x'></a>第一部分</h2>", "<h2 id='x'><a href='#x'>第一部分</a></h2>"],
)
def test_headings_that_link_to_themselves_are_kept(heading: str) -> None:
    """The strict rules for Chinese would take them for entries of a menu."""
    text = f"<p>{CHINESE * 4}</p>{heading}<p>{CHINESE * 3}</p><p>{CHINESE * 5}</p>"
    html = f"<html><body><div class='post-content'>{text}</div></body></html>"
    assert "\n\n## 第一部分\n\n" in read(html).markdown


def test_images_within_the_body_are_found_and_those_around_it_are_not() -> None:
    html = (
        '<html><body><header><p>Site of news</p><img src="/portrait.jpg"></header><article>'
        f'<p>{SENTENCE * 4}</p><figure><img data-src="/one.jpg" src="/blank.gif" alt="One">'
        "</figure>"
        f'<p>Then {SENTENCE * 4}</p></article><aside>More of it<img src="/more.jpg"></aside>'
        "</body></html>"
    )
    body = read(html)
    assert body.images == ("https://example.com/one.jpg",)
    first, image, second = body.markdown.split("\n\n")
    assert image == "![One](https://example.com/one.jpg)"
    assert (first, second) == ((SENTENCE * 4).strip(), f"Then {SENTENCE * 4}".strip())


def test_the_title_is_left_out() -> None:
    html = article(f"<h1>A new budget</h1><p>{SENTENCE * 4}</p><p>{SENTENCE * 3}</p>")
    assert "A new budget" in read(html).text
    assert "A new budget" not in read(html, "A new budget").text


def test_a_title_that_is_most_of_the_text_stays() -> None:
    """Short messages repeat their first sentence as the title."""
    text = "Our office in the old town stays closed for the whole of next week"
    html = article(f"<p>{text}</p><p>Please call us.</p>")
    assert text in read(html, text).text


def test_a_short_chinese_article_is_enough() -> None:
    """150 characters are a complete message; nothing is added to it from the rest of the page."""
    others = "".join(f"<div><p>其他新闻的摘要第{n}条，与本文没有关系。</p></div>" for n in range(9))
    html = (
        f"<html><body><div class='article-content'><p>{CHINESE * 3}</p><p>{CHINESE * 2}</p></div>"
        f"<div class='list'>{others}</div></body></html>"
    )
    assert read(html).text == f"{CHINESE * 3}\n{CHINESE * 2}"


def test_a_page_without_html_tag_is_read() -> None:
    """Archives keep pages inside of elements of their own."""
    html = f"<text id='1'><div><p>{SENTENCE * 5}</p><p>{SENTENCE * 5}</p></div></text>"
    assert read(html).text.count(SENTENCE.strip()) == 10


POST = (
    "<div class='post'><div class='author'>Jo <i>Member</i></div><div class='text'>{}</div></div>"
)


def thread(*posts: str, head: str = "<meta name='generator' content='phpBB'>") -> str:
    inner = "".join(POST.format(post) for post in posts)
    return f"<html><head>{head}</head><body><div id='comments'>{inner}</div></body></html>"


ASKED = "Does anybody know why the engine of my boat stops after an hour in warm weather?"
ANSWERED = "That sounds like vapour in the fuel line, which happens when the pump gets too hot."
THANKED = "Thank you, moving the pump away from the engine has solved the problem for me."


@pytest.mark.parametrize(
    "head",
    [
        "<meta name='generator' content='phpBB'>",
        '<script type="application/ld+json">{"@type": "DiscussionForumPosting"}</script>',
    ],
)
def test_all_posts_of_a_thread_are_the_body_and_their_authors_are_not(head: str) -> None:
    body = read(thread(ASKED, ANSWERED, THANKED, head=head))
    assert body.method == "posts"
    assert body.text.split("\n") == [ASKED, ANSWERED, THANKED]


def test_a_thread_is_known_by_its_url() -> None:
    html = thread(ASKED, ANSWERED, THANKED, head="")
    assert read(html, url="https://example.com/threads/boats.123/").method == "posts"
    assert read(html, url="https://example.com/news/boats").method != "posts"


def test_quotations_of_earlier_posts_are_left_out_and_others_are_kept() -> None:
    again = f"<blockquote><p>Jo wrote:</p><p>{ASKED}</p></blockquote><p>{ANSWERED}</p>"
    manual = "<blockquote>Keep the pump away from hot parts at all times.</blockquote>" + THANKED
    text = read(thread(ASKED, again, manual)).text
    assert text.count(ASKED) == 1
    assert "Keep the pump away" in text


def test_parts_of_a_cookie_dialog_are_no_posts() -> None:
    choice = "<div class='choice'>We and our partners store a lot of data about you. </div>"
    dialog = f"<div id='cookie-dialog'>{choice * 30}</div>"
    html = thread(ASKED, ANSWERED, THANKED).replace("</body>", f"{dialog}</body>")
    assert read(html).text.split("\n") == [ASKED, ANSWERED, THANKED]


def test_the_fast_profile_has_text_and_markdown_too() -> None:
    html = article(f'<h2>Part</h2><p>See <a href="/r">the report</a>. {SENTENCE * 5}</p>')
    body = read(html, fast=True)
    assert body.method == "resiliparse"
    assert "See the report." in body.text
    assert "## Part" in body.markdown
    assert "[the report](https://example.com/r)" in body.markdown


def test_code_in_a_figure_is_kept_by_the_fast_profile() -> None:
    html = article(f"<p>{SENTENCE * 4}</p><figure><pre>print(1)</pre></figure><p>{SENTENCE}</p>")
    assert "```\nprint(1)\n```" in read(html, fast=True).markdown


def fail(*_: object) -> None:
    raise ZeroDivisionError


def wait(*_: object) -> None:
    while True:
        time.sleep(0.001)


def test_a_page_that_trafilatura_fails_on_is_read_by_resiliparse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "read_prose", fail)
    assert read(article(f"<p>{SENTENCE * 5}</p>")).method == "resiliparse"


def test_a_page_that_takes_trafilatura_too_long_is_read_by_resiliparse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "read_prose", wait)
    page = Page(article(f"<p>{SENTENCE * 5}</p>"), "https://example.com/")
    assert read_body(page, seconds=3).method == "resiliparse"


def test_a_page_that_nothing_can_read_has_an_empty_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read_prose", fail)
    monkeypatch.setattr(module, "read_plain", wait)
    page = Page(article(f"<p>{SENTENCE * 5}</p>"), "https://example.com/")
    assert read_body(page, seconds=0.3) == Body()


def test_thousands_of_formatted_words_in_a_paragraph_are_left_to_resiliparse() -> None:
    """Trafilatura would take half a minute, in one call that nothing can interrupt."""
    html = article("<p>" + "<b>bold</b> plain " * 20_000 + "</p>")
    body = read(html)
    assert body.method == "resiliparse"
    assert len(body.text) > 100_000


def test_a_large_page_is_left_to_resiliparse_unless_most_of_it_is_scripts() -> None:
    prose = article(f"<p>{SENTENCE * 5}</p>" * 6_000)
    assert read(prose).method == "resiliparse"
    script = f"<script>{'var a = 1; ' * 200_000}</script>"
    assert read(article(f"<p>{SENTENCE * 5}</p>{script}")).method == "trafilatura"


@pytest.mark.parametrize(
    "html",
    ["", " ", "\x00\x01\x02", "<", "<html>", "plain words", "<p>" * 500, "<body></body>", "\ud800"],
)
def test_no_page_raises(html: str) -> None:
    for fast in (False, True):
        assert isinstance(read(html, fast=fast), Body)


def test_a_deeply_nested_page_is_read() -> None:
    page = open_page(("<div>" * 1_500 + SENTENCE * 5).encode())
    assert SENTENCE.strip() in read_body(page, seconds=30).text


def test_signs_that_link_to_a_heading_are_left_out() -> None:
    heading = "<h2 id='x'>How long it waits<a href='#x'>¶</a></h2>"
    body = read(article(f"<p>{SENTENCE * 4}</p>{heading}<p>{SENTENCE * 4}</p>"))
    assert "\n\n## How long it waits\n\n" in body.markdown


def test_pictures_that_link_to_other_pages_are_not_of_the_body() -> None:
    card = "<a href='/other'><img src='/other.jpg'></a>"
    html = article(f"<p>{SENTENCE * 4}</p><img src='/own.jpg'>{card}<p>{SENTENCE * 3}Second.</p>")
    assert read(html).images == ("https://example.com/own.jpg",)


def test_a_question_is_a_post_although_it_looks_unlike_the_answers() -> None:
    answers = "".join(
        f"<div class='answer'><div class='prose'><p>{word} {SENTENCE * 3}</p></div></div>"
        for word in ("Yes.", "No.")
    )
    question = f"<div class='question'><div class='prose'><p>Why? {SENTENCE * 2}</p></div></div>"
    html = f"<html itemscope itemtype='https://schema.org/QAPage'><body>{question}{answers}"
    assert [line.split()[0] for line in read(html).text.split("\n")] == ["Why?", "Yes.", "No."]


def test_a_live_blog_has_its_introduction_and_all_entries() -> None:
    share = "<div><a href='#a'>Copy link</a><a href='/s'>Share</a></div>"
    entries = "".join(
        f"<article class='entry'><h2>Entry {number}</h2><p>{number} {SENTENCE * 2}</p>{share}"
        "</article>"
        for number in ("One", "Two", "Three")
    )
    data = '<script type="application/ld+json">{"@type": "LiveBlogPosting"}</script>'
    intro = f"<p>Intro. {SENTENCE * 2}</p>"
    html = (
        f"<html><head>{data}</head><body><main><h1>Live</h1>{intro}{entries}</main></body></html>"
    )
    body = read(html, "Live")
    assert body.text.startswith("Intro. ")
    assert [line for line in body.text.split("\n") if line.startswith("Entry")] == [
        "Entry One",
        "Entry Two",
        "Entry Three",
    ]
