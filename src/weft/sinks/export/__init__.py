"""Files that cannot be appended to, and files elsewhere: JSON, CSV, XML, Parquet; FTP, S3.

How an item gets there: it is stored in a *journal*, an SQLite file in the job's directory, which
is durable, knows every item by its key, and may be open in several workers at once. That is what
`store` waits for. From time to time, and when a worker closes, the items are *shown*: an *outlet*
writes them from the journal to the output.

* **Whole** (`whole.py`): one file with all items, rendered anew and put in place at one stroke.
* **Batches** (`batches.py`): objects under a prefix of S3, each put once.

What is shown depends on the journal alone, so whoever dies while showing costs nothing: the journal
knows that it is ahead of its output, and the next who shows does it again. One process shows at a
time, which a lock sees to. Whoever closes waits for it and shows what is left, so the last worker
leaves a complete output. If workers are killed after all others have closed, or the server is away
in the end, `has_left_items` says so and the next run of the job shows the rest.

While a crawl runs, a server that is away holds nothing up: items go on into the journal.

One journal, one output: workers on several machines have a journal each, and must not share a file.
They are told so, for a file that is not ours is never replaced. They may share a prefix of S3.
"""

import socket
from hashlib import blake2b
from pathlib import Path, PurePosixPath

from weft.errors import ConfigError
from weft.sinks import file_digest
from weft.sinks.base import Sink, SinkConfig
from weft.sinks.export.address import read_address
from weft.sinks.export.batches import BatchOutlet
from weft.sinks.export.formats import SUFFIXES, Render, find_render
from weft.sinks.export.ftp import FtpPlace
from weft.sinks.export.journal import journal_path
from weft.sinks.export.local import LocalPlace
from weft.sinks.export.sink import ExportSink
from weft.sinks.export.whole import WholeOutlet
from weft.urls import without_password

__all__ = ["ExportSink", "make_sink"]

#: How far one file on a server may be behind what is stored: each time, all of it is sent again.
UPLOAD_EVERY_S = 300.0


def make_sink(output: str, config: SinkConfig) -> Sink:
    """The sink for a path or an ftp:// or s3:// address, not opened yet."""
    scheme, separator, _ = output.partition("://")
    if not separator:
        return _make_local(Path(output), config)
    return _make_ftp(output, config) if scheme.lower() == "ftp" else _make_s3(output, config)


def _make_local(path: Path, config: SinkConfig) -> Sink:
    journal = journal_path(config.job_dir, file_digest(path))
    place = LocalPlace(path, _token(config))
    outlet = WholeOutlet(journal, place, _render_for(str(path)))
    return ExportSink(journal, config.job, outlet)


def _make_ftp(output: str, config: SinkConfig) -> Sink:
    address = read_address(output)
    render = _render_for(address.path)
    # Another user may be shown other files; another password makes no difference.
    journal = _journal_of(
        f"ftp {address.user} {address.host}:{address.port}/{address.path}", config
    )
    place = FtpPlace(without_password(output), address, journal.with_suffix(".tmp"), _token(config))
    outlet = WholeOutlet(journal, place, render, UPLOAD_EVERY_S)
    return ExportSink(journal, config.job, outlet)


def _make_s3(output: str, config: SinkConfig) -> Sink:
    # Here, for only this needs boto3.
    from weft.sinks.export.s3 import Bucket, S3Objects, S3Place

    address = read_address(output, options=("endpoint", "region"))
    if address.port:
        raise ConfigError(
            f"{without_password(output)!r} has a port; the server is named by "
            "s3://bucket/path?endpoint=http://host:port"
        )
    endpoint = address.options.get("endpoint", "")
    journal = _journal_of(f"s3 {endpoint} {address.host}/{address.path.rstrip('/')}", config)
    bucket = Bucket(without_password(output), address)
    if _is_prefix(address.path):
        prefix = address.path.rstrip("/")
        objects = S3Objects(bucket, f"{prefix}/" if prefix else "")
        return ExportSink(journal, config.job, BatchOutlet(journal, objects, config.job))
    place = S3Place(bucket, address.path, journal.with_suffix(".tmp"))
    outlet = WholeOutlet(journal, place, _render_for(address.path), UPLOAD_EVERY_S)
    return ExportSink(journal, config.job, outlet)


def _is_prefix(path: str) -> bool:
    return path.endswith("/") or not PurePosixPath(path).suffix


def _render_for(path: str) -> Render:
    render = find_render(path)
    if render is None:
        name = PurePosixPath(path).name
        raise ConfigError(
            f"{name!r} does not say what to write; choose a name that ends in {', '.join(SUFFIXES)}"
            " (on S3, a name that ends in / gets objects of JSON lines)"
        )
    return render


def _journal_of(place: str, config: SinkConfig) -> Path:
    return journal_path(config.job_dir, blake2b(place.encode(), digest_size=8).hexdigest())


def _token(config: SinkConfig) -> str:
    """Tells this job on this machine from all others that may write beside it."""
    place = f"{socket.gethostname()} {file_digest(config.job_dir)}"
    return blake2b(place.encode(), digest_size=4).hexdigest()
