# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""Stories as programs write them: many from one template, each about something else.

They are the trap for whoever looks for near-duplicates: most of their words are the same.
"""

import random
import re
from collections.abc import Callable, Iterator

#: What a word in braces stands for; a number of digits after it makes it another one.
_CHOICES = {
    "town": "Ashford Brackley Corby Dunmore Elham Fenwick Garth Hexton Ilmer Jarrow Kelso",
    "name": "Baker Hill Stone Wood Lake Frost March Young Fisher Mason Carter",
    "firm": "Alder Birch Cedar Dogwood Elm Fir Hazel Juniper",
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "sky": "cloudy sunny dry wet foggy bright windy",
    "wind": "north south east west",
    "move": "up down",
    "ort": "Altheim Bergen Coburg Dornau Eschwege Fulda Gronau Husum",
    "tag": "Montag Dienstag Mittwoch Donnerstag Freitag",
    "himmel": "sonnig bewölkt regnerisch trocken",
    "城市": "青山 白河 临江 安平 长宁 东丰 南召 西和",
    "公司": "华星科技 东方钢铁 南海食品 北辰能源 中原汽车 西岭医药",
    "天": "晴 阴 雨 雪",
    "风": "东 南 西 北",
    "涨跌": "上涨 下跌",
}
_NUMBERS: dict[str, Callable[[random.Random], object]] = {
    "degrees": lambda rng: rng.randint(-8, 34),
    "small": lambda rng: rng.randint(1, 12),
    "percent": lambda rng: rng.randint(1, 99),
    "price": lambda rng: round(rng.uniform(3, 400), 2),
    "large": lambda rng: rng.randint(200, 90_000),
}
_TEMPLATES = {
    "weather": """
The weather in {town} will be {sky} on {day}, with temperatures between {degrees} and {degrees2}
degrees, the weather service said. The wind comes from the {wind} and reaches up to {percent}
kilometres an hour in the afternoon. During the night the temperature falls to {degrees3} degrees.
The probability of rain is {percent2} per cent. Those who have to drive should allow more time,
because roads may be slippery in the early morning, above all on bridges and in woods. On the
following days it stays {sky2}. The weather service expects highs of {degrees4} degrees at the
weekend. It asks everybody to look at the warnings on its page before longer trips, and to bring in
what the wind could carry away.
""",
    "shares": """
Shares of {firm} traded {move} by {small} per cent on {day}. The stock opened at {price} and reached
{price2} during the session, on a volume of {large} shares. The company has a market value of
{large2} million, a price-to-earnings ratio of {percent} and a beta of {small2}. Its moving average
of fifty days is {price3}, that of two hundred days is {price4}. The company last published its
quarterly results on {day2}. It reported earnings of {price5} per share for the quarter, while
analysts had expected {price6}. Institutions own {percent2} per cent of the stock. Analysts see it
at {price7} on average; {small3} of them recommend buying it, {small4} holding it. This story was
written by a program from market data and checked by the desk. It is no advice to buy or to sell.
The value of investments can fall as well as rise, and past performance is no guide to the future.
Who wants to invest should ask an independent adviser who knows their circumstances, and should
never invest money that is needed soon.
""",
    "match": """
{town} beat {town2} on {day} in front of {large} spectators. {name} opened the scoring in minute
{percent}, after a long pass of {name2} that the defence did not reach. The visitors had the better
chances before the break, but {name3} in goal saved twice. After the break {name2} made it two in
minute {percent2}. {name4} was sent off after his second foul in minute {percent3}. {town} now has
{percent4} points and is in place {small} of the table. The next match is at {town3} on {day2}.
""",
    "police": """
A {percent}-year-old driver was injured in an accident near {town} on {day}. According to the police
the car left the road at about {small} o'clock and hit a tree. The driver was taken to hospital by
ambulance. The road was closed for {small2} hours. The damage is estimated at {large} euros. The
police ask witnesses who have seen the accident, or who can say something about how the car was
driven before it, to call the station in {town} or any other police station.
""",
    "Wetter": """
In {ort} wird es am {tag} {himmel} bei Höchstwerten von {degrees} Grad, wie der Wetterdienst
mitteilte. Der Wind weht mit bis zu {percent} Kilometern pro Stunde. In der Nacht kühlt es auf
{degrees2} Grad ab, die Wahrscheinlichkeit für Regen liegt bei {percent2} Prozent. Am Wochenende
bleibt es dabei, erwartet werden dann {degrees3} Grad. Autofahrer sollten auf den Straßen vorsichtig
sein, denn vor allem am Morgen kann es auf Brücken und in Wäldern glatt werden. Vor längeren Fahrten
lohnt sich ein Blick auf die Warnungen des Dienstes, die alle zehn Minuten erneuert werden.
""",
    "股票": """
{公司}今日开盘报{price}元，截至收盘报{price2}元，{涨跌}{small}%，成交额{large}万元，换手率{small2}%，
总市值{price3}亿元。资金流向数据方面，主力资金净流入{large2}万元，占总成交额{percent}%，游资资金净流出
{large3}万元，占总成交额{percent2}%。该股最近九十天内共有{small3}家机构给出评级，买入评级{small4}家，
过去九十天内机构目标均价为{price4}元。以上内容由本站根据公开信息整理，由算法生成，与本站立场无关，
本站力求但不保证该信息的准确性、完整性、有效性、及时性，不构成投资建议，如有任何问题请与我们联系。
投资有风险，决策须谨慎。
""",
    "天气": """
{城市}市气象台预计，{城市}今天白天{天}转多云，最高气温{degrees}度，夜间最低气温{degrees2}度，{风}风{small}级，
降水概率{percent}%。未来三天气温在{degrees3}度到{degrees4}度之间，早晚温差较大，市民外出请注意增减衣物。
气象部门提醒，近期空气干燥，请注意用火用电安全，驾车出行请控制车速，保持车距，注意交通安全。
""",
}


def template_stories(rng: random.Random, count: int) -> Iterator[tuple[str, list[str]]]:
    """The name of each template, with so many stories of it."""
    for name, template in _TEMPLATES.items():
        yield name, [_filled(rng, template) for _ in range(count)]


def _filled(rng: random.Random, template: str) -> str:
    values: dict[str, str] = {}

    def value(slot: re.Match[str]) -> str:
        if slot[0] not in values:
            made = _NUMBERS.get(slot[1])
            values[slot[0]] = str(made(rng) if made else rng.choice(_CHOICES[slot[1]].split()))
        return values[slot[0]]

    return re.sub(r"\{(\w+?)\d*\}", value, template)
