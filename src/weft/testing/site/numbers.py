"""The numbered pages: a tree that reaches every page from page 0, plus random links.

Nothing is stored per page: a page is computed from its number, its host and the options.
"""

from collections.abc import Iterator

from weft.testing.site.options import Site

_WORDS = [
    "warp",
    "and",
    "weft",
    "cross",
    "on",
    "the",
    "loom",
    "until",
    "a",
    "thread",
    "becomes",
    "a",
    "cloth",
    "that",
    "holds",
    "the",
    "spider",
    "walks",
    "its",
    "web",
    "from",
    "knot",
    "to",
    "knot",
    "and",
    "never",
    "visits",
    "one",
    "twice",
    "while",
    "the",
    "shuttle",
    "flies",
]

#: Length of every filler paragraph, tags included, so that any slice of them is valid HTML.
_PARAGRAPH_CHARS = 240
_PARAGRAPH_START, _PARAGRAPH_END = "<p>", "</p>\n"
#: Number of different starting points for the filler of a page.
_VARIANTS = 16

_RANDOM_FACTOR, _RANDOM_STEP, _RANDOM_MASK = 6364136223846793005, 1442695040888963407, 2**64 - 1


def page_path(number: int) -> str:
    return f"/p/{number}.html" if number else "/"


def page_number(path: str) -> int | None:
    """The number that `page_path` made `path` from."""
    if path == "/":
        return 0
    digits = path[3:-5]
    if path != f"/p/{digits}.html" or digits.startswith("0"):
        return None
    return _number(digits)


def _number(digits: str) -> int | None:
    return int(digits) if digits.isdecimal() and len(digits) < 19 else None


def is_nth(number: int, every: int) -> bool:
    """Whether a page is one of "every n-th page"."""
    return every > 0 and number > 0 and number % every == 0


class Numbers:
    def __init__(self, site: Site, port: int) -> None:
        self._site = site
        self._port = port
        self._title = _title_format(site.charset)
        self._words = _filler_words(_PARAGRAPH_CHARS * 2)
        self._paragraphs = _filler_paragraphs(site.size_bytes // _PARAGRAPH_CHARS + _VARIANTS)

    def paths(self) -> Iterator[str]:
        return (page_path(number) for number in range(self._site.pages))

    def page(self, host: str, path: str) -> str | None:
        number = page_number(path)
        if number is None or number >= self._site.pages:
            return None
        title = self._title.format(number=number, host=host)
        return self._filled(
            number,
            f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="{self._site.charset}">'
            f"<title>{title}</title></head>\n"
            f'<body id="top">\n<h1>{title}</h1>\n<ul>\n{self._links(number, host)}</ul>\n',
            "</body>\n</html>\n",
        )

    def redirect(self, path: str) -> str | None:
        """The target of `/r/<i>`."""
        number = _number(path[3:]) if path.startswith("/r/") else None
        if number is None or number >= self._site.pages:
            return None
        return page_path(number)

    def file(self, path: str) -> tuple[str, str] | None:
        return None

    def _filled(self, number: int, start: str, end: str) -> str:
        missing = max(0, self._site.size_bytes - len(start) - len(end))
        whole, rest = divmod(missing, _PARAGRAPH_CHARS)
        first = number % _VARIANTS
        paragraphs = self._paragraphs[first * _PARAGRAPH_CHARS : (first + whole) * _PARAGRAPH_CHARS]
        offset = number % _PARAGRAPH_CHARS
        last = self._words[offset : offset + rest]
        return f"{start}{paragraphs}<p>{last}</p>\n{end}"

    def _links(self, number: int, host: str) -> str:
        links = [
            f'<li><a href="{self._href(number, target, place)}">Page {target}</a></li>\n'
            for place, target in enumerate(self.targets(number))
        ]
        if is_nth(number, self._site.missing_every):
            links.append(f'<li><a href="/missing/{number}">Missing</a></li>\n')
        if number == 0 and self._site.cross_links:
            links += [
                f'<li><a href="http://{other}:{self._port}/">Host {other}</a></li>\n'
                for other in self._site.hosts
                if other != host
            ]
        return "".join(links)

    def targets(self, number: int) -> list[int]:
        """The pages that a page links to: its children in the tree, then random ones."""
        links, pages = self._site.links, self._site.pages
        targets = list(range(number * links + 1, min(number * links + links + 1, pages)))
        state = number
        for _ in range(links - len(targets)):
            state = (state * _RANDOM_FACTOR + _RANDOM_STEP) & _RANDOM_MASK
            targets.append((state >> 33) % pages)
        return targets

    def _href(self, number: int, target: int, place: int) -> str:
        if target == 0:
            return "/"
        if is_nth(target, self._site.redirects_every):
            return f"/r/{target}"
        form = (number + place) % 4
        if form == 0:
            return f"/p/{target}.html"
        if form == 1:
            return f"{target}.html" if number else f"p/{target}.html"
        if form == 2:
            return f"/p/{target}.html#top"
        return f"../p/{target}.html"


def _title_format(charset: str) -> str:
    title = "Page {number} of {host} · 第{number}页"
    try:
        title.encode(charset)
    except UnicodeEncodeError:
        return "Page {number} of {host}"
    return title


def _filler_words(chars: int) -> str:
    text = " ".join(_WORDS)
    return (f"{text} " * (chars // len(text) + 1))[:chars]


def _filler_paragraphs(count: int) -> str:
    chars = _PARAGRAPH_CHARS - len(_PARAGRAPH_START) - len(_PARAGRAPH_END)
    words = _filler_words(chars * 2)
    return "".join(
        # Seven does not divide the length of the text, so the paragraphs differ.
        f"{_PARAGRAPH_START}{words[n * 7 % chars :][:chars]}{_PARAGRAPH_END}"
        for n in range(count)
    )
