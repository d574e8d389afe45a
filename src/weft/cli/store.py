"""Asking the frontier of a job."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from weft.errors import StoreMissingError
from weft.frontier import Frontier, RocksFrontier

Answer = TypeVar("Answer")


def ask(
    job_dir: Path,
    question: Callable[[Frontier], Awaitable[Answer]],
    *,
    is_read_only: bool = True,
) -> Answer:
    """Open the frontier, put a question, close it. Reading works while a crawl is running."""

    async def open_and_ask() -> Answer:
        if not (job_dir / "frontier").is_dir():
            raise StoreMissingError(f"there is no frontier in {job_dir}; crawl something first")
        store: Frontier = RocksFrontier(job_dir / "frontier", is_read_only=is_read_only)
        async with store as frontier:
            return await question(frontier)

    return asyncio.run(open_and_ask())
