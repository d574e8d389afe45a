"""Whether anybody listens to a signal: sending one that nobody hears costs more than asking."""

from pydispatch.dispatcher import Any, connections


def is_heard(sender: object, signal: object) -> bool:
    for place in (sender, Any):
        receivers = connections.get(id(place))
        if receivers and (signal in receivers or Any in receivers):
            return True
    return False
