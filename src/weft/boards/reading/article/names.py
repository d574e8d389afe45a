# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""Turns what pages write as author into names of people."""

import re
from collections.abc import Iterable, Iterator

from weft.boards.reading.article.sitenames import SiteNames
from weft.boards.reading.page import clean

#: What stands before names, in many languages.
_PREFIX = re.compile(
    r"(?:(?:article|story|text|words?|photos?|reviewed|written|posted|published|authored|created"
    r"|interview|recommended|submitted|started|edited|compiled|reported|contributed)\s+by\b"
    r"|(?:by|von|par|por|di|door|av|af|oleh|автор|yazan|przez|autor(?:in)?|auteur|autore|authors?"
    r"|text|redaktion|kirjoittanut|skrevet av|skriven av|escrito por|publicado por|publié par"
    r"|作\s*者|记\s*者|記\s*者|撰文|文字|文|责任编辑|責任編輯|责编|编辑|編輯)(?=[\s:：/|｜]))[\s:：/|｜]*",
    re.IGNORECASE,
)
#: Between names.
_BETWEEN = re.compile(
    r"\s*(?:[,;、，；|｜•·\n/&]|\s(?:and|und|et|y|och|og|en|with|及|和|и|e|i|ve|dan)\s)\s*",
    re.IGNORECASE,
)
#: Not between names: the dot of transcribed names, initials.
_CHINESE_DOT = re.compile(r"(?<=[\u4e00-\u9fff])[·•‧](?=[\u4e00-\u9fff])")
#: What follows a name: a role in brackets, a place, a number of articles.
_TAIL = re.compile(
    r"\s*(?:[(（\[<].*|\s[-–—]\s.*|@.*|[:：].*"
    r"|\s(?:in|for|from|at|on|via|für|para|pour|is an?|has|covers|updated|published)\s.*)$",
    re.IGNORECASE,
)
#: Words of roles, offices and organisations; a part with one of them is no name of a person.
_ROLE = re.compile(
    r"\b(?:editors?|editorial|reporters?|correspondents?|writers?|journalists?|contributors?"
    r"|columnists?|staff|team|desk|newsroom|producers?|analysts?|director|manager|officer"
    r"|specialist|president|professor|account|create"
    r"|founder|head of|chief|senior|junior|freelance|expert|consultant|member|moderator"
    r"|redakt\w*|redac\w*|redazione|réda\w*|corrispondente|korrespondent\w*|journaliste"
    r"|periodista|ph\.?\s?d|m\.?d|mba|msc|mph|rn|rd|cpa|cfa|dds|esq|news|agency|agencies|press|media"
    r"|magazine|online|inc|llc|ltd|gmbh|company|department|university|institute|association|follow|share"
    r"|subscribe|read more|minutes?|min read|updated|published|posted|comments?|photo|image|getty"
    r"|all posts|see more|about|more by|profile|view bio|read full bio|learn more|log ?in|sign ?up"
    r"|reply|joined|posts?|offline|guest"
    r"|topic|authors?|thread|starter|verified|today|yesterday)\b|^(?:[\x00-\x7f]{0,2}|jr\.?|sr\.?|iii?)$",
    re.IGNORECASE,
)
#: What Korean and Japanese pages write behind the name of a reporter.
_TITLE_BEHIND = re.compile(r"(?<=\S)\s*(?:기자|記者)$")
#: What is never a name as a whole.
_NO_NAMES = frozenset((
    "admin", "admin1", "administrator", "author", "authors", "by", "null", "none", "undefined",
    "unknown", "anonymous", "webmaster", "user", "superuser", "root", "n/a", "test", "default",
    "name", "佚名", "未知", "匿名", "本站", "原创", "转载", "网络", "互联网",
))  # fmt: skip
#: Ends of Chinese and Japanese names of organisations, and of links to sign in.
_CHINESE_OFFICE = re.compile(
    r"(?:网|网络|報|报|社|台|在线|公司|集团|中心|局|部|厅|院|政府|频道|客户端|平台|工作室|委员会|协会|日报|晚报"
    r"|编辑|记者|通讯员|来源|新闻|新聞|デジタル|オンライン|編集部|ログイン|登録)$"
)
_ADDRESS = re.compile(r"https?:|www\.|\S@\S|\.(?:com|org|net|de|cn|html?)\b|[{}<>=]")
_SIGNS = " .,-–—:：*\"'“”‘’"
_HOST = re.compile(r"\S+\.[A-Za-z]{2,3}")
#: Longer texts are no names.
MAX_LENGTH = 45
MAX_WORDS = 5
#: More than so many are the list of a site's authors.
MAX_NAMES = 20


def read_names(text: str, site: SiteNames) -> Iterator[str]:
    """The names of people in the value of a tag or in a byline: "By A and B, senior editors"."""
    return (name for name in _parts(text) if is_person(name) and not site.is_name(name))


def read_organisations(text: str) -> Iterator[str]:
    """What stands in the place of a name and is none of a person: "Reuters", "News Desk"."""
    return (name for name in _parts(text) if _is_text(name))


def _parts(text: str) -> Iterator[str]:
    text = _CHINESE_DOT.sub("\ue000", clean(text))
    if _ADDRESS.match(text):
        return
    for part in _BETWEEN.split(_without_prefix(text))[:MAX_NAMES]:
        if not _ADDRESS.search(part):
            name = _TAIL.sub("", _without_prefix(part)).replace("\ue000", "·")
            yield _TITLE_BEHIND.sub("", name.strip(_SIGNS))


def unique(names: Iterable[str]) -> list[str]:
    """Every name once, whatever the case of its letters."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name.casefold(), name)
    return list(found.values())


def is_person(text: str) -> bool:
    """Whether the text can be the name of a person."""
    return (
        _is_text(text)
        and not _ROLE.search(text)
        and not _CHINESE_OFFICE.search(text)
        and not _is_sentence(text)
        and not _HOST.fullmatch(text)
        # Numbers are in the names of users, but not beside other words.
        and not (" " in text and any(character.isdigit() for character in text))
    )


def _is_sentence(text: str) -> bool:
    """Whether more words begin with a small letter than with another one."""
    words = text.split()
    return len(words) > 1 and 2 * sum(word[0].islower() for word in words) > len(words)


def _is_text(text: str) -> bool:
    return (
        1 < len(text) <= MAX_LENGTH
        and len(text.split()) <= MAX_WORDS
        and any(character.isalpha() for character in text)
        and text.lower() not in _NO_NAMES
    )


def _without_prefix(text: str) -> str:
    while match := _PREFIX.match(text.strip(" \t\n|·•-–—/")):
        text = text.strip(" \t\n|·•-–—/")[match.end() :]
    return text.strip(" \t\n|·•-–—/")
