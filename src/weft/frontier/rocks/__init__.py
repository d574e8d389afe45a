from weft.frontier.rocks.frontier import RocksFrontier

__all__ = ["RocksFrontier"]
