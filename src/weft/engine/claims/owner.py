"""The name under which this process has its claims."""

import os
import secrets
import socket


def make_owner() -> str:
    """A name for this process that no other has, on any machine at any time."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"
