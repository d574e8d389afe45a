"""The frontier in plain Python: the verbs in `frontier`, what they use in `queue` and `urls`."""

from weft.frontier.memory.frontier import MemoryFrontier

__all__ = ["MemoryFrontier"]
