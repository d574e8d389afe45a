"""What a user may do, as `connectionStatus` tells it. Asking leaves no trace in the collection; a
trial document would, if we were killed, and the user's own rules might refuse it."""

from collections.abc import Iterable, Mapping
from typing import Any

NEEDED = ("insert", "update")


def missing_rights(status: Mapping[str, Any], database: str, collection: str) -> list[str]:
    """Those of `NEEDED` that the answer of `connectionStatus` does not hold."""
    info = status.get("authInfo", {})
    # Without access control there are no users; some servers that speak MongoDB's language tell
    # nothing of rights.
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
    """Empty names stand for all."""
    if resource.get("anyResource"):
        return True
    return resource.get("db") in ("", database) and resource.get("collection") in ("", collection)
