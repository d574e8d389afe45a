"""Reading archives as others do: with warcio, which checks all digests."""

from dataclasses import dataclass
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator


@dataclass(frozen=True)
class Record:
    type: str
    url: str
    #: The fields of the record itself.
    fields: dict[str, str]
    #: First line of the HTTP message; empty: it is none.
    first_line: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def status(self) -> int:
        return int(self.first_line.split()[1])


def read_warc(path: Path) -> list[Record]:
    """Raises what warcio raises if a digest is wrong or the file ends inside a record."""
    with path.open("rb") as source:
        return [_read(record) for record in ArchiveIterator(source, check_digests="raise")]


def read_pages(directory: Path) -> list[Record]:
    """The responses in all complete files."""
    paths = sorted(directory.glob("*.warc.gz"))
    return [record for path in paths for record in read_warc(path) if record.type == "response"]


def _read(record: "ArchiveIterator") -> Record:
    http = record.http_headers
    body = record.raw_stream.read()
    return Record(
        record.rec_type,
        record.rec_headers.get_header("WARC-Target-URI") or "",
        dict(record.rec_headers.headers),
        f"{http.protocol} {http.statusline}" if http else "",
        list(http.headers) if http else [],
        body,
    )
