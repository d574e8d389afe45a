"""Collects what is wrong with a file."""

from collections.abc import Iterable
from difflib import get_close_matches
from operator import itemgetter
from typing import NamedTuple, NoReturn

from weft.errors import ConfigError


class YamlPlace(NamedTuple):
    """Where something stands, from 1."""

    line: int
    column: int = 1


START = YamlPlace(1)


class Mistakes:
    """The mistakes of one file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[tuple[YamlPlace, str], None] = {}

    def add(self, place: YamlPlace, text: str) -> None:
        """The same mistake is told once, even if aliases lead to it several times."""
        self._found.setdefault((place, text))

    def fail(self, place: YamlPlace, text: str) -> NoReturn:
        """Nothing more can be found out."""
        self.add(place, text)
        self.check()
        raise AssertionError("a mistake was added")

    def check(self) -> None:
        """Raises ConfigError with all mistakes, in the order of the file."""
        if self._found:
            told = (
                f"{self._file}:{place.line}:{place.column}: {text}"
                for place, text in sorted(self._found, key=itemgetter(0))
            )
            raise ConfigError("\n".join(told))


def cure(word: str, known: Iterable[str]) -> str:
    """What to write instead of a word that nobody knows."""
    names = list(known)
    listed = ", ".join(f'"{name}"' for name in names)
    close = get_close_matches(word, names, 1)
    return f'did you mean "{close[0]}"?' if close else f"possible are {listed}"
