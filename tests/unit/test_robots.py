import time

import pytest
from protego import Protego

from weft.engine.politeness.robots import MAX_BYTES, BoundedRobotParser, bounded
from weft.testing.hostile import manners

AGENT = "Weft/1"


def body_of(name: str) -> bytes:
    return b"".join(manners.ROBOTS[name].pieces()).partition(b"\r\n\r\n")[2]


def test_a_file_as_people_write_it_stays_as_it_is() -> None:
    groups = "".join(
        f"User-agent: bot{number}\nUser-agent: other{number}\nDisallow: /{number}*x$\nAllow: /\n\n"
        for number in range(300)
    )
    assert bounded(groups.encode()) == groups.encode()


def test_what_is_beyond_the_bounds_is_left_out() -> None:
    body = b"User-agent: *\nDisallow: /first\n" + b"Disallow: /x*y\n" * 100_000 + b"Allow: /last\n"
    read = bounded(body)
    assert len(read) < MAX_BYTES
    assert not Protego.parse(read.decode()).can_fetch("http://h/first", AGENT)


@pytest.mark.parametrize(
    "name", ["rules", "agents", "wildcards", "large", "lines", "binary", "nul", "utf-16", "page"]
)
def test_no_file_takes_long(name: str) -> None:
    body = body_of(name)
    started_s = time.process_time()
    parser = BoundedRobotParser(body, None)
    assert parser.allowed("http://h/good", AGENT)
    assert time.process_time() - started_s < 1
