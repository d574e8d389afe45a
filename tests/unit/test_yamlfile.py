"""Files that people write: every mistake is told, with its line and its cure."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from weft.errors import ConfigError
from weft.yamlfile import Problem, load_yaml, read_yaml


def no_spaces(text: str) -> Iterator[Problem]:
    if " " in text:
        yield Problem("spaces are not allowed")


class Ship(msgspec.Struct, forbid_unknown_fields=True):
    length: int = 1
    flag: Annotated[str, Meta(extra={"check": no_spaces})] = ""


def one_length(ships: dict[str, Ship]) -> Iterator[Problem]:
    for name, ship in ships.items():
        if ship.length > 400:
            yield Problem("no ship is so long", name)


class Harbour(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    depth: Annotated[float, Meta(gt=0, le=50)] = 1.0
    berths: Annotated[int, Meta(ge=1)] = 1
    is_open: bool = True
    kind: Literal["sea", "river"] = "sea"
    ships: Annotated[dict[str, Ship], Meta(extra={"check": one_length})] = {}
    signs: list[str | int] = []
    code: str | None = None


def read(text: str) -> Harbour:
    return read_yaml(text.encode(), "h.yaml", Harbour)


def mistakes(text: str | bytes) -> list[str]:
    content = text.encode() if isinstance(text, str) else text
    with pytest.raises(ConfigError) as raised:
        read_yaml(content, "h.yaml", Harbour)
    return str(raised.value).splitlines()


def test_a_file_becomes_its_struct() -> None:
    text = """
name: Old harbour
depth: 12
is_open: false
kind: river
code: null
signs: [A, 5]
ships:
  anna: {length: 120}
"""
    assert read(text) == Harbour(
        name="Old harbour",
        depth=12,
        is_open=False,
        kind="river",
        signs=["A", 5],
        ships={"anna": Ship(120)},
    )


@pytest.mark.parametrize("word", ["no", "off", "y", "12:30", "2024-05-01", "1_000", "="])
def test_only_what_looks_like_no_text_to_everybody_is_no_text(word: str) -> None:
    assert read(f"name: {word}").name == word


@pytest.mark.parametrize(
    ("text", "value"), [("0x1f", 31), ("0o17", 15), ("007", 7), ("+5", 5), ("1", 1)]
)
def test_whole_numbers_are_those_of_yaml_1_2(text: str, value: int) -> None:
    assert read(f"name: x\nberths: {text}").berths == value


def test_an_alias_stands_for_what_it_names() -> None:
    ships = read("name: x\nships: {a: &s {length: 7}, b: *s}").ships
    assert ships == {"a": Ship(7), "b": Ship(7)}


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read_yaml(b"\xef\xbb\xbfname: x", "h.yaml", Harbour).name == "x"


def test_all_mistakes_are_told_at_once_in_their_order() -> None:
    text = """
nam: x
depth: deep
berths: 0
kind: see
ships:
  anna: {lenght: 5}
  berta: {length: 500, flag: a b}
  clara: {length: 500}
signs: [1.5]
berths: 3
"""
    assert mistakes(text) == [
        'h.yaml:2:1: the key "nam" is unknown; did you mean "name"?',
        'h.yaml:2:1: the key "name" is missing; add it',
        "h.yaml:3:8: depth: a number is wanted here, not a text; change or remove it",
        "h.yaml:4:9: berths: a number of at least 1 is wanted, not 0",
        'h.yaml:5:7: kind: "see" is unknown; did you mean "sea"?',
        'h.yaml:7:10: ships.anna: the key "lenght" is unknown; did you mean "length"?',
        "h.yaml:8:30: ships.berta.flag: spaces are not allowed",
        "h.yaml:9:10: ships.clara: no ship is so long",
        "h.yaml:10:9: signs[1]: a text or a whole number is wanted here, not a number; "
        "put it in quotes",
        'h.yaml:11:1: the key "berths" stands in line 4 already; keep one of them',
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the file is empty; possible keys are name, depth"),
        ("# only a comment\n", 1, "the file is empty"),
        ("- name: x", 1, "a mapping is wanted here, not a list"),
        ("name:\n\tx: 1", 2, "indent with spaces, not with tabs"),
        ("name: x\nkind: @sea", 2, "put the text in quotes"),
        ("name: *x", 1, "begins with * or &"),
        ("name: a: b", 1, 'a text with ": " in it'),
        ('name: "x', 1, "close the quotation mark"),
        ('name: "\\d"', 1, "use single quotes"),
        ('name: "\\UFFFFFFFF"', 1, "impossible number"),
        ("name: x\n---\nname: y", 2, "keep to one document"),
        ("name: !!python/name:os.system x", 1, "!!python/name:os.system are not read"),
        ("name: x\nships: {? [a] : b}", 2, "a key must be a text"),
        ("name: x\nships: {1: {}}", 2, "a text is wanted here, not a number; put it in quotes"),
        ("name: #1", 1, "what follows # is a comment: put it in quotes"),
        ("name: 5", 1, "a text is wanted here, not a number; put it in quotes"),
        ("name: x\nis_open: yes", 2, "true or false is wanted here, not a text"),
        ("name: x\nberths: true", 2, "a whole number is wanted here, not true or false"),
        ("name: x\nberths: !!int abc", 2, "this number cannot be read"),
        pytest.param(
            "name: x\nberths: " + "9" * 5000, 2, "this number cannot be read", id="digits"
        ),
        ("name: x\nsigns: A", 2, "a list is wanted here, not a text; write [ ] around it"),
        ("name: x\n\x07", 2, "a control character"),
        pytest.param("[" * 3000, 1, "nested too deep", id="brackets"),
        (b"name: x\nkind: \xff", 2, "save the file as UTF-8"),
        ("name: x".encode("utf-16"), 1, "save the file as UTF-8"),
        pytest.param(b"#" * 1_000_001, 1, "more than 1,000,000 bytes", id="bytes"),
    ],
)
def test_a_mistake_is_told_with_line_and_cure(text: str | bytes, line: int, words: str) -> None:
    [told] = mistakes(text)
    assert told.startswith(f"h.yaml:{line}:")
    assert words in told


def test_a_circle_of_aliases_ends() -> None:
    assert "ships" in mistakes("name: x\nships: &a {b: *a}")[0]


def test_aliases_cannot_make_a_short_file_endless() -> None:
    class Level(msgspec.Struct):
        names: list[list[list[list[str]]]]

    ten = ", ".join(["{}"] * 30)
    text = (
        f"a: &a [{ten.format(*['x'] * 30)}]\nb: &b [{ten.format(*['*a'] * 30)}]\n"
        f"c: &c [{ten.format(*['*b'] * 30)}]\nnames: [{ten.format(*['*c'] * 30)}]"
    )
    with pytest.raises(ConfigError, match="aliases"):
        read_yaml(text.encode(), "h.yaml", Level)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_yaml(tmp_path / "none.yaml", Harbour)


def refusal(content: bytes) -> str:
    """Empty if it can be read."""
    try:
        read_yaml(content, "h.yaml", Harbour)
    except ConfigError as error:
        return str(error)
    return ""


@given(st.text() | st.text(alphabet="name: x\n-[]{}&*!|>'\"%@#~,?0\t"))
def test_a_text_is_read_or_refused(text: str) -> None:
    told = refusal(text.encode("utf-8", "surrogatepass"))
    assert not told or all(line.startswith("h.yaml:") for line in told.split("\n"))


@given(st.binary())
def test_bytes_are_read_or_refused(content: bytes) -> None:
    told = refusal(content)
    assert not told or told.startswith("h.yaml:")
