"""Settings of Scrapy that have no effect with Weft.

A project that sets one of them expects something, and is told at the start what to do instead.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from weft.engine.settingsreader import SettingsReader

_ORDER = (
    "requests wait in the frontier, whose order WEFT_ORDER sets: "
    "'bfs', 'dfs', 'priority' or 'random'"
)
_JITTER = (
    "two requests to a host are never closer than DOWNLOAD_DELAY; "
    "for a longer delay on average, set a longer DOWNLOAD_DELAY"
)
_REMOTE = "set REMOTE_CONTROL_ENABLED = True: with Weft it is off, unless the project wants it"

#: Each setting, and what to do instead.
UNUSED: Mapping[str, str] = {
    "SCHEDULER_PRIORITY_QUEUE": _ORDER,
    "SCHEDULER_DISK_QUEUE": _ORDER,
    "SCHEDULER_MEMORY_QUEUE": _ORDER,
    "SCHEDULER_START_DISK_QUEUE": _ORDER,
    "SCHEDULER_START_MEMORY_QUEUE": _ORDER,
    "SCHEDULER_DEBUG": (
        "the first request that cannot be stored is always logged, and scheduler/unserializable "
        "counts all of them"
    ),
    "DUPEFILTER_DEBUG": (
        "duplicates are not logged; dupefilter/filtered counts them, and `weft frontier explain "
        "URL` says what happened to one"
    ),
    "DOWNLOAD_DELAY_JITTER": _JITTER,
    "RANDOMIZE_DOWNLOAD_DELAY": _JITTER,
    "CONCURRENT_REQUESTS_PER_IP": (
        "its limit applies to each host name; to count by address, set WEFT_HOST_KEY = 'ip'"
    ),
    "REMOTE_CONTROL_JOBS_DIR": _REMOTE,
    "REMOTE_CONTROL_TIMEOUT_DEFAULT": _REMOTE,
    "REMOTE_CONTROL_TIMEOUT_MAX": _REMOTE,
    "REMOTE_CONTROL_OUTPUT_MAX_BYTES": _REMOTE,
    "REMOTE_CONTROL_TRACEBACK_MAX_BYTES": _REMOTE,
}


def unused_settings(settings: BaseSettings) -> Iterator[str]:
    """Say of each that the project sets, and that has no effect, what to do instead."""
    for name, instead in UNUSED.items():
        is_wanted = _WANTED.get(name, _is_changed)
        if _is_set(settings, name) and is_wanted(settings, name):
            yield f"{name} = {settings[name]!r} has no effect with Weft: {instead}"
    for slot, own in settings.getdict("DOWNLOAD_SLOTS").items():
        for key in ("jitter", "randomize_delay"):
            if _get(own, key):
                yield f"{key} of DOWNLOAD_SLOTS[{slot!r}] has no effect with Weft: {_JITTER}"


def _is_set(settings: BaseSettings, name: str) -> bool:
    """By the project, the spider, an add-on or the command line."""
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]


def _is_changed(settings: BaseSettings, name: str) -> bool:
    return bool(settings[name] != getattr(default_settings, name))


def _is_on(settings: BaseSettings, name: str) -> bool:
    return SettingsReader(settings).flag(name)


def _is_some(settings: BaseSettings, name: str) -> bool:
    return SettingsReader(settings).number(name) > 0


def _is_some_by_name(settings: BaseSettings, name: str) -> bool:
    return _is_some(settings, name) and settings["WEFT_HOST_KEY"] != "ip"


def _is_changed_and_off(settings: BaseSettings, name: str) -> bool:
    """By Weft, that is: a project that switches it off itself knows."""
    is_ours = not settings.getbool("REMOTE_CONTROL_ENABLED") and (
        settings.getpriority("REMOTE_CONTROL_ENABLED") == SETTINGS_PRIORITIES["addon"]
    )
    return is_ours and _is_changed(settings, name)


def _get(own: object, key: str) -> Any:
    return own.get(key) if isinstance(own, Mapping) else None


#: Where another value than Scrapy's default is not the question.
_WANTED: Mapping[str, Callable[[BaseSettings, str], bool]] = {
    "SCHEDULER_DEBUG": _is_on,
    "DUPEFILTER_DEBUG": _is_on,
    "RANDOMIZE_DOWNLOAD_DELAY": _is_on,
    "DOWNLOAD_DELAY_JITTER": _is_some,
    "CONCURRENT_REQUESTS_PER_IP": _is_some_by_name,
    **{name: _is_changed_and_off for name in UNUSED if name.startswith("REMOTE_CONTROL_")},
}
