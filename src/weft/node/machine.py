"""What this machine has, and how busy it is."""

import os
import signal

import msgspec


class Load(msgspec.Struct, frozen=True):
    #: CPU time used since the last call, as a share of all there is.
    cpu_share: float
    memory_bytes: int
    memory_total_bytes: int
    #: Runnable processes, averaged over a minute.
    processes: float


def look() -> Load:
    import psutil  # here, for `weft crawl` needs only what is below

    memory = psutil.virtual_memory()
    return Load(
        cpu_share=psutil.cpu_percent() / 100,
        memory_bytes=memory.total - memory.available,
        memory_total_bytes=memory.total,
        processes=psutil.getloadavg()[0],
    )


def usable_cores() -> int:
    """The number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_steer() -> bool:
    """Whether worker processes can be stopped, suspended and killed by signals; not on Windows."""
    return hasattr(signal, "SIGSTOP")
