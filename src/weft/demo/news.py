"""The news half of the demo site: three sections of fifteen articles, five to a list page."""

from datetime import date, timedelta
from html import escape
from typing import NamedTuple

from weft.demo.frame import bullets, link, list_path, page, page_links, paragraphs
from weft.demo.stories import AUTHORS, CASTS, CLOSINGS, STORIES

SECTIONS = {"town": "Town", "science": "Science", "sport": "Sport"}
PER_PAGE = 5

_NEWEST = date(2025, 3, 31)


class NewsArticle(NamedTuple):
    section: str
    path: str
    title: str
    author: str
    published: date
    paragraphs: list[str]


def articles(section: str) -> list[NewsArticle]:
    """Newest first."""
    return [_article(section, number) for number in range(len(STORIES[section]) * 3)]


def _article(section: str, number: int) -> NewsArticle:
    cycle, which = divmod(number, len(STORIES[section]))
    story, cast = STORIES[section][which], CASTS[section][cycle]
    offset = list(SECTIONS).index(section)
    published = _NEWEST - timedelta(days=number * 3 + offset)
    texts = [text.format(**cast._asdict()) for text in story.paragraphs]
    return NewsArticle(
        section,
        f"/news/{section}/{published:%Y-%m-%d}-{story.slug}.html",
        story.title.format(**cast._asdict()),
        AUTHORS[(number + offset) % len(AUTHORS)],
        published,
        [*(text[0].upper() + text[1:] for text in texts), CLOSINGS[section][number % 4]],
    )


def article_pages() -> dict[str, str]:
    made = {}
    for section in SECTIONS:
        known = articles(section)
        for number, article in enumerate(known):
            related = [known[(number + step) % len(known)] for step in (1, 5)]
            made[article.path] = _article_page(article, related)
    return made


def _article_page(article: NewsArticle, related: list[NewsArticle]) -> str:
    day = article.published.isoformat()
    head = (
        f'<meta name="author" content="{escape(article.author)}">\n'
        f'<meta property="og:type" content="article">\n'
        f'<meta property="og:title" content="{escape(article.title)}">\n'
        f'<meta property="article:published_time" content="{day}">\n'
    )
    content = f"""<article>
<h1>{escape(article.title, quote=False)}</h1>
<p class="meta">By <span class="author">{article.author}</span>,
<time datetime="{day}">{_day(article.published)}</time></p>
{paragraphs(article.paragraphs)}
</article>
<aside><h2>More from {link(f"/news/{article.section}/", SECTIONS[article.section])}</h2>
{bullets([link(other.path, other.title) for other in related], "related")}</aside>"""
    return page(article.title, content, head)


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def list_pages() -> dict[str, str]:
    made = {}
    for section, name in SECTIONS.items():
        known, folder = articles(section), f"/news/{section}/"
        last = -(-len(known) // PER_PAGE)
        for number in range(1, last + 1):
            shown = known[(number - 1) * PER_PAGE : number * PER_PAGE]
            content = f"<h1>{name}</h1>\n{teasers(shown)}\n{page_links(folder, number, last)}"
            made[list_path(folder, number)] = page(name, content)
    return made


def teasers(shown: list[NewsArticle]) -> str:
    entries = [
        f"{link(article.path, article.title)}\n"
        f'<span class="meta">{_day(article.published)}, {article.author}</span>'
        for article in shown
    ]
    return bullets(entries, "stories")
