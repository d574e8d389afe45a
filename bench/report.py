"""The results as a table that is also Markdown, with the limits that Weft must keep."""

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from launchers.redis import RedisServer


class Row(NamedTuple):
    """One figure; for bytes lower is better, for rates higher."""

    what: str
    weft: float
    #: None: scrapy-redis has nothing comparable.
    scrapy_redis: float | None
    is_rate: bool = False
    #: Weft's figure must not exceed this.
    most: float | None = None
    #: Weft must be better by this factor.
    least_ratio: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times better Weft is."""
        if self.scrapy_redis is None:
            return None
        if self.is_rate:
            return self.weft / self.scrapy_redis
        return self.scrapy_redis / self.weft

    @property
    def is_kept(self) -> bool:
        """Whether it is within its limits, if there are any."""
        is_enough = self.least_ratio is None or (self.ratio or 0.0) >= self.least_ratio
        return is_enough and (self.most is None or self.weft <= self.most)

    @property
    def cells(self) -> tuple[str, ...]:
        ratio = f"{self.ratio:.1f}x" if self.ratio else "-"
        return (
            self.what,
            self._figure(self.weft),
            self._figure(self.scrapy_redis),
            ratio,
            self._limit(),
            "" if not self._limit() else "ok" if self.is_kept else "MISSED",
        )

    def _figure(self, value: float | None) -> str:
        if value is None:
            return "-"
        return f"{value:,.0f}" if self.is_rate else f"{value:.1f}"

    def _limit(self) -> str:
        if self.most is not None:
            return f"≤ {self.most:g}"
        return f"≥ {self.least_ratio:g}x" if self.least_ratio else ""


def print_rows(console: Console, title: str, rows: Iterable[Row]) -> None:
    table = Table(box=box.MARKDOWN)
    table.add_column(title, no_wrap=True)
    for name in ("Weft", "scrapy-redis", "better by", "limit"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_row(*row.cells)
    console.print(table)


def header(server: RedisServer, notes: Sequence[str], *others: str) -> str:
    """When, where and with what it was measured; `others`: further packages."""
    told = server.ask("INFO", "server")
    packages = ("Scrapy", *others, "redis", "hiredis")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    lines = (
        f"{datetime.now(UTC):%Y-%m-%d}, {_processor()}, {os.cpu_count()} cores (load {load}), "
        f"{platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}, {versions}; "
        f"Redis {told['redis_version']} ({told.get('executable', '')})",
        *notes,
    )
    return "\n".join(f"* {line}" for line in lines)


def _processor() -> str:
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return names[0] if names else platform.processor()
