from pathlib import Path

import pytest

from weft.errors import ConfigError
from weft.sinks import SinkConfig, make_sink
from weft.sinks.sql import SqlSink
from weft.sinks.sql.address import SqlAddress, parse_address


def test_all_parts_of_an_address() -> None:
    parsed = parse_address("mysql://me%40work:p%2Fw%3A%25@db.example:3307/my%20shop/b%C3%BCcher")
    assert parsed == SqlAddress(
        scheme="mysql",
        place="mysql://***@db.example:3307/my%20shop/b%C3%BCcher",
        database="my shop",
        table="bücher",
        user="me@work",
        password="p/w:%",
        host="db.example",
        port=3307,
    )


@pytest.mark.parametrize(
    ("output", "server"),
    [
        ("mysql://h/d/t", "h:3306"),
        ("MariaDB://h/d/t", "h:3306"),
        ("postgresql://h/d/t", "h:5432"),
        ("postgresql:///d/t", "localhost:5432"),
        ("mysql:///d/t?unix_socket=/run/mysql.sock", "/run/mysql.sock"),
    ],
)
def test_where_the_server_is(output: str, server: str) -> None:
    assert parse_address(output).server == server


def test_schema_of_postgresql() -> None:
    parsed = parse_address("postgresql://h/d/shop.books")
    assert (parsed.schema, parsed.table) == ("shop", "books")


def test_file_of_sqlite() -> None:
    parsed = parse_address("sqlite:///var/my%20shop.db/books")
    assert (parsed.database, parsed.table) == ("/var/my shop.db", "books")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("mysql://h", "does not name a database and a table"),
        ("mysql://h/d", "does not name a database and a table"),
        ("mysql://h/d/", "does not name a table"),
        ("mysql://h/d/t/u", "more than a database and a table"),
        ("mysql://h/d/a.b", "'a.b' cannot be the name of a table"),
        ("mysql://h/d/a%00b", "cannot be the name of a table"),
        ("mysql://h/d/%20a", "cannot be the name of a table"),
        ("mysql://h:port/d/t", "Port could not be cast"),
        ("mysql://h/d/" + "x" * 64, "longer than 63 bytes"),
        ("mysql://h/d/t?sll=require", "'sll' is not one of its options: ssl, ssl_ca, unix_socket"),
        ("mysql://h/d/t?ssl=yes", "ssl must be one of disable, require, verify-full"),
        ("postgresql://h/d/.t", "'' cannot be the name of a schema"),
        ("sqlite:///x.db/sqlite_items", "reserves names that start with sqlite_"),
    ],
)
def test_wrong_address_is_refused_with_the_right_form(output: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_address(output)
    assert reason in str(caught.value)
    assert "/table" in str(caught.value)


def test_password_is_never_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_address("mysql://me:secret@h/d?x=1")
    assert "secret" not in str(caught.value)
    assert "secret" not in parse_address("mysql://me:secret@h/d/t").place


@pytest.mark.parametrize(
    "output", ["mysql://h/d/t", "mariadb://h/d/t", "postgresql://h/d/t", "sqlite:///x/y.db/t"]
)
def test_sink_for_a_table_is_chosen(output: str) -> None:
    sink = make_sink(output, SinkConfig(Path("job")))
    assert isinstance(sink, SqlSink)
    assert sink.place == output
