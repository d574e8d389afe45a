"""Weather and market reports: every day the same template, filled in anew.

They look like near-duplicates of one another and are none. What happens is drawn from the date.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from zlib import crc32

_SKIES = (
    "low cloud that thins out towards noon",
    "bright spells between heavy showers",
    "a veil of high cloud and a weak sun",
    "fog in the creeks until the middle of the morning",
    "clear skies from the castle to the outer bank",
    "drizzle that comes and goes without a plan",
    "a solid grey lid with a silver rim",
    "thunder clouds over the hills",
)
_WINDS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
_STRENGTHS = ("light airs", "a gentle breeze", "a moderate breeze", "a fresh wind", "half a gale")
_WHEN = (
    *("before breakfast", "around noon", "in the early afternoon", "at tea time"),
    *("after sunset", "late in the evening"),
)
_PLACES = (
    *("Stack Point", "Gull Island", "the salt marsh", "Upper Thorn", "the pass road"),
    *("Weir Bridge", "Larch Meadow", "the mole", "Cutler's Crossing", "the spit"),
)
_ADVICE = (
    "Washing can be hung out, provided that somebody stays at home to bring it in again.",
    "Anglers may count on the hour before high water and should not count on anything else.",
    "Gardeners are advised to cover the beans and to leave the roses to their fate.",
    "Whoever has to cross the bay should take the first boat and a second jumper.",
    "Hay that is still lying on the slopes had better be turned before the dew falls.",
    "Cyclists will have it easy on the way out and should not be proud of it.",
    "It is a good day for flying kites, and a better one for watching others do it.",
)
_OUTLOOKS = (
    "pressure rises and the weekend looks dry, if the high does what it has promised",
    "a trough from the ocean brings more of the same, with gaps for a walk",
    "colder air arrives behind the front, and the first frost is possible inland",
    "it turns milder again, with mist on the water and mushrooms in the woods",
    "nothing much changes, which after this month will be welcome",
    "the models disagree, and so do the two pilots whom we have asked",
)
_GOODS = (
    *("mackerel", "wool", "barley", "oak planks", "sea salt", "apples", "rope", "copper"),
    *("honey", "coal", "tinned sardines", "rye"),
)
_REASONS = (
    "two boats had stayed in port with fouled nets",
    "a buyer from abroad cleared three warehouses in a morning",
    "the harvest beyond the hills was better than anybody had admitted",
    "the railway lowered its rates for whole wagons",
    "speculators had bought in summer and lost their nerve",
    "the cannery announced a second shift",
    "rumours of a strike turned out to be rumours",
    "the brewers filled their stores before the tax goes up",
)
_MOODS = (
    "Trading was quiet until the noon bell and hectic after it.",
    "The hall was full, the prices were firm, and the tea was cold.",
    "Few came and fewer bought, since most dealers were at the regatta.",
    "It was a day for patient people, of whom there are not many at the exchange.",
    "An early rush died away as soon as the sun came out.",
    "Nobody wanted to be the first, and then everybody wanted to be the second.",
)
_FORECASTS = (
    "Dealers expect calmer days now that the quarter is over.",
    "Brokers speak of a pause, by which they mean a fall.",
    "The next auction of timber will show whether the trend holds.",
    "Much depends on the weather, as it says in every report of this kind.",
    "The chamber sees no reason to change its forecast, which has been wrong since May.",
    "Warehouses are two thirds full, enough to last until the ice breaks.",
)


def make_report(kind: str, day: date) -> tuple[str, list[str]]:
    """Headline and paragraphs of the report of a day."""
    draw = _Draw(kind, day)
    return _weather(draw, day) if kind == "weather" else _markets(draw, day)


class _Draw:
    """Draws that are always the same for a day, in an order that does not repeat soon."""

    def __init__(self, kind: str, day: date) -> None:
        self._seed = f"{kind} {day}"
        self._count = 0

    def one(self, options: Sequence[str]) -> str:
        return options[self.number(0, len(options) - 1)]

    def some(self, options: Sequence[str], count: int) -> list[str]:
        left = list(options)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]

    def number(self, least: int, most: int) -> int:
        self._count += 1
        drawn = crc32(f"{self._seed} {self._count}".encode())
        return least + (drawn >> 8) % (most - least + 1)


def _weather(draw: _Draw, day: date) -> tuple[str, list[str]]:
    wind, later = draw.some(_WINDS, 2)
    morning, evening = draw.some(_SKIES, 2)
    here, there, far = draw.some(_PLACES, 3)
    top = draw.number(9, 24)
    tomorrow = f"{day + timedelta(days=1):%A}"
    headline = f"Weather for {_name(day)}: {draw.one(_STRENGTHS)} from the {wind}"
    return headline, [
        f"{day:%A} begins with {morning} and ends with {evening}. The wind blows from the {wind} "
        f"as {draw.one(_STRENGTHS)} and backs to the {later} {draw.one(_WHEN)}.",
        f"Temperatures climb to {top} degrees at {here} and stay at {top - draw.number(2, 6)} at "
        f"{there}. The sea has {draw.number(8, 18)} degrees, and the pilots at {far} report waves "
        f"of {draw.number(2, 30) / 10} metres.",
        f"High water is at {draw.number(0, 11)}:{draw.number(10, 59)} and stands "
        f"{draw.number(31, 58) / 10} metres above the datum. The sun shines for "
        f"{draw.number(0, 11)} hours, and {draw.number(0, 19)} millimetres of rain may fall, most "
        f"of them {draw.one(_WHEN)}.",
        f"{draw.one(_ADVICE)} {draw.one(_ADVICE)}",
        f"On {tomorrow} {draw.one(_OUTLOOKS)}. Fires on the beach remain forbidden where the "
        f"grass is dry, and the lifeboat asks that flares are kept for emergencies.",
    ]


def _markets(draw: _Draw, day: date) -> tuple[str, list[str]]:
    up, down, still, wanted = draw.some(_GOODS, 4)
    gain, loss = draw.number(2, 19), draw.number(2, 19)
    headline = f"Markets on {_name(day)}: {up} gain {gain} per cent as {down} fall"
    first, second = draw.some(_REASONS, 2)
    return headline, [
        f"Prices at the Ellery exchange moved apart on {day:%A}. The most was paid for {up}, "
        f"{gain} per cent above the day before, because {first}.",
        f"{down.capitalize()} lost {loss} per cent, since {second}. {draw.one(_MOODS)}",
        f"Of {still}, {draw.number(11, 980)} lots changed hands at {draw.number(20, 900)} a "
        f"hundredweight, hardly different from last week. There was demand for {wanted} "
        f"{draw.one(_WHEN)}, but nobody who sold.",
        f"The index of the harbour goods closed at {draw.number(1100, 1990)} points, "
        f"{draw.number(1, 60)} {draw.one(('more', 'less'))} than at the opening. The pound of "
        f"{wanted} stood at {draw.number(3, 70)} in the evening trade at {draw.one(_PLACES)}.",
        f"{draw.one(_FORECASTS)} {draw.one(_FORECASTS)} The exchange opens on "
        f"{day + timedelta(days=1):%A} at nine, and the bell will be rung by a guest.",
    ]


def _name(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B}"
