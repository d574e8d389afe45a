"""Where a job has stored its items: recorded in its directory, so that they can be found again.

The record contains no secrets. Of an address with secrets (a password, an option that may be one)
it keeps only the rest, and a note that something is missing.
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4

import msgspec

OUTPUTS = "outputs.json"

#: Address options that are not secrets: only options known to be harmless are recorded.
_HARMLESS = frozenset(
    {
        *("authsource", "directconnection", "replicaset", "tls", "tlscafile"),  # MongoDB
        *("ssl", "ssl_ca", "unix_socket"),  # MySQL, PostgreSQL
        *("endpoint", "region"),  # S3
    }
)

logger = logging.getLogger(__name__)


class Output(msgspec.Struct, frozen=True):
    """What `-o` said, without secrets. Paths are absolute, or relative to the job's directory if
    they are inside it."""

    address: str
    lacks_secret: bool = False

    @property
    def is_file(self) -> bool:
        return "://" not in self.address

    def found_from(self, job_dir: Path) -> str:
        """Return it as `make_sink` takes it."""
        return str(job_dir / self.address) if self.is_file else self.address


class Outputs(msgspec.Struct, frozen=True):
    """Where the items of a job go."""

    #: The job's name in databases.
    job: str
    sinks: tuple[Output, ...]
    #: Where raw pages go.
    archives: tuple[Output, ...] = ()
    #: Where items went in earlier runs of the job.
    earlier: tuple[Output, ...] = ()

    def known(self) -> set[str]:
        """All addresses that have items or pages of the job."""
        return {each.address for each in (*self.sinks, *self.archives, *self.earlier)}


def describe(job: str, sinks: Iterable[str], archives: Iterable[str], job_dir: Path) -> Outputs:
    """The outputs of a crawl, as they are recorded."""
    return Outputs(
        job,
        tuple(without_secrets(each, job_dir) for each in sinks),
        tuple(without_secrets(each, job_dir) for each in archives),
    )


def read_outputs(job_dir: Path) -> Outputs | None:
    """Return None if they are unknown."""
    try:
        return msgspec.json.decode((job_dir / OUTPUTS).read_bytes(), type=Outputs)
    except (OSError, msgspec.MsgspecError):
        return None


def remember_outputs(job_dir: Path, outputs: Outputs, *, is_fresh: bool) -> None:
    """Record where items go from now on. If that fails, the crawl continues: the record is only for
    finding its items later."""
    before = read_outputs(job_dir)
    if before is not None and not is_fresh:
        outputs = msgspec.structs.replace(outputs, earlier=_earlier(before, outputs.sinks))
    if outputs == before:
        return
    if outputs.earlier:
        logger.warning(
            "earlier items of this job are in %s; from now on they go to %s",
            *(listed(outputs.earlier), listed(outputs.sinks)),
        )
    try:
        _write(job_dir / OUTPUTS, msgspec.json.encode(outputs))
    except OSError as problem:
        logger.warning("`weft items` will not know where the items are: %s", problem)


def _earlier(before: Outputs, sinks: Sequence[Output]) -> tuple[Output, ...]:
    now = {sink.address for sink in sinks}
    return tuple(each for each in (*before.earlier, *before.sinks) if each.address not in now)


def listed(outputs: Iterable[Output]) -> str:
    """For display."""
    return ", ".join(output.address for output in outputs) or "nowhere"


def _write(path: Path, content: bytes) -> None:
    """Atomically, because all workers of a machine may do it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def without_secrets(output: str, job_dir: Path) -> Output:
    scheme, separator, rest = output.partition("://")
    if not separator:
        return Output(_settled(output, job_dir))
    if scheme.lower() == "warc":
        return Output(f"warc://{Path(rest).resolve()}")
    return _without_secrets(output)


def _settled(path: str, job_dir: Path) -> str:
    absolute, home = Path(path).resolve(), job_dir.resolve()
    return str(absolute.relative_to(home) if absolute.is_relative_to(home) else absolute)


def _without_secrets(address: str) -> Output:
    scheme, netloc, path, query, _ = urlsplit(address)
    account, _, host = netloc.rpartition("@")
    user, _, password = account.partition(":")
    given = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in given if _is_harmless(name, value)]
    kept_account = f"{user}@" if user and scheme != "s3" else ""
    return Output(
        urlunsplit((scheme, kept_account + host, path, urlencode(kept), "")),
        lacks_secret=bool(password) or kept != given,
    )


def _is_harmless(name: str, value: str) -> bool:
    return name.lower() in _HARMLESS and "@" not in value
