"""The pages of a site: HTML like that of real pages, the same for the same seed.

Each page has a title that cannot be guessed from its URL, and links in three forms: relative, from
the root, absolute. Some are on every page (navigation, footer), some twice on a page, and a few are
never followed: to other sites, to a mail address, to a place in the same page. The link to the next
page makes every page reachable.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import product
from random import Random
from typing import NamedTuple

#: Increase it when pages change, so that no older ones are taken from a cache.
FORMAT = 2
#: Pages in one directory.
SECTION = 500
#: Every n-th link in the text repeats one that the page already has.
REPEAT_EVERY = 12
#: Every n-th link in the text leads to another host, if there are several.
ABROAD_EVERY = 5

_LEXICON = """
amber anchor autumn bridge candle canyon cedar cinder copper coral crystal delta ember falcon
fennel forest garden glacier granite harbour hazel heron hollow island ivory jasper juniper
kettle lantern ledger linen lumber maple marble meadow mirror mosaic nettle north oak orchard
otter paper pebble pepper pilot plaza quarry quiet raven ribbon river saddle saffron salt shadow
silver sparrow spring stone summer thicket timber tunnel valley velvet violet walnut water
willow window winter yarrow
"""
_WORDS = tuple(_LEXICON.split())
_STYLE = ".card__body{{margin:0 auto;padding:{}px 12px;color:#3{:02x}4a}}\n"
_SCRIPT = 'window.dataLayer.push({{"event":"view","slot":{},"tags":["{}","{}"]}});\n'
#: Length of a paragraph in characters.
MARK_EVERY = 160
#: Share of a page that is style, and share that is script.
CODE_SHARE = 0.06


class StaticSite(NamedTuple):
    """What a site looks like; its hosts are addresses of this machine."""

    pages: int
    page_bytes: int
    links: int
    hosts: int = 1
    seed: int = 0

    @property
    def total(self) -> int:
        return self.hosts * self.pages

    @property
    def about(self) -> str:
        size = f"{self.page_bytes / 1000:.0f} KB with {self.links} links"
        if self.hosts == 1:
            return f"{self.pages:,} page{'s' * (self.pages > 1)} of {size}"
        return f"{self.hosts:,} hosts, {self.pages:,} pages each of {size}"

    @property
    def name(self) -> str:
        return "-".join(map(str, (FORMAT, *self)))


class Page(NamedTuple):
    host: str
    path: str
    title: str
    html: bytes


def host_name(number: int) -> str:
    """An address that needs no DNS: 127.0.0.1, 127.0.0.2, …"""
    return f"127.0.{number // 250}.{number % 250 + 1}"


class Author:
    """Writes the pages of a site that is served at `port`."""

    def __init__(self, site: StaticSite, port: int) -> None:
        self._site = site
        self._port = port
        rng = Random(site.seed)
        self._paths = [_path(rng, number) for number in range(site.pages)]
        self._titles = [_title(rng) for _ in range(site.total)]
        self._text = " ".join(rng.choices(_WORDS, k=20_000))
        self._is_small = site.links < 40

    def url(self, host: int, number: int) -> str:
        return f"http://{host_name(host)}:{self._port}{self._paths[number]}"

    def titles(self) -> dict[str, str]:
        """The title of each page, by URL."""
        return {self.url(*where): self._title(*where) for where in self._all()}

    def pages(self) -> Iterator[Page]:
        for host, number in self._all():
            html = self._html(host, number).encode()
            yield Page(host_name(host), self._paths[number], self._title(host, number), html)

    def _all(self) -> Iterator[tuple[int, int]]:
        return product(range(self._site.hosts), range(self._site.pages))

    def _title(self, host: int, number: int) -> str:
        return self._titles[host * self._site.pages + number]

    def _html(self, host: int, number: int) -> str:
        rng = Random(repr((self._site.seed, host, number)))
        title = escape(self._title(host, number))
        nav = self._fixed(0, 2 if self._is_small else 5, "nav__item")
        footer = self._fixed(1, 1 if self._is_small else 3, "footer__item")
        hrefs = self._hrefs(host, number, rng, nav.count("<a ") + footer.count("<a "))
        top = f"{_HEAD.format(title=title, code=self._code(rng))}{nav}{_MAIN.format(title=title)}"
        bottom = f"{_AFTER_MAIN}{self._outside(rng)}{footer}{_END}"
        room = self._site.page_bytes - len(top.encode()) - len(bottom.encode())
        return f"{top}{self._cards(hrefs, room, rng)}{bottom}"

    def _fixed(self, first: int, many: int, style: str) -> str:
        """Links that are on every page of a host."""
        numbers = (place % self._site.pages for place in range(first, first + many))
        items = (
            f'<li class="{style}"><a class="{style}-link" href="{self._paths[place]}">'
            f"{_WORDS[index]}</a></li>"
            for index, place in enumerate(numbers)
        )
        return f'<ul class="{style}s" role="menu">{"".join(items)}</ul>\n'

    def _outside(self, rng: Random) -> str:
        """Links that are not followed."""
        links = [
            f'<a rel="nofollow noopener" href="https://{rng.choice(_WORDS)}.example/">partner</a>',
            '<a href="#top">top</a>',
            '<a href="mailto:desk@weft.example">write to us</a>',
            '<a href="https://social.example/share?via=weft" target="_blank">share</a>',
        ]
        return f'<p class="meta">{" ".join(links[: self._outside_links])}</p>\n'

    @property
    def _outside_links(self) -> int:
        return 2 if self._is_small else 4

    def _hrefs(self, host: int, number: int, rng: Random, fixed: int) -> Sequence[str]:
        """Links in the text: the next page first, then random ones."""
        many = max(1, self._site.links - fixed - self._outside_links)
        hrefs = [self._href(host, host, (number + 1) % self._site.pages, 1)]
        for place in range(1, many):
            if place % REPEAT_EVERY == 0:
                hrefs.append(hrefs[rng.randrange(place)])
                continue
            to = rng.randrange(self._site.hosts) if place % ABROAD_EVERY == 0 else host
            hrefs.append(self._href(host, to, rng.randrange(self._site.pages), place))
        return hrefs

    def _href(self, host: int, to: int, number: int, form: int) -> str:
        if host != to or form % 3 == 0:
            return self.url(to, number)
        path = self._paths[number]
        return path if form % 3 == 1 else f"..{path}"

    def _code(self, rng: Random) -> str:
        """Style and script, which a parser has to skip."""
        most = int(self._site.page_bytes * CODE_SHARE)
        style = script = ""
        while len(style) < most:
            style += _STYLE.format(rng.randrange(40), rng.randrange(256))
        while len(script) < most:
            script += _SCRIPT.format(rng.randrange(999), rng.choice(_WORDS), rng.choice(_WORDS))
        return f"<style>\n{style}</style>\n<script>\n{script}</script>\n"

    def _cards(self, hrefs: Sequence[str], room: int, rng: Random) -> str:
        card = _SMALL_CARD if self._is_small else _CARD
        frames = [
            card.format(number=place, href=href, word=rng.choice(_WORDS), more=rng.choice(_WORDS))
            for place, href in enumerate(hrefs)
        ]
        left = max(0, room - sum(map(len, frames)) + len(frames) * len(_TEXT))
        share = left // len(frames)
        return "".join(frame.replace(_TEXT, self._some_text(share, rng)) for frame in frames)

    def _some_text(self, length: int, rng: Random) -> str:
        """Text of this length, divided into paragraphs."""
        start = rng.randrange(max(1, len(self._text) - length))
        text = self._text[start : start + max(0, length)]
        step = MARK_EVERY - len(_MARK)
        pieces = (text[place : place + step] for place in range(0, length, MARK_EVERY))
        return _MARK.join(pieces)


def _path(rng: Random, number: int) -> str:
    return f"/{number // SECTION:03d}/{'-'.join(rng.choices(_WORDS, k=3))}-{number}.html"


def _title(rng: Random) -> str:
    one, two, three, four = rng.choices(_WORDS, k=4)
    return f"{one.capitalize()} {two} & {three} {four} {rng.randrange(10**6)}"


_TEXT = "{text}"
_MARK = "</p><p>"
_HEAD = """<!DOCTYPE html>
<html lang="en" class="no-js">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width">
{code}</head>
<body id="top" class="page page--article">
<div class="wrapper"><header class="header" data-track="header">
"""
_MAIN = """</header>
<main class="main"><div class="container"><div class="row">
<h1 class="headline">{title}</h1>
"""
_SMALL_CARD = (
    '<div class="card card--{word}"><p class="card__text">{{text}} '
    '<a class="card__link" href="{href}">{more}</a></p></div>\n'
)
_CARD = (
    '<div class="card card--{word}" data-id="{number}"><div class="card__body">'
    '<h3 class="card__title"><a class="card__link" href="{href}"><span>{word} {more}</span></a>'
    '</h3><p class="card__meta"><time>{number} May</time> <b>{more}</b></p>'
    '<p class="card__text">{{text}}</p><ul class="tags"><li>{word}</li><li>{more}</li></ul>'
    "</div></div>\n"
)
_AFTER_MAIN = "</div></div></main>\n"
_END = "</div>\n</body>\n</html>\n"
