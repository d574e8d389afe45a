"""Regular expressions of users: checked when they are read, and stopped when they take too long.

`re` cannot be stopped. The module `regex` has the same syntax and more, and a time limit; but it
writes repeated groups out, so that `((a{1000}){1000}){1000}` would fill the memory. Such ones are
refused.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import regex  # type: ignore[import-untyped]

#: An expression may not have more parts, with those that are repeated written out.
MAX_PARTS = 50_000
MAX_LENGTH = 2_000
#: An expression sees no more of a text.
MAX_TEXT = 2_000_000
#: No more matches of an expression, or elements of a selector, are taken.
MAX_VALUES = 1_000

#: What matters for repeated groups: escapes, sets, brackets, counts.
_TOKENS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()+]|\{(\d*)(,?)\d*\}|.", re.DOTALL)
_KEPT = 500


class Pattern:
    """A compiled regular expression."""

    def __init__(self, source: str) -> None:
        """Raises ValueError if it is none, or too large."""
        self._regex = _compile(source)

    def find(self, text: str, seconds: float) -> Iterator[str]:
        """Each match: its first group, or the whole if it has none. Raises TimeoutError."""
        group = 1 if self._regex.groups else 0
        matches = self._regex.finditer(text[:MAX_TEXT], timeout=seconds)
        for match in islice(matches, MAX_VALUES):
            yield match[group] or ""

    def replace(self, template: str, text: str, seconds: float) -> str:
        """Raises TimeoutError."""
        return str(self._regex.sub(template, text[:MAX_TEXT], timeout=seconds))

    def problem_of_template(self, template: str) -> str:
        """Why matches cannot be replaced by this; empty if they can."""
        # An expression with the same groups, which is sure to match.
        names = {number: name for name, number in self._regex.groupindex.items()}
        groups = (
            f"(?P<{names[number]}>)" if number in names else "()"
            for number in range(1, self._regex.groups + 1)
        )
        try:
            regex.sub("".join(groups), template, "")
        except (regex.error, IndexError, ValueError) as error:
            return f'cannot be replaced by "{template}": {error}; write groups as \\1 or \\g<name>'
        return ""


@lru_cache(_KEPT)
def pattern(source: str) -> Pattern:
    return Pattern(source)


def problem_of_pattern(source: str) -> str:
    """Why it is no regular expression; empty if it is one."""
    try:
        pattern(source)
    except ValueError as error:
        return str(error)
    return ""


def _compile(source: str) -> "regex.Pattern":
    if len(source) > MAX_LENGTH:
        raise ValueError(f"it is longer than {MAX_LENGTH:,} characters; split it")
    if _size(source) > MAX_PARTS:
        raise ValueError(
            f"with its repeated groups written out, it has more than {MAX_PARTS:,} parts; "
            "count less in { }, and do not put + into +"
        )
    try:
        return regex.compile(source)
    except RecursionError:
        raise ValueError("its brackets are nested too deep; use fewer") from None
    except Exception as error:  # it has many
        raise ValueError(f"it is no regular expression: {error}; check brackets and \\") from error


def _size(source: str) -> int:
    """The number of parts of an expression, with those that are repeated written out."""
    # The parts in each open bracket; and those of the last part, which a count would repeat.
    sizes = [0]
    last = 0
    for token in _TOKENS.finditer(source):
        text = token[0]
        if text == "(":
            sizes.append(0)
            continue
        if text == ")" and len(sizes) > 1:
            last = sizes.pop()
        elif text == "+" or token[1]:
            # The copies beside the one that is counted: those that must be, and one for the rest.
            last *= 1 if text == "+" else max(0, int(token[1][:9]) - (not token[2]))
        else:
            last = 1
        sizes[-1] += last
    return sum(sizes)
