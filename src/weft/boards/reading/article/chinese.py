# ruff: noqa: RUF001, RUF002 (Chinese punctuation is meant)
"""Finds the authors that Chinese pages name in their text.

Such pages have no tags for it. They write 作者：张三, （记者 张三）, 文｜张三; at the end of an
article stands the editor, 责任编辑：李四, who counts if there is nobody else.
"""

import re
from collections.abc import Iterator

#: The first characters of nearly all Chinese surnames.
_SURNAMES = (
    "常王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許邓鄧韩韓冯馮曹彭曾肖萧蕭田董袁潘于"
    "蒋蔣蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鍾谭譚陆陸汪范范金石廖贾賈夏韦韋付傅方白邹鄒孟熊秦邱江尹薛闫閆段雷侯龙"
    "龍史陶黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴覃武戴莫孔向汤湯温溫康施文牛樊葛邢安齐齊易乔喬伍庞龐颜顏倪庄莊聂聶章鲁魯岳翟"
    "殷詹申欧歐耿关關兰蘭焦俞左柳甘祝包宁寧尚符舒阮柯纪紀梅童凌毕畢单單季裴霍涂成苗谷曲盛冉蓝藍路游辛靳管柴蒙鲍鮑华華"
    "喻祁蒲房滕屈饶饒解牟艾尤阳陽时時穆农農司卓古吉缪繆简簡车車项項连連芦蘆麦麥褚娄婁窦竇戚岑景党黨宫宮费費卜冷晏席卫衛"
    "米柏宗瞿桂全佟应應臧闵閔苟邬鄔边邊卞姬师師和仇栾欒隋商刁沙荣榮巫寇桑郎甄丛叢仲虞敖巩鞏明佘池查麻苑迟遲邝鄺官封"
    "上欧诸司令皇尉慕"
)
_NAME = r"[\u4e00-\u9fff·]{2,8}"
_PERSON = rf"[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}"
_MORE = r"(?:[ \u3000、，,]{1,3}"
_GAP = r"[ \t\u3000\xa0]*"
#: The ways to name an author, the most reliable first.
_RULES = tuple(
    re.compile(rule)
    for rule in (
        rf"作{_GAP}者{_GAP}[:：]\s*(?P<names>(?:{_NAME}|[A-Za-z][\w.-]{{1,20}}){_MORE}{_PERSON}(?![\u4e00-\u9fff])){{0,3}})",
        rf"(?:^|\n)(?:撰?文|撰稿|采写){_GAP}[/／|｜:：丨]\s*(?P<names>{_NAME}{_MORE}{_PERSON}(?![\u4e00-\u9fff])){{0,3}})",
        rf"记{_GAP}者{_GAP}[:：]\s*(?P<names>{_PERSON}(?![\u4e00-\u9fff]){_MORE}{_PERSON}(?![\u4e00-\u9fff])){{0,3}})",
        rf"[(（【][^()（）\n]{{0,20}}(?:记者|記者|通讯员){_GAP}[:：]?\s*(?P<names>[\u4e00-\u9fff·]{{2,4}}{_MORE}{_PERSON}(?![\u4e00-\u9fff])){{0,3}})[^()（）\n]{{0,20}}[)）】]",
        rf"(?:记者|記者)(?:{_GAP}|[:：]\s*)(?P<names>{_PERSON}{_MORE}{_PERSON}(?![\u4e00-\u9fff])){{0,3}})(?=\s|[)）】,，/／]|报道|摄|文|$)",
        r"由(?P<names>[\w·]{2,12}?)(?:张贴|发表|发布|投稿)",
        r"\n(?P<names>[\w·]{2,16})\s+(?:发表于|发布于|发表在|写于)",
    )
)
#: Names alone in brackets at the end of a paragraph, and the editor: good enough if all else fails.
_LAST_RULES = tuple(
    re.compile(rule)
    for rule in (
        rf"[(（]{_GAP}(?P<names>{_PERSON}{_MORE}{_PERSON}){{0,3}}){_GAP}[)）]\s*(?:\n|$)",
        rf"(?:责任编辑|責任編輯|责编|编辑|編輯){_GAP}[:：]\s*(?P<names>{_NAME})",
    )
)
_HAN = re.compile("[\u4e00-\u9fff]")
#: A text with a smaller share of Chinese characters is not searched.
MIN_HAN = 0.1
#: The beginning of a page tells whether it is Chinese.
SAMPLE = 3000


def find_chinese_authors(near: str, whole: str) -> Iterator[list[str]]:
    """`near`: the text near the title. It is searched first, then all of the page."""
    sample = near or whole[:SAMPLE]
    if len(_HAN.findall(sample)) < MIN_HAN * len(sample):
        return
    for text, rules in ((near, _RULES), (whole, _RULES), (whole, _LAST_RULES)):
        for rule in rules:
            yield [_listed(match["names"]) for match in rule.finditer(text)][:1]


def _listed(names: str) -> str:
    return re.sub(r"[ \u3000]+", "、", names.strip())
