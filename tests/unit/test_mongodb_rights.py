from typing import Any

from weft.sinks.mongodb.rights import missing_rights

WRITE = ["find", "insert", "remove", "update"]


def status(*privileges: tuple[dict[str, Any], list[str]]) -> dict[str, Any]:
    told = [{"resource": resource, "actions": actions} for resource, actions in privileges]
    users = [{"user": "me", "db": "admin"}]
    return {"authInfo": {"authenticatedUsers": users, "authenticatedUserPrivileges": told}}


def test_rights_may_be_given_for_everything_a_database_or_a_collection() -> None:
    for resource in (
        {"anyResource": True},
        {"db": "", "collection": ""},
        {"db": "d", "collection": ""},
        {"db": "", "collection": "c"},
        {"db": "d", "collection": "c"},
    ):
        assert missing_rights(status((resource, WRITE)), "d", "c") == []


def test_rights_elsewhere_are_none_here() -> None:
    for resource in (
        {"cluster": True},
        {"db": "d", "collection": "other"},
        {"db": "other", "collection": ""},
        {"db": "d", "system_buckets": "c"},
    ):
        assert missing_rights(status((resource, WRITE)), "d", "c") == ["insert", "update"]


def test_rights_add_up() -> None:
    both = status(
        ({"db": "d", "collection": ""}, ["insert"]), ({"db": "d", "collection": "c"}, ["update"])
    )
    assert missing_rights(both, "d", "c") == []
    assert missing_rights(both, "d", "other") == ["update"]


def test_a_server_without_access_control_forbids_nothing() -> None:
    nobody: dict[str, Any] = {
        "authInfo": {"authenticatedUsers": [], "authenticatedUserPrivileges": []}
    }
    assert missing_rights(nobody, "d", "c") == []
    silent = {"authInfo": {"authenticatedUsers": [{"user": "me", "db": "d"}]}}
    assert missing_rights(silent, "d", "c") == []
    assert missing_rights({"ok": 1}, "d", "c") == []
