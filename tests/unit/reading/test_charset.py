# ruff: noqa: RUF001 (signs of other scripts are meant)
"""Charsets: pages that declare an encoding that they do not have, two at once, or none."""

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.boards.reading.charset import decode

#: Encodings that pages use, and sentences in a language that they are used for.
TEXTS = {
    "gb2312 gbk gb18030": [
        "港口的渡轮今天早上恢复通航，岸边等候的乘客纷纷鼓掌。",
        "市政府表示，受台风影响的道路将在三天内修复完毕。",
        "气象部门提醒市民，周末仍有大雨，请注意出行安全。",
    ],
    "big5 big5hkscs gbk": [
        "港口的渡輪今天早上恢復通航，岸邊等候的乘客紛紛鼓掌。",
        "市政府表示，受颱風影響的道路將在三天內修復完畢。",
        "氣象局提醒市民，週末仍有大雨，請注意出行安全。",
    ],
    "big5hkscs": ["佢哋話聽日嘅船會喺呢個碼頭開，嚟嘅人唔使買飛。", "我哋仲未知係咪真嘅。"],
    "shift_jis euc_jp iso2022_jp": [
        "港のフェリーは今朝、運航を再開し、岸で待っていた乗客が拍手を送った。",
        "市によると、台風で壊れた道路は三日以内に直る見込みだ。",
    ],
    "euc_kr cp949": [
        "항구의 여객선이 오늘 아침 운항을 다시 시작하자 승객들이 박수를 보냈다.",
        "시는 태풍으로 부서진 도로를 사흘 안에 고칠 계획이라고 밝혔다.",
    ],
    "cp1251 koi8_r iso8859_5 cp866": [
        "Паром в порту сегодня утром снова вышел в море, и пассажиры аплодировали.",
        "Город обещает починить дороги после урагана за три дня.",
    ],
    "cp1251 koi8_u": [
        "Пором у порту сьогодні вранці знову вийшов у море, і пасажири аплодували.",
        "Місто обіцяє відремонтувати дороги після урагану за три дні.",
    ],
    "cp1253 iso8859_7": [
        "Το πλοίο στο λιμάνι ξεκίνησε πάλι σήμερα το πρωί και οι επιβάτες χειροκρότησαν.",
        "Ο δήμος υπόσχεται να φτιάξει τους δρόμους μετά την καταιγίδα σε τρεις ημέρες.",
    ],
    "cp1254 iso8859_9": [
        "Limandaki vapur bu sabah yeniden sefere çıktı, yolcular alkışladı.",
        "Belediye, fırtınada bozulan yolları üç gün içinde onaracağını söyledi.",
    ],
    "cp1255": [
        "המעבורת בנמל חזרה לפעול הבוקר והנוסעים מחאו כפיים.",
        "העירייה הבטיחה לתקן את הכבישים שנפגעו בסערה בתוך שלושה ימים.",
    ],
    "cp1256": [
        "عادت العبارة في الميناء إلى العمل هذا الصباح وصفق الركاب لها.",
        "وعدت البلدية بإصلاح الطرق التي تضررت من العاصفة خلال ثلاثة أيام.",
    ],
    "cp1250 iso8859_2": [
        "Přívoz v přístavu dnes ráno opět vyplul a cestující tleskali.",
        "Město slibuje opravit silnice poničené vichřicí do tří dnů.",
    ],
    "cp1250": [
        "Prom w porcie dziś rano znów wypłynął w morze, a pasażerowie bili brawo.",
        "Miasto obiecuje naprawić drogi zniszczone przez wichurę w ciągu trzech dni.",
    ],
    "cp1252 iso8859_1 iso8859_15": [
        "Die Fähre im Hafen ist heute früh wieder ausgelaufen, und die Fahrgäste klatschten.",
        "Die Stadt verspricht, die vom Sturm zerstörten Straßen in drei Tagen auszubessern.",
    ],
    "cp1252": ["The ferry’s back – and “the whole town” cheered. It won’t sail tomorrow."],
    "cp1257": [
        "Prāmis ostā šorīt atkal devās jūrā, un pasažieri aplaudēja.",
        "Pilsēta sola trīs dienu laikā salabot vētrā bojātos ceļus.",
    ],
    "cp874": [
        "เรือข้ามฟากที่ท่าเรือกลับมาวิ่งเช้านี้และผู้โดยสารปรบมือ",
        "เทศบาลสัญญาว่าจะซ่อมถนนที่เสียหายจากพายุภายในสามวัน",
    ],
}  # fmt: skip
CASES = [(name, texts) for names, texts in TEXTS.items() for name in (*names.split(), "utf-8")]
DECLARED = (
    None, "utf-8", "gb2312", "GBK", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-8859-1",
    "windows-1251", "windows-1252", "windows-1256", "koi8-r", "utf-16", "base64", "no such thing",
)  # fmt: skip
CHINESE, GERMAN = "渡轮今天早上恢复通航，乘客纷纷鼓掌。", "Die Fähre fährt früh über die Förde."


def page(*sentences: str, head: str = "") -> str:
    body = "".join(f'<p class="text">{sentence}</p>\n' for sentence in sentences)
    return f"<html><head>{head}<title>1</title></head><body>{body}</body></html>"


@given(
    case=st.sampled_from(CASES),
    in_header=st.sampled_from(DECLARED),
    in_page=st.sampled_from(DECLARED),
    seed=st.integers(0, 99),
)
def test_text_is_read_whatever_is_declared(
    case: tuple[str, list[str]], in_header: str | None, in_page: str | None, seed: int
) -> None:
    encoding, sentences = case
    mixed = random.Random(seed).sample(sentences, len(sentences))
    html = page(*mixed, head=f'<meta charset="{in_page}">' if in_page else "")
    assert decode(html.encode(encoding), in_header).text == html


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("windows-1250", "Žluťoučký kůň"),
        ("windows-1251", "Привет"),
        ("gbk", "渡轮"),
        ("big5", "渡輪"),
        ("euc-kr", "안녕"),
        ("shift_jis", "港です"),
        ("iso-8859-2", "Zażółć gęślą jaźń"),
    ],
)
def test_declaration_decides_about_a_few_words(declared: str, text: str) -> None:
    html = f"<p>{text}</p>"
    assert decode(html.encode(declared), declared).text == html


def test_page_declares_the_encoding_in_an_xml_head_too() -> None:
    html = f'<?xml version="1.0" encoding="windows-1251"?><p>Да. {GERMAN[:4]}</p>'
    assert decode(html.encode("cp1251")) == (html, "cp1251")


@pytest.mark.parametrize("declared", [None, "utf-8", "gbk", "utf-16"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_byte_order_mark_wins_over_a_declaration(encoding: str, declared: str | None) -> None:
    html = page(CHINESE)
    assert decode(("\ufeff" + html).encode(encoding), declared) == (html, encoding)


def test_byte_order_mark_of_utf_8_before_another_encoding_is_only_a_hint() -> None:
    html = page(CHINESE)
    assert decode(codecs.BOM_UTF8 + html.encode("gbk")) == (html, "gb18030")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [CHINESE, GERMAN, "plain"])
def test_utf_16_is_seen_without_a_mark(encoding: str, text: str) -> None:
    assert decode(page(text).encode(encoding), "utf-8") == (page(text), encoding)


def test_declared_utf_16_without_zeros_is_not_believed() -> None:
    assert decode(page(GERMAN).encode(), "utf-16") == (page(GERMAN), "utf-8")


@pytest.mark.parametrize(
    "name",
    [
        *("base64", "hex", "rot13", "idna", "undefined", "utf-7", "cp037", "unicode_escape"),
        *("x" * 9_000, "", "\0", "../etc/passwd"),
    ],
)
def test_declared_name_that_is_no_encoding_of_pages_is_ignored(name: str) -> None:
    for encoding in ("utf-8", "cp1252"):
        assert decode(page(GERMAN).encode(encoding), name).text == page(GERMAN)


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "shift_jis", "euc_kr"])
def test_page_cut_inside_a_character_keeps_the_rest(encoding: str) -> None:
    text = {"gb18030": CHINESE, "shift_jis": "港で待った。", "euc_kr": "항구에서"}.get(
        encoding, CHINESE
    )
    text = "<p>" + 3 * text + "港"
    assert decode(text.encode(encoding)[:-1], encoding).text.startswith(text[:-1])


def test_few_broken_bytes_do_not_change_utf_8() -> None:
    html = page(*[CHINESE] * 20)
    broken = html.encode().replace("鼓".encode(), b"\xbf\xff", 3)
    assert decode(broken, "gbk").encoding == "utf-8"


def test_tiny_utf_8_page_is_no_page_in_another_declared_encoding() -> None:
    assert decode("<p>café".encode(), "iso-8859-1").text == "<p>café"
    assert decode("<p>don’t".encode(), "windows-1252").text == "<p>don’t"


@pytest.mark.parametrize("name", ["渡", "文件"])
def test_few_pairs_that_are_valid_utf_8_by_chance_are_read_as_declared(name: str) -> None:
    by_chance = "猫".encode("gbk")  # also a letter in UTF-8
    assert decode(b"<p>" + by_chance, "gbk").text == "<p>猫"
    assert decode(f"<p>{name}".encode("gbk"), "gbk").text == f"<p>{name}"


def test_escapes_switch_the_encoding_of_a_page_in_ascii() -> None:
    japanese, korean = "<p>港です", "<p>안녕하세요"
    assert decode(japanese.encode("iso2022_jp")).text == japanese
    assert decode(korean.encode("iso2022_kr"), "iso-2022-kr").text == korean
    assert decode("<p>渡轮".encode("hz"), "hz-gb-2312").text == "<p>渡轮"


@given(st.binary(max_size=300), st.sampled_from(DECLARED))
def test_any_bytes_give_a_text(junk: bytes, declared: str | None) -> None:
    assert isinstance(decode(junk, declared).text, str)
    assert isinstance(decode(b"<meta charset=gbk>\xe9" + junk, declared).text, str)
