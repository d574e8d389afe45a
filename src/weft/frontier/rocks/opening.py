"""Opening a store: its format, and the host key that its job was begun with."""

from collections.abc import Sequence
from pathlib import Path

from rocksdict import AccessType, Options, Rdict

from weft.errors import StoreFormatError, StoreLockedError, StoreMissingError
from weft.frontier.rocks import layout
from weft.frontier.rocks.db import RocksDb
from weft.records import HostKey

_FORMAT = b"format"
_HOST_KEY = b"host_key"
_FORMATS = [str(number).encode() for number in (layout.FORMAT, *layout.OLDER_FORMATS)]

# What RocksDB says when another process has the store open, or this one; and when the store has
# column families that it was not told of.
_LOCKED = ("While lock file", "lock hold by current process")
_NEW_FAMILIES = "Column families not opened"
# When a store that is only read lacks some: they are made one by one when it is first opened.
_LACKS_FAMILIES = "Column family not found"


def open_rocks(path: Path, *, is_read_only: bool) -> RocksDb:
    access = AccessType.read_write()
    families: Sequence[str] = layout.FAMILIES
    if is_read_only:
        if not layout.is_rocks(path):
            raise StoreMissingError(f"there is no frontier in {path}")
        access = AccessType.read_only(False)
        families = _families_to_read(path)
    else:
        path.mkdir(parents=True, exist_ok=True)
    try:
        db = Rdict(str(path), layout.rocks_options(), layout.family_options(families), access)
    except Exception as problem:
        _explain_failed_open(path, str(problem), is_read_only=is_read_only)
        raise
    _check_format(path, db)
    return RocksDb(db, families)


def _families_to_read(path: Path) -> Sequence[str]:
    """All but those that came later and that this store lacks still."""
    there = Rdict.list_cf(str(path), Options(raw_mode=True))
    return tuple(f for f in layout.FAMILIES if f in there or f not in layout.LATER_FAMILIES)


def _explain_failed_open(path: Path, problem: str, *, is_read_only: bool) -> None:
    if any(words in problem for words in _LOCKED):
        raise StoreLockedError(
            f"the store {path} is in use by another process: is the same crawl running? Wait for "
            "it to end, stop it, choose another job with --job (WEFT_JOB), or "
            "choose another store with --store (WEFT_STORE): redis://HOST:PORT/DB is one that "
            "several processes can share for one crawl"
        )
    if is_read_only and _LACKS_FAMILIES in problem:
        raise StoreMissingError(
            f"there is no frontier in {path} yet: the crawl stopped while creating it; run "
            "the same `weft crawl` again"
        )
    if _NEW_FAMILIES in problem:
        raise StoreFormatError(
            f"the store {path} was written by a newer Weft; "
            "upgrade Weft, or choose another store with --store"
        )


def _check_format(path: Path, db: Rdict) -> None:
    raw = db.get(_FORMAT)
    if raw is not None and raw not in _FORMATS:
        db.close()
        theirs = raw.decode(errors="replace")
        raise StoreFormatError(
            f"the store {path} has format {theirs}, this Weft knows {layout.FORMAT}; "
            "upgrade Weft, or choose another store with --store"
        )


def take_host_key(rocks: RocksDb, wanted: HostKey, *, is_read_only: bool) -> HostKey:
    """What the job was begun with; before its first request that is for us to say."""
    if not is_read_only and not rocks.meta().stats.added:
        write_host_key(rocks, wanted)
        return wanted
    if raw := rocks.db.get(_HOST_KEY):
        return HostKey(raw.decode())
    if not is_read_only:
        write_host_key(rocks, HostKey.HOST)
    return HostKey.HOST


def write_host_key(rocks: RocksDb, host_key: HostKey) -> None:
    number = layout.PLAIN_FORMAT if host_key is HostKey.HOST else layout.FORMAT
    rocks.db[_FORMAT] = str(number).encode()
    rocks.db[_HOST_KEY] = host_key.encode()
