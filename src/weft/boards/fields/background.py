"""Work that nothing can stop, and that is not waited for longer than a time.

libxml2 evaluates an XPath without looking at the time, and some take the square of the size of the
page. So it happens in a thread. If that takes too long, we go on without it; it ends sometime.
"""

import threading
from collections.abc import Callable

#: With so many threads that did not end, no further one is begun.
MAX_OVERDUE = 4

_overdue: list[threading.Thread] = []


def runs_within(seconds: float, work: Callable[[], None]) -> bool:
    """Whether the work was done in time. What it raises is raised here."""
    _overdue[:] = [thread for thread in _overdue if thread.is_alive()]
    if len(_overdue) >= MAX_OVERDUE:
        return False
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="weft-fields", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        _overdue.append(thread)
        return False
    if raised:
        raise raised[0]
    return True
