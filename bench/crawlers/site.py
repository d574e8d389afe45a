"""Where the pages of a site are kept: a directory per site, written once and reused.

Absolute links contain the port, so a site belongs to one port. It is below those that the kernel
gives to connections; while it is in use, the same site is written again for another port.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from bench.crawlers.pages import Author, Page, StaticSite
from weft.errors import ConfigError

PORTS = range(21_000, 31_000)
PORT_ATTEMPTS = 50
#: A file takes whole blocks of the disk; and some space must be left for others.
BLOCK_BYTES = 4096
SPARE_BYTES = 500_000_000

Tell = Callable[[str], None]


class Kept(NamedTuple):
    """A site on disk."""

    site: StaticSite
    root: Path
    port: int
    #: By URL.
    titles: dict[str, str]
    #: The first page of each host.
    starts: list[str]


def default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weft" / "bench"


def keep(site: StaticSite, cache: Path, tell: Tell) -> Kept:
    """Return the site in `cache`; write it if it is missing."""
    cache = cache.absolute()  # nginx resolves relative paths in its own directory
    port = _port(site, cache)
    root = _root(site, cache, port)
    author = Author(site, port)
    if not root.exists():
        _check_room(site, cache)
        tell(f"writing {site.total:,} pages to {root}")
        _write(author.pages(), root)
    starts = [author.url(host, 0) for host in range(site.hosts)]
    return Kept(site, root, port, author.titles(), starts)


def _root(site: StaticSite, cache: Path, port: int) -> Path:
    return cache / f"{site.name}-{port}"


def _port(site: StaticSite, cache: Path) -> int:
    """A free port, if possible one that the site is already written for."""
    free = [port for port in _candidates(site) if _is_free(port)]
    if not free:
        raise ConfigError(f"no port from {PORTS.start} to {PORTS.stop} is free: end what has them")
    return next((port for port in free if _root(site, cache, port).exists()), free[0])


def _candidates(site: StaticSite) -> Iterator[int]:
    digest = blake2b(site.name.encode(), digest_size=8).digest()
    first = int.from_bytes(digest)
    return (PORTS[(first + step * 101) % len(PORTS)] for step in range(PORT_ATTEMPTS))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


def _check_room(site: StaticSite, cache: Path) -> None:
    _make(cache)
    blocks = -(-site.page_bytes // BLOCK_BYTES) + 1
    needed = site.total * blocks * BLOCK_BYTES + SPARE_BYTES
    free = shutil.disk_usage(cache).free
    if free < needed:
        raise ConfigError(
            f"the pages of this site need {needed / 1e9:.1f} GB, and {cache} has {free / 1e9:.1f} "
            "GB: free some, name another directory with --cache, or take fewer --pages"
        )


def _make(cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ConfigError(f"--cache {cache}: {problem}; choose another directory") from problem


def _write(pages: Iterator[Page], root: Path) -> None:
    """All or nothing: a site that exists is complete."""
    with tempfile.TemporaryDirectory(prefix="new-", dir=root.parent) as made:
        directory = Path(made, "site")
        known: set[Path] = set()
        for page in pages:
            file = directory / page.host / page.path[1:]
            if file.parent not in known:
                file.parent.mkdir(parents=True, exist_ok=True)
                known.add(file.parent)
            file.write_bytes(page.html)
        if not root.exists():
            directory.rename(root)
