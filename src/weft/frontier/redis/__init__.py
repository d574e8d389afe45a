"""The frontier on Redis: scripts in lua/, their doors in scripts.py, the verbs in frontier.py."""

from weft.frontier.redis.frontier import RedisFrontier
from weft.frontier.redis.job import list_jobs

__all__ = ["RedisFrontier", "list_jobs"]
