from pathlib import Path

import pytest

from weft.errors import ConfigError
from weft.frontier import parse_store


@pytest.mark.parametrize(
    ("store", "path"),
    [
        ("rocks:///data/job", "/data/job"),
        ("rocks://job", "job"),
        ("rocks://a/b", "a/b"),
        ("ROCKS://Job", "Job"),
        ("rocks:///100%/what?/#1", "/100%/what?/#1"),
        ("rocks://[x", "[x"),
    ],
)
def test_an_embedded_store_is_a_directory(store: str, path: str) -> None:
    assert parse_store(store).directory == Path(path)
    assert not parse_store(store).is_shared


@pytest.mark.parametrize(
    "store",
    [
        "redis://h",
        "redis://h:1/0",
        "rediss://h/0",
        "unix:///run/redis.sock?db=1",
        "redis+sentinel://a:1,b:2/master/0",
        "redis+cluster://h:1",
    ],
)
def test_a_server_is_shared(store: str) -> None:
    assert parse_store(store).is_shared
    assert parse_store(store).url == parse_store(store).place == store


def test_a_password_is_not_shown() -> None:
    assert parse_store("redis://me:secret@h/0").place == "redis://***@h/0"
    with pytest.raises(ConfigError) as caught:
        parse_store("mysql://me:secret@h/0")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("store", ["", "job", "/data/job", "rocks://", "rocks:", "mysql://h/0"])
def test_what_is_no_store_is_refused_with_the_cure(store: str) -> None:
    with pytest.raises(ConfigError, match="write rocks:///DIR") as caught:
        parse_store(store)
    assert repr(store) in str(caught.value)
