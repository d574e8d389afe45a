"""Where a job has put its items: remembered in its directory, so that they are found again.

What is written down holds no secrets. Of an address that has some (a password, an option that may
be one) only the rest is kept, and that something is missing.
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4

import msgspec

OUTPUTS = "outputs.json"

#: Options of addresses that are no secrets: only what is known to be none is written down.
_HARMLESS = frozenset(
    {
        *("authsource", "directconnection", "replicaset", "tls", "tlscafile"),  # MongoDB
        *("ssl", "ssl_ca", "unix_socket"),  # MySQL, PostgreSQL
        *("endpoint", "region"),  # S3
    }
)

logger = logging.getLogger(__name__)


class Output(msgspec.Struct, frozen=True):
    """What `-o` said, without secrets. Files are told from the root, or from the job's directory if
    they are in there."""

    address: str
    lacks_secret: bool = False

    @property
    def is_file(self) -> bool:
        return "://" not in self.address

    def found_from(self, job_dir: Path) -> str:
        """As `make_sink` takes it."""
        return str(job_dir / self.address) if self.is_file else self.address


class Outputs(msgspec.Struct, frozen=True):
    """Where the items of a job go."""

    #: Its name, by which a database knows it.
    job: str
    sinks: tuple[Output, ...]
    #: Where raw pages go.
    archives: tuple[Output, ...] = ()
    #: Where items went in earlier runs of the job.
    earlier: tuple[Output, ...] = ()

    def known(self) -> set[str]:
        """All addresses that have items of the job."""
        return {each.address for each in (*self.sinks, *self.archives, *self.earlier)}


def describe(job: str, sinks: Iterable[str], archives: Iterable[str], job_dir: Path) -> Outputs:
    """What is worth remembering of the outputs of a crawl."""
    return Outputs(
        job,
        tuple(without_secrets(each, job_dir) for each in sinks),
        tuple(without_secrets(each, job_dir) for each in archives),
    )


def read_outputs(job_dir: Path) -> Outputs | None:
    """None: nobody knows."""
    try:
        return msgspec.json.decode((job_dir / OUTPUTS).read_bytes(), type=Outputs)
    except (OSError, msgspec.MsgspecError):
        return None


def remember_outputs(job_dir: Path, outputs: Outputs, *, is_fresh: bool) -> None:
    """Write down where items go from now on. If that cannot be written, the crawl goes on: it is
    only for those who look for its items later."""
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
    """For people."""
    return ", ".join(output.address for output in outputs) or "nowhere"


def _write(path: Path, content: bytes) -> None:
    """At one stroke: all workers of a machine may do it."""
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
