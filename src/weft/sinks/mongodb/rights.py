"""The user's privileges, from `connectionStatus`. Asking leaves no trace in the collection; a test
document would, if we were killed, and the user's validation rules might refuse it."""

from collections.abc import Iterable, Mapping
from typing import Any

NEEDED = ("insert", "update")


def missing_rights(status: Mapping[str, Any], database: str, collection: str) -> list[str]:
    """Return those of `NEEDED` that the reply of `connectionStatus` does not grant."""
    info = status.get("authInfo", {})
    # Without access control there are no users, and some compatible servers do not report
    # privileges.
    if not info.get("authenticatedUsers") or "authenticatedUserPrivileges" not in info:
        return []
    granted = _granted(info["authenticatedUserPrivileges"], database, collection)
    return [right for right in NEEDED if right not in granted]


def _granted(
    privileges: Iterable[Mapping[str, Any]], database: str, collection: str
) -> frozenset[str]:
    return frozenset(
        action
        for privilege in privileges
        if _is_about(privilege["resource"], database, collection)
        for action in privilege["actions"]
    )


def _is_about(resource: Mapping[str, Any], database: str, collection: str) -> bool:
    """An empty name matches everything."""
    if resource.get("anyResource"):
        return True
    return resource.get("db") in ("", database) and resource.get("collection") in ("", collection)
