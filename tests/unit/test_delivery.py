"""Items reach all sinks, whatever these do meanwhile."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from buffering import item
from weft.engine.claims import delivery as module
from weft.engine.claims.delivery import Delivery
from weft.errors import SinkDownError, StoreError
from weft.sinks import KeyedItem, Refusal, SinkConfig
from weft.sinks.deadletters import DeadLetters

pytestmark = pytest.mark.timeout(20)


class Moody:
    """Raises the given errors, one for each call, and then stores."""

    def __init__(self, *problems: Exception, refused: Sequence[int] = ()) -> None:
        self.place = "moody"
        self.problems = list(problems)
        self.refused = [item(number) for number in refused]
        self.items: list[KeyedItem] = []
        self.batches = 0

    async def open(self) -> None:
        if self.problems:
            raise self.problems.pop(0)

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        if self.problems:
            raise self.problems.pop(0)
        self.batches += 1
        self.items += [each for each in items if each not in self.refused]
        return [Refusal(each, "too odd") for each in items if each in self.refused]

    async def clear(self) -> None:
        if self.problems:
            raise self.problems.pop(0)

    async def close(self) -> None: ...


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.01)


def delivery_to(*sinks: Moody, directory: Path = Path("nowhere")) -> Delivery:
    return Delivery(sinks, DeadLetters(SinkConfig(directory)))


async def test_a_sink_that_is_down_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    sink = Moody(SinkDownError("it is down"), SinkDownError("it is down"))
    delivery = delivery_to(sink)
    await delivery.store([item(1), item(2)])
    assert sink.items == [item(1), item(2)]
    assert delivery.items == 2
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [
        "it is down; the crawl waits for it, nothing is lost",
        "moody is back; the crawl goes on",
    ]


async def test_a_sink_that_is_down_does_not_keep_others_waiting() -> None:
    down, up = Moody(*[SinkDownError("it is down")] * 10_000), Moody()
    storing = asyncio.ensure_future(delivery_to(down, up).store([item(1)]))
    await asyncio.sleep(0.05)
    assert not storing.done()
    assert up.items == [item(1)]
    down.problems.clear()
    await storing
    assert down.items == up.items


async def test_a_crawl_that_is_closed_does_not_wait_forever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "CLOSING_S", 0.1)

    delivery = delivery_to(Moody(*[SinkDownError("it is down")] * 10_000))
    storing = asyncio.ensure_future(delivery.store([item(1)]))
    await asyncio.sleep(0.05)
    assert not storing.done()
    delivery.hurry()
    with pytest.raises(SinkDownError):
        await storing
    assert delivery.items == 0


async def test_who_closes_a_crawl_again_does_not_prolong_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delivery = delivery_to(Moody(*[SinkDownError("it is down")] * 10_000))
    for closing_s in (0.0, 1_000.0):
        monkeypatch.setattr(module, "CLOSING_S", closing_s)
        delivery.hurry()
    with pytest.raises(SinkDownError):
        await delivery.store([item(1)])


async def test_other_failures_are_raised_at_once() -> None:
    good, full = Moody(), Moody(StoreError("no space left"))
    with pytest.raises(StoreError, match="no space left"):
        await delivery_to(full, good).store([item(1)])
    assert good.items == [item(1)]


@pytest.mark.parametrize("is_shared", [False, True])
async def test_what_is_refused_is_written_down_once(tmp_path: Path, *, is_shared: bool) -> None:
    sink = Moody(refused=[2])
    dead_letters = DeadLetters(SinkConfig(tmp_path, is_shared=is_shared))
    delivery = Delivery([sink], dead_letters)
    for _ in range(2):
        await delivery.store([item(1), item(2), item(3)])
    await dead_letters.close()
    assert item(3) in sink.items
    assert delivery.refused == 2
    [line] = (tmp_path / "dead-letters.jsonl").read_text().splitlines()
    letter = json.loads(line)
    assert letter == {
        "sink": "moody",
        "reason": "too odd",
        "key": item(2).key.hex(),
        "page": "",
        "item": {"number": 2},
    }


async def test_a_crawl_that_starts_over_has_no_dead_letters(tmp_path: Path) -> None:
    dead_letters = DeadLetters(SinkConfig(tmp_path))
    await dead_letters.clear()
    assert not dead_letters.path.exists()
    await dead_letters.put("moody", [Refusal(item(1), "too odd")])
    await dead_letters.close()
    await dead_letters.clear()
    assert dead_letters.path.read_text() == ""


async def test_a_sink_that_is_down_is_reported_at_once_to_a_caller_without_patience() -> None:
    with pytest.raises(SinkDownError):
        await delivery_to(Moody(SinkDownError("it is down"))).open(is_patient=False)


async def test_a_crawl_does_not_begin_before_a_sink_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sink = Moody(SinkDownError("it is down"), SinkDownError("it is down"))
    delivery = delivery_to(sink)
    await delivery.open()
    sink.problems.append(SinkDownError("it is down again"))
    await delivery.clear()
    await delivery.store([item(1)])
    await delivery.close()
    assert sink.items == [item(1)]
    before = "the crawl waits for it, and begins when it is there (Ctrl-C ends it)"
    assert caplog.messages == [
        f"it is down; {before}",
        "moody is back; the crawl goes on",
        f"it is down again; {before}",
        "moody is back; the crawl goes on",
    ]


async def test_problems_are_reported_before_the_crawl_begins() -> None:
    with pytest.raises(StoreError, match="wrong password"):
        await delivery_to(Moody(), Moody(StoreError("wrong password"))).open()


async def test_after_a_crawl_every_sink_has_got_something_to_show() -> None:
    sinks = [Moody(), Moody()]
    delivery = delivery_to(*sinks)
    await delivery.open()
    await delivery.end()
    assert [sink.batches for sink in sinks] == [1, 1]
