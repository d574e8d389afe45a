"""Article pages. Each section writes them in another way, as sites do."""

# ruff: noqa: RUF001 - Chinese punctuation is meant

import json
from collections.abc import Callable

from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.lists import author_path, encoded, page_tags, tag_path
from weft.demo.newsroom.markup import (
    breadcrumbs,
    bullets,
    canonical,
    charset_meta,
    columns,
    day_of,
    link,
    meta,
    most_read,
    page,
    paragraphs,
    text,
    words_of,
)
from weft.demo.newsroom.papers import Markup, Section
from weft.demo.newsroom.stories import PaperStory

RELATED = 4


def article_page(issue: Issue, section: Section, story: PaperStory) -> Served:
    head, main = _MARKUPS[section.markup](issue, section, story)
    trail = breadcrumbs((("/", words_of(issue.paper).home), (section.folder, section.title)))
    extras = [_tags(issue, story)]
    if section.has_prints:
        extras.append(_print_link(issue, story))
    if section.has_images:
        extras.append(_comments(issue, story))
    content = columns(
        "\n".join((trail, main, *extras)), f"{_related(issue, section, story)}\n{most_read(issue)}"
    )
    head = canonical(issue, story.path) + head + meta("keywords", ", ".join(story.tags))
    html = page(issue, story.title, content, head, _declared(section, story))
    return encoded(section, html)._replace(modified=story.moment)


def print_path(story: PaperStory) -> str:
    return f"{story.path}?print=1"


def print_page(issue: Issue, section: Section, story: PaperStory) -> Served:
    """The same for a printer. It names the address of the article as its own."""
    head, main = _MARKUPS[section.markup](issue, section, story)
    html = (
        f'<!DOCTYPE html>\n<html lang="{issue.paper.language}">\n<head>\n'
        f"{charset_meta(_declared(section, story))}"
        f"<title>{text(story.title)} - {text(issue.paper.title)}</title>\n"
        f"{canonical(issue, story.path)}{head}</head>\n"
        f'<body onload="print()">\n{main}\n</body>\n</html>\n'
    )
    return encoded(section, html)


def _declared(section: Section, story: PaperStory) -> str:
    return section.declared[sum(story.path.encode()) % len(section.declared)]


def _linked(issue: Issue, section: Section, story: PaperStory) -> tuple[str, str]:
    """All is said in JSON-LD and Open Graph."""
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": story.title,
        "datePublished": story.published,
        "author": [{"@type": "Person", "name": name} for name in story.authors],
        "image": [issue.url(story.image)],
        "publisher": {"@type": "Organization", "name": issue.paper.title},
        "mainEntityOfPage": issue.url(story.path),
    }
    code = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    head = f'{_open_graph(issue, story)}<script type="application/ld+json">{code}</script>\n'
    return head, (
        f"<article>\n<h1>{text(story.title)}</h1>\n"
        f'<p class="meta">{_byline(story)}, {day_of(story, issue.paper)}</p>\n'
        f"{_picture(story)}\n{_body(story)}\n</article>"
    )


def _metas(issue: Issue, section: Section, story: PaperStory) -> tuple[str, str]:
    """Only meta tags say who wrote it and when."""
    head = _open_graph(issue, story) + meta("article:published_time", story.published)
    head += "".join(meta("author", name) for name in story.authors)
    return head, (
        f'<div class="story">\n<h1>{text(story.title)}</h1>\n{_picture(story)}\n{_body(story)}\n'
        "</div>"
    )


def _shown(issue: Issue, section: Section, story: PaperStory) -> tuple[str, str]:
    """Only readers see who wrote it and when."""
    names = " and ".join(story.authors)
    return "", (
        f'<div class="post">\n<h1>{text(story.title)}</h1>\n'
        f'<p class="byline">By {names}</p>\n<p class="date">{day_of(story, issue.paper)}</p>\n'
        f'<div class="post-content">\n{_body(story)}\n</div>\n</div>'
    )


def _marked(issue: Issue, section: Section, story: PaperStory) -> tuple[str, str]:
    """Microdata, and a time element."""
    names = " and ".join(f'<span itemprop="author">{text(name)}</span>' for name in story.authors)
    clock = f"{day_of(story, issue.paper)}, {story.moment:%H:%M}"
    return "", (
        '<article itemscope itemtype="https://schema.org/NewsArticle">\n'
        f'<h1 itemprop="headline">{text(story.title)}</h1>\n<p class="meta">{names} · '
        f'<time itemprop="datePublished" datetime="{story.published}">{clock}</time></p>\n'
        f'<div itemprop="articleBody">\n{_body(story)}\n</div>\n</article>'
    )


def _undated(issue: Issue, section: Section, story: PaperStory) -> tuple[str, str]:
    """Nobody learns when it was written."""
    (name,) = story.authors
    return "", (
        f"<article>\n<h1>{text(story.title)}</h1>\n"
        f'<p class="columnist">{link(author_path(name), name, " rel=author")}</p>\n'
        f"{_body(story)}\n</article>"
    )


def _source(issue: Issue, section: Section, story: PaperStory) -> tuple[str, str]:
    """A line under the title, as Chinese papers have it."""
    names = "、".join(story.authors)
    return "", (
        f'<div class="content">\n<h1>{text(story.title)}</h1>\n'
        f'<div class="info"><span>来源：{issue.paper.title}</span> <span>作者：{names}</span> '
        f"<span>时间：{story.moment:%Y-%m-%d %H:%M}</span></div>\n"
        f'<div class="text">\n{_picture(story)}\n{_body(story)}\n</div>\n</div>'
    )


def _report(issue: Issue, section: Section, story: PaperStory) -> tuple[str, str]:
    return meta("date", story.published), (
        f"<article>\n<h1>{text(story.title)}</h1>\n"
        f'<p class="meta">{day_of(story, issue.paper)}</p>\n{_body(story)}\n</article>'
    )


_MARKUPS: dict[Markup, Callable[[Issue, Section, PaperStory], tuple[str, str]]] = {
    "linked": _linked,
    "metas": _metas,
    "shown": _shown,
    "marked": _marked,
    "undated": _undated,
    "source": _source,
    "report": _report,
}


def _open_graph(issue: Issue, story: PaperStory) -> str:
    return (
        meta("og:type", "article")
        + meta("og:title", story.title)
        + meta("og:site_name", issue.paper.title)
        + meta("og:description", story.description)
        + meta("og:url", issue.url(story.path))
        + meta("og:image", issue.url(story.image) if story.image else "")
    )


def _body(story: PaperStory) -> str:
    return paragraphs(story.body.split("\n"))


def _picture(story: PaperStory) -> str:
    if not story.image:
        return ""
    return f'<figure><img src="{story.image}" width="640" height="360" alt=""></figure>'


def _byline(story: PaperStory) -> str:
    links = [link(author_path(name), name, ' class="author"') for name in story.authors]
    return " ".join(links)


def _tags(issue: Issue, story: PaperStory) -> str:
    """Only tags that many stories have lead somewhere."""
    known = page_tags(issue.paper)
    entries = [
        link(tag_path(tag), tag, " rel=tag") if tag in known else f"<span>{text(tag)}</span>"
        for tag in story.tags
    ]
    words = words_of(issue.paper)
    return f'<div class="tags">{words.tags}: {" ".join(entries)}</div>' if entries else ""


def _print_link(issue: Issue, story: PaperStory) -> str:
    label = words_of(issue.paper).printed
    return f'<div class="share">{link(print_path(story), label, " rel=nofollow")}</div>'


def _related(issue: Issue, section: Section, story: PaperStory) -> str:
    """Older stories of the section: so pages of articles do not change with each edition."""
    known = [other for other in issue.stories(section) if not other.edition and other != story]
    start = len(story.title) % max(1, len(known) - RELATED)
    entries = [link(other.path, other.title) for other in known[start : start + RELATED]]
    return f"<h3>{words_of(issue.paper).related}</h3>\n{bullets(entries, 'related')}"


def _comments(issue: Issue, story: PaperStory) -> str:
    said = _SAID_IN_CHINESE if issue.paper.language.startswith("zh") else _SAID
    first = len(story.title) % len(said)
    entries = "\n".join(
        f'<div class="comment"><b>{name}</b>\n<p>{words}</p></div>'
        for name, words in (said[(first + step) % len(said)] for step in range(3))
    )
    return (
        f'<section class="comments" id="comments">\n<h3>{words_of(issue.paper).comments}</h3>\n'
        f"{entries}\n</section>"
    )


_SAID = (
    ("gullwatcher", "My uncle told me about this years ago, and nobody believed him either."),
    ("Old Salt", "It will never last. Mark my words, and bring an umbrella when you do."),
    ("tidepool", "For once a piece of good news. Could we have another one next week, please?"),
    ("Mrs P.", "I was there and can confirm every word, except for the bit about the weather."),
    ("northpier", "And who is going to clean up afterwards? The same three people as always."),
)
_SAID_IN_CHINESE = (
    ("老城根", "小时候听爷爷说起过这件事，没想到还能亲眼看见。"),
    ("潮水不等人", "希望能坚持下去，别过几个月又没有下文了。"),
    ("一碗鱼丸", "难得看到这样的好消息，周末带孩子去看看。"),
    ("白鹭岛民", "能不能顺便把岛上的路灯也修一修？"),
)
