"""The contract of indexes of near-duplicates, on every backend."""

import asyncio
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from redis import Redis

from servers import Kit, Servers, all_keys, emptied, nodes
from weft.boards.duplicates import (
    DUPLICATES_FILE,
    DuplicateIndex,
    Signature,
    forget_duplicates,
    open_duplicates,
    sign,
)
from weft.boards.duplicates.base import MAX_ARTICLES, MAX_PER_MARK
from weft.boards.duplicates.rule import DEFAULT_RULE, is_duplicate
from weft.boards.duplicates.signature import BITS, MARKS, MAX_SIZE
from weft.errors import StoreError

#: Bits in which sketches differ if the rule is just met, or just not.
LIMITS = [
    BITS // 2 * (100 - least) // 100
    for least in (DEFAULT_RULE.resemblance, DEFAULT_RULE.containment, DEFAULT_RULE.closeness)
]


def signed(text: str, title: str = "") -> Signature:
    signature = sign(text, title)
    assert signature is not None
    return signature


def url(number: int) -> str:
    return f"https://site{number % 3}.example/{number}.html"


def altered(rng: random.Random, signature: Signature, bits: int) -> Signature:
    """With so many other bits in its sketch."""
    mask = sum(1 << bit for bit in rng.sample(range(BITS), bits))
    return Signature(signature.size, signature.facts, signature.marks, signature.sketch ^ mask)


def anything(rng: random.Random) -> Signature:
    """Any signature, the extreme ones more often."""
    size = rng.choice([0, 1, 2, 40, 300, 5_000, 40_000, MAX_SIZE])
    facts = rng.choice([0, 1 << 63, (1 << 64) - 1, 1 << rng.randrange(64), rng.getrandbits(64)])
    marks = tuple(rng.choice([0, 2**31, 2**32 - 1, rng.getrandbits(32)]) for _ in range(MARKS))
    sketch = rng.choice([0, (1 << BITS) - 1, rng.getrandbits(BITS), rng.getrandbits(BITS)])
    return Signature(size, facts, marks, sketch)


def resembling(rng: random.Random, signature: Signature) -> Signature:
    """One that just is a duplicate of it, or just is not."""
    bits = rng.choice([0, *(limit + rng.randint(-2, 2) for limit in LIMITS), BITS])
    other = altered(rng, signature, bits)
    size = rng.choice([other.size, *(other.size * part // 100 for part in (60, 65, 80))])
    facts = rng.choice([other.facts, other.facts & rng.getrandbits(64), rng.getrandbits(64)])
    marks = rng.choice([other.marks, other.marks, (*other.marks[:-1], other.marks[-1] ^ 1 << 28)])
    return Signature(size, facts, marks, other.sketch)


def pair_of(rng: random.Random, number: int) -> tuple[Signature, Signature]:
    first = anything(rng)
    marks = (number, *(number + (place << 29) for place in range(4, 8)))
    one = Signature(first.size, first.facts, marks, first.sketch)
    return one, resembling(rng, one)


def story(rng: random.Random, *marks: int) -> Signature:
    return Signature(300, 0, marks, rng.getrandbits(BITS))


def stories(rng: random.Random, number: int) -> list[Signature]:
    """That have nothing in common."""
    return [story(rng, *range(5 * n, 5 * n + 5)) for n in range(number)]


def lines_until_killed(code: str, number: int) -> list[bytes]:
    """What a program prints until it is killed, which is soon after so many lines."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(number)]
        process.kill()
        lines += process.stdout.readlines()
    return [line for line in lines if line.endswith(b"\n")]


class DuplicatesContract:
    """What every index does."""

    def make(self, max_articles: int = MAX_ARTICLES) -> DuplicateIndex:
        """Another opening of the same index."""
        raise NotImplementedError

    async def test_the_same_story_on_another_page_repeats_the_first(self) -> None:
        text = " ".join(f"word{number}" for number in range(200))
        longer = f"What happened before. {text} And what was said after that."
        other = " ".join(f"other{number}" for number in range(200))
        async with self.make() as index:
            assert await index.meet([]) == []
            assert await index.meet([(url(1), signed(text))]) == [None]
            assert await index.meet([(url(2), signed(other))]) == [None]
            assert await index.meet([(url(3), signed(longer))]) == [url(1)]
            assert await index.meet([(url(4), signed(other))]) == [url(2)]

    async def test_articles_of_one_call_repeat_each_other(self) -> None:
        same = signed("one " * 30 + "two " * 30)
        async with self.make() as index:
            assert await index.meet([(url(n), same) for n in range(3)]) == [None, url(0), url(0)]

    async def test_an_article_that_is_met_again_gets_the_same_answer(
        self, rng: random.Random
    ) -> None:
        first = story(rng, 1, 2, 3, 4, 5)
        copy = altered(rng, first, 10)
        new = story(rng, 6, 7, 8, 9, 10)
        async with self.make() as index:
            assert await index.meet([(url(1), first), (url(2), copy)]) == [None, url(1)]
            again = [
                (url(2), copy),
                (url(1), first),
                (url(1), copy),
                (url(2), new),
                (url(2), first),
            ]
            assert await index.meet(again) == [url(1), None, None, url(1), url(1)]
        async with self.make() as index:
            assert await index.meet(again) == [url(1), None, None, url(1), url(1)]

    async def test_what_repeats_a_repetition_repeats_the_original(self, rng: random.Random) -> None:
        first = story(rng, 1, 2, 3, 4, 5)
        copy = Signature(300, 0, (5, 6, 7, 8, 9), altered(rng, first, 20).sketch)
        of_copy = Signature(300, 0, (9, 10, 11, 12, 13), altered(rng, copy, 20).sketch)
        alike = Signature(300, 0, (9, 20, 21, 22, 23), altered(rng, copy, 60).sketch)
        async with self.make() as index:
            met = [(url(1), first), (url(2), copy), (url(3), of_copy), (url(4), alike)]
            # The last resembles the copy as much as a duplicate of an original would have to.
            assert await index.meet(met) == [None, url(1), url(1), None]
            assert is_duplicate(copy, alike)

    async def test_the_most_similar_of_several_counts(self, rng: random.Random) -> None:
        copy = story(rng, 1, 2, 3, 4, 5)
        originals = [
            Signature(300, 0, (mark, 6, 7, 8, 9), altered(rng, copy, bits).sketch)
            for mark, bits in ((1, 70), (2, 40), (3, 75))
        ]
        async with self.make() as index:
            met = [(url(n), each) for n, each in enumerate([*originals, copy], 1)]
            assert await index.meet(met) == [None, None, None, url(2)]

    async def test_articles_without_a_common_mark_are_not_compared(
        self, rng: random.Random
    ) -> None:
        first = story(rng, 1, 2, 3, 4, 5)
        async with self.make() as index:
            same = Signature(300, 0, (6, 7, 8, 9, 10), first.sketch)
            assert await index.meet([(url(1), first), (url(2), same)]) == [None, None]

    async def test_short_texts_repeat_only_what_is_equal_with_its_title(self) -> None:
        texts = [("Please log in.", "A"), ("Please log in.", "B"), ("please log in", "A!")]
        async with self.make() as index:
            met = [(url(at), signed(*each)) for at, each in enumerate(texts)]
            assert await index.meet(met) == [None, None, url(0)]

    async def test_it_decides_as_the_rule_does(self, rng: random.Random) -> None:
        """On pairs that have marks only with each other."""
        pairs = [pair_of(rng, number) for number in range(600)]
        wanted = [is_duplicate(*pair) for pair in pairs]
        assert 120 < sum(wanted) < 480
        async with self.make() as index:
            for at, (pair, is_same) in enumerate(zip(pairs, wanted, strict=True)):
                first, second = url(2 * at), url(2 * at + 1)
                answers = await index.meet([(first, pair[0]), (second, pair[1])])
                assert answers == [None, first if is_same else None], pair

    async def test_what_was_not_met_for_longest_is_forgotten(self, rng: random.Random) -> None:
        made = stories(rng, 6)
        async with self.make(max_articles=5) as index:
            await index.meet([(url(n), each) for n, each in enumerate(made[:5])])
            # The first is met again, the second is repeated; the next two have to go.
            assert await index.meet([(url(0), made[0]), (url(11), made[1])]) == [None, url(1)]
            await index.meet([(url(5), made[5])])
            assert await index.meet([(url(20), made[0])]) == [url(0)]
            assert await index.meet([(url(21), made[1])]) == [url(1)]
        async with self.make(max_articles=5) as index:
            assert await index.meet([(url(30), made[2])]) == [None]
            assert await index.meet([(url(31), made[3])]) == [None]

    async def test_an_original_that_was_forgotten_does_not_repeat_itself(
        self, rng: random.Random
    ) -> None:
        first = story(rng, 1, 2, 3, 4, 5)
        copy = Signature(300, 0, (5, 6, 7, 8, 9), first.sketch)
        others = [story(rng, *range(n, n + 5)) for n in (100, 200)]
        async with self.make(max_articles=3) as index:
            assert await index.meet([(url(1), first), (url(2), copy)]) == [None, url(1)]
            assert await index.meet([(url(3), others[0]), (url(2), copy)]) == [None, url(1)]
            # Now the original has gone, and what repeats it has not.
            assert await index.meet([(url(4), others[1])]) == [None]
            assert await index.meet([(url(5), copy)]) == [url(1)]
            assert await index.meet([(url(1), first)]) == [None]

    async def test_only_the_last_are_found_by_a_mark_that_very_many_have(
        self, rng: random.Random
    ) -> None:
        """Such as articles that end with the same notice. Repeated ones stay."""
        made = [story(rng, 7, n, n, n, n) for n in range(1_000, 1_003 + MAX_PER_MARK)]
        again = [Signature(300, 0, (7, 0, 0, 0, 0), each.sketch) for each in made]
        async with self.make() as index:
            await index.meet([(url(n), each) for n, each in enumerate(made[:-2])])
            assert await index.meet([(url(100), again[1])]) == [url(1)]
            await index.meet([(url(500 + n), each) for n, each in enumerate(made[-2:])])
            assert await index.meet([(url(101), again[2])]) == [None]
            assert await index.meet([(url(102), again[1])]) == [url(1)]
            # By its other marks it is found.
            assert await index.meet([(url(103), made[3])]) == [url(3)]

    async def test_several_have_it_open_at_once(self, rng: random.Random) -> None:
        all_of_them = stories(rng, 20)

        async def work(number: int) -> list[str | None]:
            async with self.make() as index:
                answers: list[str | None] = []
                for n, each in enumerate(all_of_them):
                    answers += await index.meet([(url(100 * number + n), each)])
                return answers

        told = await asyncio.gather(*map(work, range(4)))
        for n, of_story in enumerate(zip(*told, strict=True)):
            [original] = set(of_story) - {None}
            assert original in [url(100 * number + n) for number in range(4)]
            assert of_story.count(None) == 1

    async def test_what_is_forgotten_is_new_again(self) -> None:
        text = signed("some words " * 5)
        async with self.make() as index:
            assert await index.meet([(url(1), text)]) == [None]
            await index.forget()
            assert await index.meet([(url(2), text), (url(1), text)]) == [None, url(2)]
            await index.forget()
            await index.forget()
            assert await index.meet([(url(1), text)]) == [None]

    async def test_urls_of_any_kind_come_back(self) -> None:
        urls = [
            "https://例え.example/新闻?a='%22\"",
            "x" * 70_000,
            "https://a/\n",
            "https://b/ \0c",
        ]
        async with self.make() as index:
            for at, each in enumerate(urls):
                text = signed(f"A short text {at}.")
                assert await index.meet([(each, text), (url(at), text)]) == [None, each]


class TestSqliteDuplicates(DuplicatesContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.directory = tmp_path / "job"
        self.path = self.directory / DUPLICATES_FILE

    def make(self, max_articles: int = MAX_ARTICLES) -> DuplicateIndex:
        return open_duplicates(self.directory, "job", max_articles=max_articles)

    async def test_what_is_confirmed_survives_kill_9(self) -> None:
        """A process that does nothing but meet articles dies at any instruction."""
        code = f"""
import asyncio, itertools
from pathlib import Path
from weft.boards.duplicates import Signature, open_duplicates

async def main():
    async with open_duplicates(Path({str(self.directory)!r}), "job", max_articles=50) as index:
        for number in itertools.count():
            story = Signature(300, 0, (number,) * 5, number)
            await index.meet([(f"https://a/{{number}}", story), (f"https://b/{{number}}", story)])
            print(number, flush=True)

asyncio.run(main())
"""
        lines = await asyncio.to_thread(lines_until_killed, code, 100)
        confirmed = int(lines[-1])
        async with self.make(max_articles=50) as index:
            for number in range(confirmed - 20, confirmed + 1):
                again = Signature(300, 0, (number,) * 5, number)
                assert await index.meet([(f"https://b/{number}", again)]) == [f"https://a/{number}"]
        assert self.count("articles") == 50

    async def test_what_is_forgotten_leaves_nothing_behind(self, rng: random.Random) -> None:
        async with self.make(max_articles=10) as index:
            for n, each in enumerate(stories(rng, 30)):
                await index.meet([(url(n), each), (url(100 + n), each)])
            assert self.count("articles") == 10
            assert self.count("marks") == 5 * 10
            await forget_duplicates(self.directory, "job")
            assert self.count("articles") == self.count("marks") == 0

    async def test_forgetting_what_was_never_there_makes_no_file(self) -> None:
        await forget_duplicates(self.directory, "job")
        assert not self.directory.exists()

    async def test_a_file_that_is_no_database_is_told(self) -> None:
        self.directory.mkdir()
        self.path.write_bytes(b"no database" * 1000)
        with pytest.raises(StoreError, match=r"is not a file of duplicates.* and go on"):
            async with self.make():
                pass

    def count(self, table: str) -> int:
        with closing(sqlite3.connect(self.path)) as file:
            [(number,)] = file.execute(f"SELECT count(*) FROM {table}")
        return int(number)


class TestRedisDuplicates(DuplicatesContract):
    SETUP: ClassVar[str] = "redis"

    @pytest.fixture(autouse=True)
    def _place(self, servers: Servers) -> Iterator[None]:
        with emptied(servers.get(self.SETUP)) as kit:
            self.kit: Kit = kit
            yield

    def make(self, max_articles: int = MAX_ARTICLES) -> DuplicateIndex:
        return open_duplicates(self.kit.url, "job", max_articles=max_articles)

    async def test_it_answers_as_a_file_does(self, rng: random.Random, tmp_path: Path) -> None:
        """Any articles, many of which repeat others, are met again, and are forgotten."""
        known = [(url(n), anything(rng)) for n in range(10)]
        answers = set()
        async with self.make(60) as index, open_duplicates(tmp_path, "", max_articles=60) as file:
            for number in range(10, 400):
                again, (_, like) = rng.choices(known[-100:], k=2)
                other = resembling(rng, like)
                marks = (*other.marks[:3], *rng.choice([other.marks[3:], anything(rng).marks[3:]]))
                new = (url(number), Signature(other.size, other.facts, marks, other.sketch))
                told = await index.meet([again, new])
                assert told == await file.meet([again, new])
                answers.update(told)
                known.append(new)
        assert len(answers) > 5

    async def test_what_is_forgotten_leaves_nothing_behind(self, rng: random.Random) -> None:
        async with self.make(max_articles=10) as index:
            for n, each in enumerate(stories(rng, 30)):
                await index.meet([(url(n), each), (url(100 + n), each)])
            assert self.ask("HLEN", "weft:{job}:duplicates") == 10
            assert self.ask("ZCARD", "weft:{job}:duplicates:met") == 10
            marks = [key for key in all_keys(self.kit) if ":marks:" in key]
            assert sum(self.ask("HLEN", key) for key in marks) == 5 * 5
        await forget_duplicates(self.kit.url, "job")
        assert all_keys(self.kit) == []

    async def test_jobs_have_their_own_articles(self) -> None:
        text = signed("a text")
        async with self.make() as index, open_duplicates(self.kit.url, "other") as other:
            assert await index.meet([(url(1), text)]) == [None]
            assert await other.meet([(url(2), text)]) == [None]
            await other.forget()
            assert await index.meet([(url(3), text)]) == [url(1)]

    async def test_another_article_with_the_same_id_takes_its_place(self) -> None:
        """It happens once in a hundred million times."""
        one, two = signed("one text"), signed("another text")
        articles = "weft:{job}:duplicates"
        async with self.make() as index:
            await index.meet([(url(1), one)])
            [(number, record)] = self.ask("HGETALL", articles).items()
            self.ask("HSET", articles, number, record.replace(b"/1.html", b"/9.html"))
            assert await index.meet([(url(1), two), (url(2), two)]) == [None, url(1)]
            assert await index.meet([(url(3), one)]) == [None]

    def ask(self, command: str, key: str, *rest: bytes) -> Any:
        [holder] = (node for node in nodes(self.kit) if key in node.ask("KEYS", "*"))
        with Redis(port=holder.port) as client:  # what it answers is no text
            return client.execute_command(command, key, *rest)


class TestClusterDuplicates(TestRedisDuplicates):
    SETUP = "cluster"


class TestValkeyDuplicates(TestRedisDuplicates):
    SETUP = "valkey"
