"""What is around every page: head, menu, footer; and the small pieces that pages are made of."""

# ruff: noqa: RUF001 - Chinese punctuation is meant

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from weft.demo.newsroom.issue import Issue
from weft.demo.newsroom.papers import Paper
from weft.demo.newsroom.stories import PaperStory

_STYLE = (
    "body{margin:0 auto;max-width:64rem;padding:0 1rem;font:1rem/1.6 Georgia,serif;color:#222}"
    "header{border-bottom:3px double #345}header a{text-decoration:none}nav a{margin-right:1rem}"
    ".logo{font-size:2rem;font-weight:bold;color:#123}.meta,footer{color:#667;font-size:.85rem}"
    ".columns{display:flex;gap:2rem}.columns>main{flex:3}.columns>aside{flex:1}"
    "article img{max-width:100%}footer{border-top:1px solid #ccd;margin-top:2rem}"
)


class Words(NamedTuple):
    """What the frame says in the language of a paper."""

    home: str
    more: tuple[tuple[str, str], ...]
    most_read: str
    related: str
    comments: str
    tags: str
    printed: str
    rights: str
    login: str
    user: str
    password: str
    search: str
    not_found: str


_ENGLISH = Words(
    "Home",
    (("/archive/", "Archive"), ("/calendar/2025/10", "Calendar"), ("/search", "Search")),
    *("Most read", "More on this", "Comments", "Topics", "Print this page", "All rights reserved."),
    *("Sign in", "Name", "Password", "Search", "There is no such page"),
)
_CHINESE = Words(
    "首页",
    (("/archive/", "往期"), ("/search", "搜索")),
    *("热门文章", "相关阅读", "网友评论", "标签", "打印本页", "版权所有，未经许可不得转载"),
    *("登录", "用户名", "密码", "搜索", "页面不存在"),
)


def words_of(paper: Paper) -> Words:
    return _CHINESE if paper.language.startswith("zh") else _ENGLISH


def text(value: str) -> str:
    return escape(value, quote=False)


def link(href: str, label: str, attributes: str = "") -> str:
    return f'<a href="{escape(href)}"{attributes}>{text(label)}</a>'


def meta(name: str, content: str) -> str:
    kind = "property" if ":" in name else "name"
    return f'<meta {kind}="{name}" content="{escape(content)}">\n' if content else ""


def canonical(issue: Issue, path: str) -> str:
    return f'<link rel="canonical" href="{escape(issue.url(path))}">\n'


def charset_meta(declared: str) -> str:
    return f'<meta charset="{declared}">\n' if declared else ""


def bullets(entries: Iterable[str], css_class: str) -> str:
    lines = "".join(f"<li>{entry}</li>\n" for entry in entries)
    return f'<ul class="{css_class}">\n{lines}</ul>'


def paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(f"<p>{text(each)}</p>" for each in texts)


def page(issue: Issue, title: str, content: str, head: str = "", declared: str = "utf-8") -> str:
    """A whole page; `content` is what stands between header and footer."""
    paper = issue.paper
    whole_title = paper.title if title == paper.title else f"{title} - {paper.title}"
    return f"""<!DOCTYPE html>
<html lang="{paper.language}">
<head>
{charset_meta(declared)}<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(whole_title)}</title>
{head}<style>{_STYLE}</style>
</head>
<body>
{_header(issue)}
{content}
{_footer(issue)}
</body>
</html>
"""


def _header(issue: Issue) -> str:
    paper, words = issue.paper, words_of(issue.paper)
    entries = [link("/", words.home)]
    entries += [link(section.folder, section.title) for section in paper.sections]
    return (
        f'<header><a class="logo" href="/">{text(paper.title)}</a>\n'
        f"{bullets(entries, 'menu')}</header>"
    )


def _footer(issue: Issue) -> str:
    paper, words = issue.paper, words_of(issue.paper)
    entries = [link(path, label) for path, label in (*words.more, *SERVICES[paper.name])]
    for other in issue.others:
        entries.append(link(dict(issue.bases)[other.name] + "/", other.title))
    return (
        f"<footer>{bullets(entries, 'footer-links')}\n<p>© {text(paper.title)}. {words.rights}</p>"
        "</footer>"
    )


#: What the footer leads to, besides archive and search.
SERVICES = {
    "courier": (
        ("/about", "About us"), ("/contact", "Contact"), ("/imprint", "Imprint"),
        ("/privacy", "Privacy"), ("/members/", "Members"), ("/admin/", "Editors"),
        ("/money/", "Money"), ("/supplement/harbour-days.html", "Supplement"),
        ("/archive/complete.html", "Everything on one page"),
        ("/puzzles/labyrinth.html", "Labyrinth"),
    ),
    "evening": (
        ("/about", "关于我们"), ("/contact", "联系我们"), ("/privacy", "隐私政策"),
        ("/members/", "会员中心"),
    ),
    "digest": (("/about", "About the digest"), ("/privacy", "Privacy")),
}  # fmt: skip


def breadcrumbs(trail: Iterable[tuple[str, str]]) -> str:
    links = " › ".join(link(path, label) for path, label in trail)
    return f'<nav class="breadcrumbs">{links}</nav>'


def columns(main: str, aside: str) -> str:
    return f'<div class="columns">\n<main>\n{main}\n</main>\n<aside>\n{aside}\n</aside>\n</div>'


def most_read(issue: Issue) -> str:
    """The longest headlines, with parameters that tell where a reader came from."""
    known = [story for story in issue.plain_stories() if not story.edition]
    chosen = sorted(known, key=lambda story: -len(story.title))[:4]
    tracking = "?utm_source=site&utm_medium=sidebar&utm_campaign=mostread"
    entries = [link(story.path + tracking, story.title) for story in chosen]
    return f"<h3>{words_of(issue.paper).most_read}</h3>\n{bullets(entries, 'most-read')}"


def day_of(story: PaperStory, paper: Paper) -> str:
    """The day of a story in words."""
    moment = story.moment
    if paper.language.startswith("zh"):
        return f"{moment:%Y-%m-%d}"
    return f"{moment.day} {moment:%B %Y}"
