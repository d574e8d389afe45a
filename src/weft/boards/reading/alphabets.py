# ruff: noqa: RUF001 (letters of other scripts are meant)
"""The characters that languages are written with, to tell text from wrongly decoded bytes."""

import string
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

#: Letters outside ASCII: the frequent ones of a language or of similar ones, then the others.
_LATIN = """
äöüß é
éèàêçîô âæëïœùûüÿ
áéíóúñ ü
ãçáéíóêõ àâôúü
èàùòìé íîóú
éëïóè öüáíê
åäö éüà
æøå éèêòóôü
áðéíóúþöæ ý
ąćęłńóśźż éö
áčěéířšůýž ďňóťú
áčéíľôšťúýž äďĺňóŕ
áéíóöőúüű ä
ăâîșț şţ
čćđšž éö
āčēģīķļņšūž ō
ąčęėįšųūž é
äõöüšž é
çğıöşü âîûə
ạảấầậếềệộợớờứừựươđáàãâêôéóịíìốồổ ằẳẵắặẩẫẻẽẹểễỉĩòỏõọỗởỡùủũúụữửỳỷỹýỵăè
"""
_OTHER = """
оеаинтсрвлк мдпуяыьгзбчйхжшюцщэфъё
оаинвіерстк улмдпзяьбгйчхцжшющфєїґ
оаеіўнырстк лдцзямубпвёьгчшэжхйюф
аоиентсрвкј удплмзгбћшчцжђљњхфџ
αοιετσνηυρπ κμλςόάίέήωύδθγφχβξζψώϊϋΐΰ
יוהלאתרמבשנ םדקעפסצזחטגכךןףץ
اليمنروتبةع دسفهكقحجشصطخضذثغظءآأؤإئىپچژگک
ากนรอเงมย่ ลวทส้ัีิขฆคฅฉจชซฌญฎฏฐฑฒณดตถธบปผฝพฟภศษหฬอฮะำืึฺุูแโใไๅๆ็๊๋์ฤ
"""
#: The most frequent characters of languages with thousands of them.
_CHINESE = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所"
    "民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日"
    "那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想"
    "這為個國時來們於對會發動過說產種後學經進著電裡現實兩體應開還從業點當樣與關線內數義間機無沒結問變條質氣係軍"
)
_HIRAGANA = (
    "いうえおかがきくけげこごさしじすずせそただちっ"
    "つてでとどなにねのはばまみめもやよらりるれろわをん"
)
_KOREAN = (
    "이다는의가을에고하지를한은도사로기해인어나자서리정들있시대"
    "일부으그것수아제라보장전과만게여주상스선국동니면었원조우성구와공적"
)

#: Signs between Chinese and Japanese characters.
_WIDE_SIGNS = (
    "\u3000、。，．！？：；（）「」『』【】《》〈〉〔〕［］〜～－―・‥％＋＝／＆＠＃＊｜＜＞●○◎■□▲△▼★☆※①②③④⑤“”‘’—…"
    + "".join(chr(0xFEE0 + ord(sign)) for sign in string.ascii_letters + string.digits)
)
#: What texts of all languages contain besides letters.
SIGNS = frozenset(
    "\u00a0«»„“”‚‘’–—…·•©®™°§¶€£¥¢±×÷½¼¾²³¹¡¿ºª´№′″→←\u00ad\u200b\u200c\u200d\u200e\u200f\ufeff"
)


class Alphabet(NamedTuple):
    #: All characters that a text usually has.
    usual: frozenset[str]
    #: Those that it has most of.
    frequent: frozenset[str]
    #: The share of them in a text, at least.
    expected: float
    #: Whether the letters stand among those of ASCII.
    is_latin: bool = False


@lru_cache(1)
def alphabets() -> tuple[Alphabet, ...]:
    simplified = _rows("gb2312", range(0xB0, 0xD8))
    traditional = _rows("big5", range(0xA4, 0xC7))
    kanji = _rows("euc_jp", range(0xB0, 0xD0))
    kana = frozenset(map(chr, range(0x3041, 0x30FF)))
    hangul = _rows("euc_kr", range(0xB0, 0xC9))
    chinese = frozenset(_CHINESE + _WIDE_SIGNS)
    signs = frozenset(_WIDE_SIGNS)
    return (
        *_of_letters(_LATIN, 0.6, is_latin=True),
        *_of_letters(_OTHER, 0.55, is_latin=False),
        Alphabet(simplified | signs, chinese, 0.25),
        Alphabet(traditional | signs, chinese, 0.25),
        Alphabet(kanji | kana | signs, frozenset(_HIRAGANA + _WIDE_SIGNS), 0.35),
        Alphabet(hangul, frozenset(_KOREAN), 0.4),
    )


def _of_letters(rows: str, expected: float, *, is_latin: bool) -> Iterator[Alphabet]:
    for row in rows.strip().splitlines():
        frequent, rare = row.split()
        usual = frequent + rare + frequent.upper() + rare.upper()
        yield Alphabet(frozenset(usual), frozenset(frequent), expected, is_latin)


def _rows(encoding: str, rows: range) -> frozenset[str]:
    """The characters of some rows of a two-byte encoding, which has the usual ones first."""
    pairs = (bytes((row, cell)) for row in rows for cell in range(0x40, 0xFF))
    text = "".join(pair.decode(encoding, "ignore") for pair in pairs)
    return frozenset(character for character in text if not character.isascii())
