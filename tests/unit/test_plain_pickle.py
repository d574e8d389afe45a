"""Pickles are read without being run."""

import copyreg
import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from weft.scrapyredis.plainpickle import NotPlainError, loads

PLAIN = {
    "url": "http://a/ü",
    "body": b"\xff\x00",
    "long": "x" * 100_000,
    "raw": b"y" * 100_000,
    "numbers": [0, 1, -1, 255, 65_536, -(2**31), 2**40, 2**2_000, -(2**90), 1.5, float("inf")],
    "constants": (None, True, False),
    "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
    "headers": {b"Accept": [b"*/*", b"text/html"]},
    "by_pair": {(1, "a"): {2: {3: {}}}, None: []},
}
PLAIN["again"] = PLAIN["headers"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_is_read_as_it_is(protocol: int) -> None:
    # Before protocol 3 there were no bytes, before 4 no sets: Python wrote calls of functions.
    plain: Any = {k: v for k, v in PLAIN.items() if protocol > 2 or k not in ("body", "raw")}
    if protocol <= 2:
        del plain["headers"], plain["again"]
    if protocol >= 4:
        plain["sets"] = [{1, "a"}, set(), frozenset({2, (3, 4)})]
    if protocol >= 5:
        plain["array"] = bytearray(b"abc")
    assert loads(pickle.dumps(plain, protocol)) == plain


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


class Stateful:
    """Its state is set by the operation BUILD."""

    def __init__(self) -> None:
        self.value = 1


def evil_pickles(path: Path) -> dict[str, bytes]:
    call = f"touch {path}".encode()
    return {
        "reduce, protocol 0": pickle.dumps({"url": "http://a/", "meta": Evil(path)}, 0),
        "reduce, protocol 2": pickle.dumps({"url": "http://a/", "meta": Evil(path)}, 2),
        "reduce, protocol 5": pickle.dumps({"url": "http://a/", "meta": Evil(path)}, 5),
        "inst": b"(S'" + call + b"'\nios\nsystem\n.",
        "inst without a Python 2 string": b"(V" + call + b"\nios\nsystem\n.",
        "obj": b"(cos\nsystem\nV" + call + b"\no.",
        "global": b"cos\nsystem\n.",
        "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        "newobj": b"\x80\x02cbuiltins\nobject\n)\x81.",
        "build": pickle.dumps(Stateful()),
        "persid": b"Pevil\n.",
        "binpersid": b"\x80\x02K\x01Q.",
        "reduce of a text": b"\x80\x02X\x01\x00\x00\x00a)R.",
        "build of a dict": b"\x80\x02}}b.",
        "extension": b"\x80\x02\x82\x01.",
        "buffer": b"\x80\x05\x97.",
    }


@pytest.mark.parametrize("name", evil_pickles(Path()))
def test_nothing_that_a_pickle_asks_for_is_done(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(NotPlainError):
        loads(evil_pickles(mark)[name])
    assert not mark.exists()


def test_the_evil_pickles_are_evil(tmp_path: Path) -> None:
    """Otherwise the test above would say nothing."""
    for name in ("reduce, protocol 5", "inst", "obj"):
        mark = tmp_path / name.replace(" ", "")
        pickle.loads(evil_pickles(mark)[name])
        assert mark.exists()


def test_the_registry_of_extensions_is_not_asked() -> None:
    copyreg.add_extension("os", "system", 1)
    try:
        raw = evil_pickles(Path())["extension"]
        assert pickle.loads(raw) is os.system  # it is in Python's cache now
        with pytest.raises(NotPlainError, match="EXT1"):
            loads(raw)
    finally:
        copyreg.remove_extension("os", "system", 1)
        copyreg.clear_extension_cache()


@pytest.mark.parametrize("value", [date(2024, 2, 29), OrderedDict(a=1), Stateful(), print])
def test_an_object_is_named_in_the_error(value: Any) -> None:
    with pytest.raises(
        NotPlainError, match=type(value).__name__ if value is not print else "print"
    ):
        loads(pickle.dumps({"meta": value}))


BROKEN = {
    "nothing": b"",
    "no pickle": b"http://a/",
    "zeros": b"\0" * 100,
    "cut": pickle.dumps(PLAIN)[:-20],
    "no end": pickle.dumps({"a": 1})[:-1],
    "empty stack": b"\x80\x02.",
    "a tuple of nothing": b"\x80\x02\x86.",
    "no mark": b"\x80\x02]e.",
    "half a pair": b"\x80\x02}(K\x01u.",
    "items of a list": b"\x80\x02](K\x01K\x02u.",
    "a list as key": b"\x80\x02}]K\x01s.",
    "no such memory": b"\x80\x02h\x05.",
    "eight exabytes of text": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f.",
    "a frame of exabytes": b"\x80\x04\x95" + b"\xff" * 8 + b".",
    "a number of exabytes": b"\x80\x02\x8b\xff\xff\xff\x7f.",
    "a protocol of the future": b"\x80\xffN",
    "a string of Python 2": b"U\x01a.",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_refused(name: str) -> None:
    with pytest.raises(NotPlainError):
        loads(BROKEN[name])


# Each would take the process down, or its memory, if it were just loaded or walked through.
BOMBS = {
    "deep lists": b"\x80\x02" + b"]" * 200_000 + b"a" * 199_999 + b".",
    "deep tuples": b"\x80\x02N" + b"\x85" * 200_000 + b".",
    "a deep tuple as key": b"\x80\x02}N" + b"\x85" * 200_000 + b"Ns.",
    "a deep tuple in a set": b"\x80\x04\x8f(N" + b"\x85" * 200_000 + b"\x90.",
    "marks": b"(" * 200_000 + b".",
    "doubling": b"\x80\x02N" + b"2\x86" * 100 + b".",
    "doubling in a key": b"\x80\x02}N" + b"2\x86" * 100 + b"Ns.",
    "a list in itself": b"\x80\x02]2a.",
    "a memo of billions": b"\x80\x02}r\xff\xff\xff\x7f" + b"r\x00\xff\xff\x7f" * 9 + b"ss.",
    "many values": b"\x80\x02](" + b"N" * 1_000_000 + b"e.",
}


def test_bombs_do_not_go_off() -> None:
    """In a process of its own, with little memory."""
    code = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from test_plain_pickle import BOMBS
from weft.scrapyredis.plainpickle import NotPlainError, loads
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
for name, raw in BOMBS.items():
    try:
        loads(raw)
    except NotPlainError:
        continue
    sys.exit(name)
"""
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, (ended.returncode, ended.stderr)
