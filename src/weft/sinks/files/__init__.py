"""Files that cannot be appended to, and remote files: JSON, CSV, XML, Parquet; FTP, S3.

An item is first stored in a *journal*, an SQLite file in the job's directory. The journal is
durable, knows every item by its key, and may be open in several workers at once. `store` waits only
for the journal. From time to time, and when a worker closes, the items are *shown*: an *outlet*
writes them from the journal to the output.

* **Whole** (`whole.py`): one file with all items, rendered again each time and replaced atomically.
* **Batches** (`batches.py`): objects under a prefix of S3, each written once.

What is shown depends on the journal alone, so a process that dies while showing loses nothing: the
journal is ahead of its output, and the next process shows again. A lock lets one process show at a
time. A closing worker waits for that lock and shows what is left, so the last worker leaves a
complete output. If workers are killed after all others have closed, or the server is down at the
end, `has_left_items` reports it and the next run of the job shows the rest.

During a crawl, a server that is down blocks nothing: items still go into the journal.

One journal, one output: workers on several machines have a journal each and must not share a file.
They get an error, because a file that is not ours is never replaced. They may share a prefix of S3.
"""

import socket
from hashlib import blake2b
from pathlib import Path, PurePosixPath

from weft.errors import ConfigError
from weft.sinks import file_digest
from weft.sinks.base import Sink, SinkConfig
from weft.sinks.files.address import read_address
from weft.sinks.files.batches import BatchOutlet
from weft.sinks.files.formats import SUFFIXES, Render, find_render
from weft.sinks.files.ftp import FtpDestination
from weft.sinks.files.journal import journal_path
from weft.sinks.files.local import LocalDestination
from weft.sinks.files.sink import ExportSink
from weft.sinks.files.whole import WholeOutlet
from weft.urls import without_password

__all__ = ["ExportSink", "make_sink"]

#: How far a file on a server may lag behind: each update uploads all of it again.
UPLOAD_EVERY_S = 300.0


def make_sink(output: str, config: SinkConfig) -> Sink:
    """Make the sink for a path or an ftp:// or s3:// address, not opened yet."""
    scheme, separator, _ = output.partition("://")
    if not separator:
        return _make_local(Path(output), config)
    return _make_ftp(output, config) if scheme.lower() == "ftp" else _make_s3(output, config)


def _make_local(path: Path, config: SinkConfig) -> Sink:
    journal = journal_path(config.job_dir, file_digest(path))
    destination = LocalDestination(path, _token(config))
    outlet = WholeOutlet(journal, destination, _render_for(str(path)))
    return ExportSink(journal, config.job, outlet)


def _make_ftp(output: str, config: SinkConfig) -> Sink:
    address = read_address(output)
    render = _render_for(address.path)
    # Another user may see other files; another password makes no difference.
    journal = _journal_of(
        f"ftp {address.user} {address.host}:{address.port}/{address.path}", config
    )
    destination = FtpDestination(
        without_password(output), address, journal.with_suffix(".tmp"), _token(config)
    )
    outlet = WholeOutlet(journal, destination, render, UPLOAD_EVERY_S)
    return ExportSink(journal, config.job, outlet)


def _make_s3(output: str, config: SinkConfig) -> Sink:
    # Imported here because only this needs boto3.
    from weft.sinks.files.s3 import S3Bucket, S3Destination, S3Objects

    address = read_address(output, options=("endpoint", "region"))
    if address.port:
        raise ConfigError(
            f"{without_password(output)!r} has a port; name the server like this: "
            "s3://bucket/path?endpoint=http://host:port"
        )
    endpoint = address.options.get("endpoint", "")
    journal = _journal_of(f"s3 {endpoint} {address.host}/{address.path.rstrip('/')}", config)
    bucket = S3Bucket(without_password(output), address)
    if _is_prefix(address.path):
        prefix = address.path.rstrip("/")
        objects = S3Objects(bucket, f"{prefix}/" if prefix else "")
        return ExportSink(journal, config.job, BatchOutlet(journal, objects, config.job))
    destination = S3Destination(bucket, address.path, journal.with_suffix(".tmp"))
    outlet = WholeOutlet(journal, destination, _render_for(address.path), UPLOAD_EVERY_S)
    return ExportSink(journal, config.job, outlet)


def _is_prefix(path: str) -> bool:
    return path.endswith("/") or not PurePosixPath(path).suffix


def _render_for(path: str) -> Render:
    render = find_render(path)
    if render is None:
        name = PurePosixPath(path).name
        raise ConfigError(
            f"{name!r} does not name a format; choose a name that ends in {', '.join(SUFFIXES)}"
            " (on S3, a name that ends in / gets objects of JSON lines)"
        )
    return render


def _journal_of(output: str, config: SinkConfig) -> Path:
    return journal_path(config.job_dir, blake2b(output.encode(), digest_size=8).hexdigest())


def _token(config: SinkConfig) -> str:
    """Distinguishes this job on this machine from all others that may write there."""
    home = f"{socket.gethostname()} {file_digest(config.job_dir)}"
    return blake2b(home.encode(), digest_size=4).hexdigest()
