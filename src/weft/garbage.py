"""No search for garbage while a program starts.

Modules that are loaded consist of hundreds of thousands of objects, which stay, and hardly any
garbage. Python would look through them again and again: a sixth of the start of a crawl.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def not_collected() -> Iterator[None]:
    """Let garbage be while the context is open, and what was made meanwhile for good."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
