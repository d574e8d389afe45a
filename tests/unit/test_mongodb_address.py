import pytest

from weft.errors import ConfigError
from weft.sinks.mongodb.address import MongoAddress, parse_address


def refusal(output: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_address(output)
    return str(caught.value)


def auth_source(address: MongoAddress) -> str:
    credentials = address.client().options.pool_options._credentials
    assert credentials
    return str(credentials.source)


def test_the_collection_is_split_off_and_the_rest_is_pymongos() -> None:
    address = parse_address("mongodb://me:p%40ss@one:1,two:2/shop/books?authSource=admin")
    assert (address.host, address.user) == ("one:1,two:2", "me")
    assert (address.database, address.collection) == ("shop", "books")
    assert address.place == "mongodb://one:1,two:2/shop/books"
    assert "ss@" not in repr(address)
    assert address.client().get_default_database().name == "shop"
    assert auth_source(address) == "admin"


def test_the_database_is_where_the_user_is_looked_up_unless_the_address_says_otherwise() -> None:
    assert auth_source(parse_address("mongodb://me:pass@host/shop/books")) == "shop"


def test_what_the_address_says_of_timeouts_holds() -> None:
    def selection_s(address: MongoAddress) -> float:
        return address.client().options.server_selection_timeout

    assert selection_s(parse_address("mongodb://host/d/c")) == 5
    assert selection_s(parse_address("mongodb://host/d/c?SERVERSelectionTimeoutMS=700")) == 0.7


def test_names_may_be_escaped() -> None:
    address = parse_address("mongodb://host/shop/two%2Fparts%20here")
    assert address.collection == "two/parts here"
    assert address.place == "mongodb://host/shop/two%2Fparts%20here"


def test_an_address_of_a_cluster_needs_no_network_before_it_is_opened() -> None:
    address = parse_address("mongodb+srv://me:pass@cluster.invalid/shop/books")
    assert address.place == "mongodb+srv://cluster.invalid/shop/books"


@pytest.mark.parametrize(
    "rest",
    ["host", "host/", "host/db", "host/db/", "host//c", "host/db/c/more", "host/db/c/", "host?w=1"],
)
def test_an_address_without_database_and_collection_is_told_how_to_be_written(rest: str) -> None:
    text = refusal(f"mongodb://me:secret@{rest}")
    assert "does not name a database and a collection" in text
    assert "mongodb://user:password@host:27017/database/collection" in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("names", "word"),
    [
        ("a.b/c", "database"),
        ("a%20b/c", "database"),
        ("a%00/c", "database"),
        ("a" * 64 + "/c", "63 bytes"),
        ("d/a$b", "collection"),
        ("d/a%00b", "collection"),
        ("d/.a", "dots"),
        ("d/a.", "dots"),
        ("d/a..b", "dots"),
        ("d/system.users", "dots"),
        ("d/" + "c" * 254, "254 bytes"),
    ],
)
def test_names_that_mongodb_forbids_are_refused(names: str, word: str) -> None:
    assert word in refusal(f"mongodb://host/{names}")


@pytest.mark.parametrize(
    "output",
    [
        "mongodb://me:sec/ret@host/d/c",
        "mongodb://me:sec?ret@host/d/c",
        "mongodb://me:sec#ret@host/d/c",
    ],
)
def test_a_password_that_is_not_escaped_is_not_shown(output: str) -> None:
    text = refusal(output)
    assert "%2F" in text
    assert "sec" not in text


@pytest.mark.parametrize(
    "output",
    [
        "mongodb://host/d/c?nonsense=1",
        "mongodb://host/d/c?serverSelectionTimeoutMS=soon",
        "mongodb://host:port/d/c",
        "mongodb://one,,two/d/c",
        "mongodb://me:pa:ss@host/d/c",
        "mongodb://host/d/c?tlsCAFile=/nowhere/ca.pem",
        "mongodb:///d/c",
    ],
)
def test_what_pymongo_does_not_understand_is_an_error_at_once(output: str) -> None:
    text = refusal(output)
    assert "write it like mongodb://" in text
    assert "pa:ss" not in text
