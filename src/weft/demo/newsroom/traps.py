"""What crawlers get lost in: a calendar without end, and pages that are too much for a parser."""

from functools import lru_cache

from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.markup import bullets, link, page, paragraphs, text

CALENDAR = "/calendar/"
LABYRINTH_PATH = "/puzzles/labyrinth.html"
COMPLETE_PATH = "/archive/complete.html"
#: More than any sensible page has.
COMPLETE_BYTES = 20_000_000
LABYRINTH_DEPTH = 30_000
DAYS = 28


def calendar_page(issue: Issue, path: str) -> Served | None:
    """A month, `/calendar/2025/10`, or a day, `/calendar/2025/10/7`: each leads to the next."""
    parts = path.removeprefix(CALENDAR).split("/")
    if not all(part.isascii() and part.isdecimal() and len(part) < 8 for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if len(numbers) == 2 and 1 <= numbers[1] <= 12:
        return _month(issue, *numbers)
    if len(numbers) == 3 and 1 <= numbers[1] <= 12 and 1 <= numbers[2] <= DAYS:
        return _day(issue, *numbers)
    return None


def _month(issue: Issue, year: int, month: int) -> Served:
    title = f"Calendar {month}/{year}"
    days = [link(f"{CALENDAR}{year}/{month:02}/{day}", str(day)) for day in range(1, DAYS + 1)]
    before, after = _address(year, month - 1), _address(year, month + 1)
    around = f'<p class="months">{link(before, "Previous month")} {link(after, "Next month")}</p>'
    main = f"<main>\n<h1>{title}</h1>\n{bullets(days, 'days')}\n{around}\n</main>"
    return Served(page(issue, title, main).encode(), validators="none")


def _day(issue: Issue, year: int, month: int, day: int) -> Served:
    title = f"{day}/{month}/{year}"
    after = f"{CALENDAR}{year}/{month:02}/{day + 1}" if day < DAYS else _address(year, month + 1)
    main = (
        f"<main>\n<h1>{title}</h1>\n<p>Nothing is planned for this day.</p>\n"
        f"<p>{link(_address(year, month), 'Month')} {link(after, 'Next')}</p>\n</main>"
    )
    return Served(page(issue, title, main).encode(), validators="none")


def _address(year: int, month: int) -> str:
    """`month` may be 0 or 13."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return f"{CALENDAR}{year}/{month:02}"


def labyrinth_page(issue: Issue) -> Served:
    """It is nested so deeply that browsers' parsers take minutes."""
    maze = "<div>" * LABYRINTH_DEPTH + "You are out!" + "</div>" * LABYRINTH_DEPTH
    return Served(page(issue, "Labyrinth", maze).encode())


@lru_cache(maxsize=1)
def complete_page(issue: Issue) -> Served:
    """Everything that was ever printed."""
    known = [story for story in issue.plain_stories() if not story.edition]
    volume = "\n".join(
        f"<h2>{text(story.title)}</h2>\n{paragraphs(story.body.splitlines())}" for story in known
    )
    volumes = 1 + COMPLETE_BYTES // len(volume.encode())
    title = "Everything on one page"
    html = page(issue, title, f"<main>{volume * volumes}</main>")
    return Served(html.encode(), validators="none")
