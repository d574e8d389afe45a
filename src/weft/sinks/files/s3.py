"""The output in a bucket of S3 or a compatible server: one object or many."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
)

from weft.errors import SinkDownError, StoreError
from weft.sinks.files.address import ExportAddress

CONNECT_TIMEOUT_S = 10
READ_TIMEOUT_S = 60
#: The upload is repeated later anyway; a brief failure need not be reported.
ATTEMPTS = 3

#: Identifies an object that we have written.
MARK = "weft"

_BAD_CREDENTIALS = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken")
_BUSY = ("SlowDown", "RequestTimeout", "TooManyRequests", "Throttling")
_CREDENTIALS_CURE = (
    "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or the profile in AWS_PROFILE, or write "
    "s3://KEY:SECRET@bucket/…"
)


class S3Bucket:
    """Objects in a bucket. `place` is the output, safe to display."""

    def __init__(self, place: str, address: ExportAddress) -> None:
        self.place = place
        self._bucket = address.host
        self._address = address
        self._client: Any = None

    def check(self, prefix: str) -> None:
        """Put an object under `prefix` and delete it."""
        probe = f"{prefix}.weft-{uuid4().hex}"
        with self._talking() as client:
            client.put_object(
                Bucket=self._bucket, Key=probe, Body=b"Weft checks whether it may write."
            )
            with suppress(ClientError):  # the right to write is enough for a crawl
                client.delete_object(Bucket=self._bucket, Key=probe)

    def find(self, key: str) -> str:
        """Return what identifies the object; "" if there is none, or it is empty."""
        with self._talking() as client:
            try:
                head = client.head_object(Bucket=self._bucket, Key=key)
            except ClientError as problem:
                if _status(problem) == 404:  # also if there is no bucket; `check` reports that
                    return ""
                raise
        if not head["ContentLength"]:
            return ""
        return str(head["Metadata"].get(MARK) or head["ETag"])

    def put(self, key: str, content: Path, mark: str, sign: Callable[[], None]) -> None:
        with self._talking() as client, content.open("rb") as file:
            client.upload_fileobj(
                file,
                self._bucket,
                key,
                ExtraArgs={"Metadata": {MARK: mark}},
                Callback=lambda _: sign(),
                Config=TransferConfig(use_threads=False),
            )

    def delete(self, key: str) -> None:
        with self._talking() as client:
            client.delete_object(Bucket=self._bucket, Key=key)

    @contextmanager
    def _talking(self) -> Iterator[Any]:
        try:
            if self._client is None:
                self._client = self._make_client()
            yield self._client
        except (ConnectionError, HTTPClientError) as problem:
            raise SinkDownError(
                f"{self.place} cannot be reached ({problem}); check that the server is running "
                "and the endpoint is right"
            ) from problem
        except (NoCredentialsError, PartialCredentialsError) as problem:
            raise StoreError(
                f"{self.place} needs credentials ({problem}); {_CREDENTIALS_CURE}"
            ) from problem
        except ClientError as problem:
            raise self._refusal(problem) from problem
        except (BotoCoreError, ValueError) as problem:  # ValueError: the endpoint is not a URL
            raise StoreError(
                f"{self.place} cannot be used ({problem}); put that right, or choose another "
                "output with -o"
            ) from problem

    def _make_client(self) -> Any:
        endpoint = self._address.options.get("endpoint")
        region = self._address.options.get("region")
        session = boto3.Session(
            aws_access_key_id=self._address.user or None,
            aws_secret_access_key=self._address.password or None,
            region_name=region,
        )
        return session.client(
            "s3",
            endpoint_url=endpoint,
            # Servers other than Amazon's have no region, but it is part of every signature.
            region_name=session.region_name or ("us-east-1" if endpoint else None),
            config=Config(
                connect_timeout=CONNECT_TIMEOUT_S,
                read_timeout=READ_TIMEOUT_S,
                retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
                # Not all servers support the newer checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def _refusal(self, problem: ClientError) -> StoreError:
        code = problem.response["Error"]["Code"]
        if _status(problem) >= 500 or code in _BUSY:
            return SinkDownError(f"{self.place} is not ready ({problem}); try again later")
        if code == "NoSuchBucket":
            cure = f"create the bucket {self._bucket!r}, or choose another output with -o"
        elif code in _BAD_CREDENTIALS:
            cure = _CREDENTIALS_CURE
        elif _status(problem) == 403:
            cure = (
                "give the user of these credentials the rights s3:ListBucket, s3:GetObject, "
                "s3:PutObject and s3:DeleteObject, or use other credentials"
            )
        else:
            cure = "put that right, or choose another output with -o"
        return StoreError(f"{self.place} refuses ({problem}); {cure}")


class S3Destination:
    """A `Destination` for one object."""

    def __init__(self, bucket: S3Bucket, key: str, scratch: Path) -> None:
        self.place = bucket.place
        self.scratch = scratch
        self._bucket = bucket
        self._key = key

    def check(self) -> None:
        self._bucket.check(self._key)

    def find(self) -> str:
        return self._bucket.find(self._key)

    def put(self, note: Callable[[str], None], sign: Callable[[], None]) -> None:
        mark = uuid4().hex
        note(mark)
        self._bucket.put(self._key, self.scratch, mark, sign)

    def remove(self) -> None:
        self._bucket.delete(self._key)


class S3Objects:
    """`Objects` whose names all begin with `prefix`."""

    def __init__(self, bucket: S3Bucket, prefix: str) -> None:
        self.place = bucket.place
        self._bucket = bucket
        self._prefix = prefix

    def check(self) -> None:
        self._bucket.check(self._prefix)

    def put(self, name: str, content: Path, sign: Callable[[], None]) -> None:
        self._bucket.put(self._prefix + name, content, name, sign)

    def delete(self, name: str) -> None:
        self._bucket.delete(self._prefix + name)


def _status(problem: ClientError) -> int:
    return int(problem.response["ResponseMetadata"].get("HTTPStatusCode", 0))
