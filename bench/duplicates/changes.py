# ruff: noqa: RUF001 (Chinese punctuation is meant)
"""What becomes of a story on its way from an agency to a page, and what only looks like that."""

import random
import re
from collections.abc import Iterator, Sequence

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")
_TYPOGRAPHY = str.maketrans(
    {"“": '"', "”": '"', "„": "«", '"': "“", "’": "'", "'": "’", "–": "-", "—": " - "}
    | {"…": "...", "，": ",", "。": "。 ", "：": ":", "「": "“", "」": "”", "（": "("}
    | {"）": ")", "！": "!", "？": "?", " ": "\u00a0"}
)


def is_cjk(text: str) -> bool:
    return 2 * len(_CJK.findall(text[:500])) > len(text[:500])


def same_story(rng: random.Random, text: str, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What was changed, and the text with that change."""
    yield "nothing", text
    yield "quotes, dashes, spaces", text.translate(_TYPOGRAPHY)
    yield "intro added", _part(rng, text, others, 0.12) + "\n" + text
    yield "box in the middle", _with_box(rng, text, others, 0.15)
    for share in (0.2, 0.35):
        yield f"{share:.0%} of paragraphs dropped", _thinned(rng, text, share)
    for share in (0.9, 0.8, 0.7, 0.6):
        yield f"cut at {share:.0%}", _cut(text, share)
    for share in (0.02, 0.05):
        yield f"{share:.0%} of words changed", _reworded(rng, text, share)
    introduced = _part(rng, text, others, 0.06) + "\n" + text
    yield "intro, cut at 80%, box", _with_box(rng, _cut(introduced, 0.8), others, 0.1)
    yield "intro, 20% dropped, words", _reworded(rng, _thinned(rng, introduced, 0.2), 0.02)


def other_story(
    rng: random.Random, text: str, others: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """What two different stories have in common, and both."""
    other, frame = (_like(rng, text, others) for _ in range(2))
    while frame == other:
        frame = _like(rng, text, others)
    size = min(len(text), len(other), len(frame))
    for share in (0.2, 0.35, 0.5):
        part = int(share * size)
        one, two = (_cut(each, (size - part) / len(each)) for each in (text, other))
        yield (
            f"a frame, {share:.0%} of the text",
            f"{one}\n{frame[:part]}",
            f"{two}\n{frame[:part]}",
        )
        yield f"background, {share:.0%} of the text", text, f"{two}\n{text[-part:]}"


def _cut(text: str, share: float) -> str:
    """The beginning of a text, to the end of a sentence."""
    kept: list[str] = []
    size = 0
    for sentence in _sentences(text):
        if kept and size + len(sentence) / 2 > share * len(text):
            break
        kept.append(sentence)
        size += len(sentence)
    return _joined(kept)


def _thinned(rng: random.Random, text: str, share: float) -> str:
    """Without so many of its paragraphs; the first one stays."""
    parts = [part for part in text.split("\n") if part.strip()]
    if len(parts) < 4:
        parts = _sentences(text)
    left = sum(map(len, parts))
    least = left * (1 - share)
    for part in rng.sample(parts[1:], len(parts) - 1):
        if left - len(part) >= 0.97 * least:
            parts.remove(part)
            left -= len(part)
    return "\n".join(parts)


def _with_box(rng: random.Random, text: str, others: Sequence[str], share: float) -> str:
    lines = text.split("\n")
    half = len(lines) // 2
    return "\n".join([*lines[:half], _part(rng, text, others, share), *lines[half:]])


def _part(rng: random.Random, text: str, others: Sequence[str], share: float) -> str:
    """Some sentences of another story, as long as a share of the text."""
    sentences = _sentences(_like(rng, text, others))
    begin = rng.randrange((len(sentences) + 1) // 2)
    return _joined(sentences[begin:])[: int(1.2 * share * len(text))]


def _like(rng: random.Random, text: str, others: Sequence[str]) -> str:
    return rng.choice([each for each in others if each != text])


def _reworded(rng: random.Random, text: str, share: float) -> str:
    if is_cjk(text):
        letters = _CJK.findall(text)
        return _CJK.sub(lambda m: rng.choice(letters) if rng.random() < share / 2 else m[0], text)
    words = text.split()
    return re.sub(r"\S+", lambda m: rng.choice(words) if rng.random() < share else m[0], text)


def _sentences(text: str) -> list[str]:
    return [part for line in text.split("\n") for part in _SENTENCE.split(line) if part]


def _joined(sentences: Sequence[str]) -> str:
    return ("" if is_cjk("".join(sentences[:3])) else " ").join(sentences)
