"""Whether a signal has receivers: asking costs less than sending one that has none."""

from pydispatch.dispatcher import Any, connections


def is_heard(sender: object, signal: object) -> bool:
    for place in (sender, Any):
        receivers = connections.get(id(place))
        if receivers and (signal in receivers or Any in receivers):
            return True
    return False
