"""Messages between a job and its workers."""

from enum import StrEnum
from typing import Any

import msgspec

#: Time between two signs of life.
BEAT_S = 1.0


class JobState(StrEnum):
    """What the workers of a job are ordered to do."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker reports about itself with each sign of life, for people and for its peers."""

    #: The node that started it; empty: it was started by hand.
    node: str = ""
    host: str = ""
    pid: int = 0
    #: Its own state, which follows that of the job.
    state: str = ""
    buckets: int = 0
    weight: float = 1.0
    #: Pages per second of CPU time, smoothed; 0: not known yet.
    speed: float = 0.0
    pages: int = 0
    pages_per_s: float = 0.0
    errors: int = 0
    #: Of one core.
    cpu_share: float = 0.0
    memory_bytes: int = 0
    claims: int = 0


class Work(msgspec.Struct, frozen=True):
    """What a worker has to do; a node passes it on to the workers that it starts."""

    targets: tuple[str, ...]
    arguments: dict[str, str]
    overrides: dict[str, Any]
    log_level: str
