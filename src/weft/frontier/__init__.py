"""What to fetch next. `base` has the contract, `policy` the rules, `memory` the specification."""

from weft.frontier.base import Frontier
from weft.frontier.memory import MemoryFrontier
from weft.frontier.rocks import RocksFrontier

__all__ = ["Frontier", "MemoryFrontier", "RocksFrontier"]
