"""Where servers of tests are, and waiting for them."""

import random
import socket
import time
from collections.abc import Callable

from weft.errors import WeftError

HOST = "127.0.0.1"
#: Below the ports that the kernel gives to connections: one of these must not take the port of a
#: server while that is dead. A node of a Redis cluster has a second port, so far above the first.
PORTS = range(11_000, 21_000)
BUS_PORT_OFFSET = 10_000
PORT_ATTEMPTS = 100

WAIT_S = 30.0
POLL_S = 0.01


def free_port() -> int:
    # Not the shared generator: who seeds that gets the same ports in every process.
    rng = random.SystemRandom()
    for _ in range(PORT_ATTEMPTS):
        port = rng.choice(PORTS)
        if _is_free(port) and _is_free(port + BUS_PORT_OFFSET):
            return port
    raise WeftError(f"found no free port from {PORTS.start} to {PORTS.stop}")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As Redis does: a port whose connections are fading away is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def wait_until(predicate: Callable[[], bool], description: str) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not predicate():
        if time.monotonic() > deadline_s:
            raise WeftError(f"waited {WAIT_S} s in vain until {description}")
        time.sleep(POLL_S)
