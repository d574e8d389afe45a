"""The output on an FTP server: uploaded under another name first, then renamed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ftplib import FTP, all_errors, error_perm, error_temp
from io import BytesIO
from pathlib import Path, PurePosixPath
from uuid import uuid4

from weft.errors import SinkDownError, StoreError
from weft.sinks.files.address import ExportAddress

#: How long the server may take to log us in, and how long it may be silent later.
CONNECT_TIMEOUT_S = 10.0
TIMEOUT_S = 60.0
#: Sent between two signs of life.
BLOCK_BYTES = 256 * 1024

_NOT_LOGGED_IN = "530"
_NOT_THERE = "550"


class FtpDestination:
    """A `Destination` on a server; `token` distinguishes our files from those of other jobs."""

    def __init__(self, place: str, address: ExportAddress, scratch: Path, token: str) -> None:
        self.place = place
        self.scratch = scratch
        self._address = address
        self._path = PurePosixPath("/", address.path)
        self._upload = f".{self._path.name}.{token}.tmp"

    def check(self) -> None:
        probe = f".weft-{uuid4().hex}"  # another worker may be uploading
        with self._connected() as ftp:
            try:
                self._go_to_directory(ftp)
                ftp.storbinary(f"STOR {probe}", BytesIO(b"Weft checks whether it may write.\n"))
                ftp.delete(probe)
            except error_perm as problem:
                raise StoreError(
                    f"{self.place} cannot be written ({problem}): give the user "
                    f"{self._address.user or 'anonymous'!r} the right to write, or choose another "
                    "output with -o"
                ) from problem

    def find(self) -> str:
        with self._connected() as ftp:
            return _stamp(ftp, str(self._path))

    def put(self, note: Callable[[str], None], sign: Callable[[], None]) -> None:
        with self._connected() as ftp, self.scratch.open("rb") as content:
            self._go_to_directory(ftp)
            ftp.storbinary(f"STOR {self._upload}", content, BLOCK_BYTES, lambda _: sign())
            note(_stamp(ftp, self._upload))  # it stays the same when it is renamed
            _rename(ftp, self._upload, self._path.name)

    def remove(self) -> None:
        with self._connected() as ftp:
            if _stamp(ftp, str(self._path)):
                ftp.delete(str(self._path))

    @contextmanager
    def _connected(self) -> Iterator[FTP]:
        try:
            with FTP() as ftp:
                ftp.connect(self._address.host, self._address.port, CONNECT_TIMEOUT_S)
                _allow(ftp, TIMEOUT_S)
                ftp.login(self._address.user, self._address.password)
                ftp.voidcmd("TYPE I")  # so that sizes are in bytes
                yield ftp
        except error_perm as problem:
            raise StoreError(self._refusal(problem)) from problem
        except all_errors as problem:  # includes all network errors
            what = "is not ready" if isinstance(problem, error_temp) else "cannot be reached"
            raise SinkDownError(
                f"{self.place} {what} ({problem or 'the connection was closed'}); check that the "
                "server is running and the address is right"
            ) from problem

    def _refusal(self, problem: error_perm) -> str:
        if str(problem).startswith(_NOT_LOGGED_IN):
            return (
                f"{self.place} rejects the login ({problem}); check the user and the password in "
                "ftp://user:password@host/…"
            )
        return f"{self.place} refuses ({problem}); put that right, or choose another output with -o"

    def _go_to_directory(self, ftp: FTP) -> None:
        """Create it if it is missing."""
        for name in self._path.parent.parts:  # the first is "/"
            try:
                ftp.cwd(name)
            except error_perm:
                with suppress(error_perm):  # another worker may be faster
                    ftp.mkd(name)
                ftp.cwd(name)


def _allow(ftp: FTP, timeout_s: float) -> None:
    """Set the timeout for each reply, and for each block of a file."""
    ftp.timeout = timeout_s
    if ftp.sock is not None:
        ftp.sock.settimeout(timeout_s)


def _stamp(ftp: FTP, path: str) -> str:
    try:
        size_bytes = ftp.size(path)
    except error_perm as problem:
        if str(problem).startswith(_NOT_THERE):
            return ""
        raise
    if not size_bytes:
        return ""
    try:
        modified_at = ftp.voidcmd(f"MDTM {path}")
    except error_perm:  # not all servers support that
        modified_at = ""
    return f"{size_bytes} {modified_at}"


def _rename(ftp: FTP, source: str, target: str) -> None:
    try:
        ftp.rename(source, target)
    except error_perm:
        # Some servers do not replace a file. If we die here, the journal still has all items.
        ftp.delete(target)
        ftp.rename(source, target)
