"""What is known of the pages of `fetching` from what its victims have said."""

import json
import subprocess
import time
from collections.abc import Mapping
from typing import Any, Self

import nursery
from fetching import mark


class Witness:
    def __init__(self) -> None:
        #: What each page that was added, and not finished for good, has as payload.
        self.there: dict[int, bytes] = {}
        self.finished: set[int] = set()
        #: So many claims were ended.
        self.ended = 0
        #: The call that was under way: it has happened, or it has not.
        self._maybe: list[Any] = []
        # Pages whose claims had no answer, because another server answered: the outcome counts, or
        # the page comes back with this payload.
        self._unsure: dict[int, bytes] = {}

    @property
    def added(self) -> set[int]:
        return self.finished | self.there.keys()

    @property
    def first(self) -> int:
        """The first number that was never added; nor is it about to be."""
        return max(self.added, default=-1) + 1

    def hear(self, lines: list[str], *, may_be_unsure: bool = False) -> None:
        said: list[list[Any]] = [json.loads(line) for line in lines]
        for call, answer in zip(said[::2], said[1::2], strict=False):
            word, *unsure = answer
            assert word == "ok"
            assert may_be_unsure or not unsure
            before = {number: self._payload(number) for number in unsure}
            self._note(call)
            self._unsure |= before
        self._maybe = said[-1] if len(said) % 2 else []

    def _payload(self, number: int) -> bytes:
        """Of a page in the hands of the victim."""
        return self.there[number] if number in self.there else self._unsure[number]

    def _note(self, call: list[Any]) -> None:
        word, *numbers = call
        if word == "add":
            self.there |= {number: b"" for number in numbers if number not in self.added}
        elif word == "finish":
            self._note_end(numbers)
            self.finished.update(numbers)
        elif word == "wait":
            call_number, *numbers = numbers
            self._note_end(numbers)
            self.there |= dict.fromkeys(numbers, mark(call_number))

    def _note_end(self, numbers: list[int]) -> None:
        self.ended += len(numbers)
        for number in numbers:
            self.there.pop(number, None)
            self._unsure.pop(number, None)
            self.finished.discard(number)

    def settle(self, found: Mapping[int, bytes]) -> None:
        """`found`: every page that is in a queue, claimed, or waiting, with its payload. See
        whether the call that was under way has happened, completely or not at all."""
        if not self._is_so(found):
            assert self._maybe, _difference(self.there, found)
            self._note(self._maybe)
        assert self._is_so(found), _difference(self.there, found)
        self._maybe, self._unsure = [], {}

    def _is_so(self, found: Mapping[int, bytes]) -> bool:
        came_back = {n: was for n, was in self._unsure.items() if found.get(n) == was}
        return {**self.there, **came_back} == found


def _difference(wanted: Mapping[int, bytes], found: Mapping[int, bytes]) -> str:
    lost, more = wanted.keys() - found.keys(), found.keys() - wanted.keys()
    other = [number for number in wanted.keys() & found.keys() if wanted[number] != found[number]]
    return f"lost: {sorted(lost)}; too many: {sorted(more)}; not as told: {sorted(other)}"


class Hearing:
    """A victim that was started, and what it says."""

    def __init__(self, command: list[str]) -> None:
        self.victim = nursery.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.victim.kill()
        self.victim.wait()
        if self.victim.stdout is not None:
            self.victim.stdout.close()

    def wait_for(self, until: str) -> None:
        assert self.victim.stdout is not None
        while self.victim.stdout.readline() != f"{until}\n":
            assert self.victim.poll() is None, "the victim died by itself"

    def kill(self) -> list[str]:
        """All that it has said of calls."""
        assert self.victim.poll() is None, "the victim died by itself"
        assert self.victim.stdout is not None
        self.victim.kill()
        lines = self.victim.stdout.readlines()
        return [line for line in lines if line.endswith("\n") and line != "open\n"]


def heard_before_kill(command: list[str], until: str, after_s: float) -> list[str]:
    """Start the victim, kill it some time after it said `until`; all that it has said of calls."""
    with Hearing(command) as hearing:
        hearing.wait_for(until)
        time.sleep(after_s)
        return hearing.kill()
