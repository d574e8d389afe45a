"""The host keys of host names that were fixed."""

from collections.abc import Sequence

from weft.redis import keys
from weft.redis.client import Client


class FixedKeys:
    def __init__(self, client: Client, job: str) -> None:
        self._client = client
        self._key = f"{keys.job_prefix(job)}keys"

    async def fix(self, given: Sequence[tuple[str, str]]) -> list[str]:
        """As `Frontier.fix_keys`."""
        if not given:
            return []
        fixing = [("HSETNX", self._key, name, key) for name, key in given if key]
        asking = ("HMGET", self._key, *(name for name, _ in given))
        *_, fixed = await self._client.run([*fixing, asking])
        return [(key or b"").decode() for key in fixed]
