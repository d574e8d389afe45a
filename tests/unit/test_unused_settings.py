"""Which settings of a project have no effect, and what it is told."""

import re
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings, default_settings

from weft import Addon
from weft.engine.unusedsettings import UNUSED, unused_settings

# Scrapy warns as often as it is read.
pytestmark = pytest.mark.filterwarnings("ignore:.*CONCURRENT_REQUESTS_PER_IP")

MOVING = (Path(__file__).parents[2] / "docs/moving.md").read_text()


def warnings(**values: Any) -> list[str]:
    """What a project with these settings is told."""
    settings = Settings(values, "project")
    Addon().update_settings(settings)
    return [*unused_settings(settings)]


def names(**values: Any) -> list[str]:
    return [warning.split(" = ")[0] for warning in warnings(**values)]


def test_a_project_that_sets_none_is_told_nothing() -> None:
    assert warnings() == warnings(DOWNLOAD_DELAY=2, BOT_NAME="shop", DNS_TIMEOUT=5) == []


def test_a_project_is_told_what_to_do_instead() -> None:
    fifo = "scrapy.squeues.PickleFifoDiskQueue"
    assert warnings(SCHEDULER_DISK_QUEUE=fifo) == [
        f"SCHEDULER_DISK_QUEUE = {fifo!r} has no effect with Weft: requests wait in the frontier, "
        "whose order WEFT_ORDER sets: 'bfs', 'dfs', 'priority' or 'random'"
    ]


@pytest.mark.parametrize("name", UNUSED)
def test_each_is_noticed_and_documented(name: str) -> None:
    assert names(**{name: "1"}) == [name]
    assert re.search(rf"^\|.*`{name}`", MOVING, re.MULTILINE)


@pytest.mark.parametrize("name", UNUSED)
def test_scrapys_default_is_no_reason_to_warn(name: str) -> None:
    is_jitter = name in ("DOWNLOAD_DELAY_JITTER", "RANDOMIZE_DOWNLOAD_DELAY")
    assert names(**{name: getattr(default_settings, name)}) == ([name] if is_jitter else [])


@pytest.mark.parametrize(
    "values",
    [
        {"DOWNLOAD_DELAY_JITTER": 0},
        {"RANDOMIZE_DOWNLOAD_DELAY": "False"},
        {"SCHEDULER_DEBUG": "0"},
        {"CONCURRENT_REQUESTS_PER_IP": 2, "WEFT_HOST_KEY": "ip"},
        {"REMOTE_CONTROL_TIMEOUT_MAX": 5, "REMOTE_CONTROL_ENABLED": True},
        {"REMOTE_CONTROL_TIMEOUT_MAX": 5, "REMOTE_CONTROL_ENABLED": False},
        {"DOWNLOAD_SLOTS": {"a.example": {"delay": 1, "jitter": 0}}},
    ],
)
def test_what_is_so_anyway_is_no_reason_to_warn(values: dict[str, Any]) -> None:
    assert warnings(**values) == []


def test_the_jitter_of_a_slot_is_noticed() -> None:
    [warning] = warnings(DOWNLOAD_SLOTS={"a.example": {"jitter": 0.5}})
    assert warning.startswith("jitter of DOWNLOAD_SLOTS['a.example'] has no effect with Weft: ")
