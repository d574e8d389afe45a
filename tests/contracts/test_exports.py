"""The contract of `Sink` on exports: every format, and the servers that files are put on."""

import asyncio
import csv
import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import boto3
import pyarrow.parquet
import pytest

from launchers.ftp import READER, FtpServer
from launchers.s3 import BUCKET, READER_KEY, READER_SECRET, S3Server
from servers import started
from weft.errors import SinkDownError, StoreError
from weft.sinks import Sink, SinkConfig, has_left_items, make_sink
from weft.sinks.files.address import read_address
from weft.sinks.files.batches import BatchOutlet
from weft.sinks.files.formats import render_json_lines
from weft.sinks.files.ftp import FtpDestination
from weft.sinks.files.parquet import OURS
from weft.sinks.files.s3 import S3Bucket, S3Objects
from weft.sinks.files.sink import ExportSink
from weft.sinks.files.whole import WholeOutlet
from weft.testing.sink_contract import (
    SinkContract,
    numbered,
    numbered_items,
    store,
    without_nothing,
)
from weft.testing.waiting import until


@pytest.fixture(scope="module")
def ftp() -> Iterator[FtpServer]:
    with started(FtpServer) as server:
        yield server


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with started(S3Server) as server, pytest.MonkeyPatch.context() as patch:
        # Each would read descriptions of all that Amazon has, for 0.2 s.
        patch.setattr(boto3, "Session", cache(boto3.Session))
        yield server


def decoded(text: str | None) -> object:
    """Where a format has texts only: a number or a nested value if it looks like one."""
    try:
        return json.loads(text or "")
    except ValueError:
        return text


# Formats


class FileContract(SinkContract):
    KEEPS_NEWER = True
    SHOWS_AT_ONCE = False
    NAME: str

    def make_sink(self, directory: Path) -> Sink:
        return make_sink(str(directory / self.NAME), SinkConfig(directory / "job"))


class TestJson(FileContract):
    NAME = "items.json"

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        return list(json.loads((directory / self.NAME).read_bytes()))


class TestCsv(FileContract):
    NAME = "items.csv"

    @pytest.fixture(autouse=True)
    def long_fields(self) -> Iterator[None]:
        before = csv.field_size_limit(10_000_000)
        yield
        csv.field_size_limit(before)

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        text = (directory / self.NAME).read_bytes().decode()
        rows = csv.DictReader(StringIO(text, newline=""))
        return [{name: decoded(cell) for name, cell in row.items() if cell} for row in rows]


class TestXml(FileContract):
    NAME = "items.xml"
    INSTEAD_OF_NUL = "\ufffd"

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        root = ElementTree.parse(directory / self.NAME).getroot()
        assert root.tag == "items"
        return [self.read_fields(item) for item in root]

    def read_fields(self, parent: ElementTree.Element) -> dict[str, object]:
        return {part.get("name", part.tag): self.read_value(part) for part in parent}

    def read_value(self, element: ElementTree.Element) -> object:
        if not len(element):
            return decoded(element.text)
        if all(part.tag == "value" for part in element):
            return [self.read_value(part) for part in element]
        return self.read_fields(element)

    async def test_nested_data_is_kept(self, tmp_path: Path) -> None:
        value = {"list": [1, 2.5, True, {"deep": [[2], {"a b": "x"}]}], "big": 2**63 - 1}
        as_text = {"list": [1, 2.5, "True", {"deep": [[2], {"a b": "x"}]}], "big": 2**63 - 1}
        assert await self.store_value(tmp_path, value) == as_text

    async def test_other_types_have_a_form_in_json(self, tmp_path: Path) -> None:
        value = [b"ab", (1, 2), {3}, float("nan")]
        assert await self.store_value(tmp_path, value) == ["YWI=", [1, 2], [3], None]


class TestParquet(FileContract):
    NAME = "items.parquet"

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        rows = pyarrow.parquet.read_table(directory / self.NAME).drop_columns(list(OURS))
        return [without_nothing(self.read_fields(row)) for row in rows.to_pylist()]

    def read_fields(self, row: dict[str, Any]) -> dict[str, object]:
        return {
            name: decoded(value) if isinstance(value, str) and value[:1] in "[{" else value
            for name, value in row.items()
        }


# Servers


class TestFtp(SinkContract):
    KEEPS_NEWER = True
    SHOWS_AT_ONCE = False

    @pytest.fixture(autouse=True)
    def use(self, ftp: FtpServer) -> None:
        self.server = ftp

    def make_sink(self, directory: Path) -> Sink:
        address = self.server.address(f"{directory}/new folder/items.json".lstrip("/"))
        return make_sink(address, SinkConfig(directory / "job"))

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        place = self.server.files.joinpath(*directory.parts[1:], "new folder")
        assert [file.name for file in place.iterdir()] == ["items.json"]
        return list(json.loads((place / "items.json").read_bytes()))


class TestS3Object(SinkContract):
    KEEPS_NEWER = True
    SHOWS_AT_ONCE = False

    @pytest.fixture(autouse=True)
    def use(self, s3: S3Server) -> None:
        self.server = s3

    def make_sink(self, directory: Path) -> Sink:
        address = self.server.address(f"{directory}/items.jsonl".lstrip("/"))
        return make_sink(address, SinkConfig(directory / "job"))

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        ((key, content),) = read_objects(self.server, directory).items()
        assert key.endswith("/items.jsonl")
        return [json.loads(line) for line in content.split(b"\n")[:-1]]


class TestS3Batches(SinkContract):
    KEEPS_NEWER = False
    SHOWS_AT_ONCE = False

    @pytest.fixture(autouse=True)
    def use(self, s3: S3Server) -> None:
        self.server = s3

    def make_sink(self, directory: Path) -> Sink:
        return make_sink(
            self.server.address(f"{directory}/items".lstrip("/")),
            SinkConfig(directory / "job", job="shop"),
        )

    async def read_items(self, directory: Path) -> list[dict[str, object]]:
        contents = read_objects(self.server, directory)
        assert all("/items/shop-" in key for key in contents)
        return [json.loads(line) for each in contents.values() for line in each.split(b"\n")[:-1]]


def batch_sink(
    server: S3Server, directory: Path, every_items: int = 3, every_s: float = 60
) -> Sink:
    bucket = S3Bucket("the bucket", read_address(server.address(""), ("endpoint",)))
    objects = S3Objects(bucket, f"{directory}/items/".lstrip("/"))
    journal = directory / "job" / "export-x.db"
    return ExportSink(journal, "shop", BatchOutlet(journal, objects, "shop", every_items, every_s))


def read_objects(server: S3Server, directory: Path) -> dict[str, bytes]:
    """All objects below the directory."""
    listed = server.client.list_objects_v2(Bucket=BUCKET, Prefix=f"{directory}/".lstrip("/"))
    keys = sorted(each["Key"] for each in listed.get("Contents", []))
    return {key: server.client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


def read_numbers(server: S3Server, directory: Path) -> list[int]:
    contents = read_objects(server, directory).values()
    return [json.loads(line)["number"] for each in contents for line in each.splitlines()]


# A server that is away


def ftp_sink(server: FtpServer, directory: Path, every_s: float = 30) -> Sink:
    address = read_address(server.address(f"{directory.name}/items.jsonl"))
    journal = directory / "job" / "export-x.db"
    destination = FtpDestination("the server", address, journal.with_suffix(".tmp"), "token")
    return ExportSink(
        journal, "shop", WholeOutlet(journal, destination, render_json_lines, every_s)
    )


async def test_ftp_server_that_is_away_holds_no_crawl_up_and_gets_all_items_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(server: FtpServer) -> None:
        sink = ftp_sink(server, tmp_path, every_s=0)
        await sink.open()
        server.kill()
        for number in range(5):
            await sink.store([numbered(number)])
            await asyncio.sleep(0.01)
        with pytest.raises(
            SinkDownError, match=r"All items are safe in .*export-x\.db; run the same"
        ):
            await sink.close()

    with started(FtpServer) as server, caplog.at_level(logging.WARNING):
        await scenario(server)
        assert len([each for each in caplog.messages if "The crawl goes on" in each]) == 1
        assert has_left_items(tmp_path / "job")
        server.start()
        await store(ftp_sink(server, tmp_path), [])
        lines = (server.files / tmp_path.name / "items.jsonl").read_text().splitlines()
        assert [json.loads(line)["number"] for line in lines] == list(range(5))
        assert not has_left_items(tmp_path / "job")


async def test_ftp_server_that_comes_late_gets_all_items(tmp_path: Path) -> None:
    with started(FtpServer) as server:
        await store(ftp_sink(server, tmp_path), [numbered(0)])
        server.kill()
        sink = ftp_sink(server, tmp_path, every_s=0)
        await sink.open()
        await sink.clear()
        await sink.store([numbered(1)])
        server.start()
        await sink.close()
        lines = (server.files / tmp_path.name / "items.jsonl").read_text().splitlines()
        assert [json.loads(line)["number"] for line in lines] == [1]
        assert not has_left_items(tmp_path / "job")


async def test_s3_server_is_killed_and_comes_back(s3: S3Server, tmp_path: Path) -> None:
    sink = batch_sink(s3, tmp_path)
    await sink.open()
    await sink.store(numbered_items(range(4)))
    s3.kill()
    try:
        await sink.store(numbered_items(range(2, 8)))
        with pytest.raises(SinkDownError, match="All items are safe"):
            await sink.close()
        assert has_left_items(tmp_path / "job")
    finally:
        s3.start()
    await store(batch_sink(s3, tmp_path), numbered_items(range(6, 10)))
    assert sorted(read_numbers(s3, tmp_path)) == list(range(10))
    assert not has_left_items(tmp_path / "job")


async def test_objects_have_so_many_items_and_the_rest(s3: S3Server, tmp_path: Path) -> None:
    await store(batch_sink(s3, tmp_path), numbered_items(range(10)))
    contents = read_objects(s3, tmp_path)
    assert [len(content.splitlines()) for content in contents.values()] == [3, 3, 3, 1]
    assert read_numbers(s3, tmp_path) == list(range(10))


async def test_objects_come_while_the_crawl_runs(s3: S3Server, tmp_path: Path) -> None:
    sink = batch_sink(s3, tmp_path)
    await sink.open()
    try:
        await sink.store(numbered_items(range(3)))
        await until(lambda: bool(read_objects(s3, tmp_path)), "there is an object")
    finally:
        await sink.close()
    assert read_numbers(s3, tmp_path) == [0, 1, 2]


async def test_batch_that_is_put_again_has_the_same_name_and_bytes(
    s3: S3Server, tmp_path: Path
) -> None:
    class Interrupted(Exception):
        pass

    class Dying(S3Objects):
        def put(self, name: str, content: Path, sign: Callable[[], None]) -> None:
            super().put(name, content, sign)
            raise Interrupted

    bucket = S3Bucket("the bucket", read_address(s3.address(""), ("endpoint",)))
    journal = tmp_path / "job" / "export-x.db"
    objects = Dying(bucket, f"{tmp_path}/items/".lstrip("/"))
    dying = ExportSink(journal, "shop", BatchOutlet(journal, objects, "shop", 3))
    with pytest.raises(Interrupted):
        await store(dying, numbered_items(range(3)))
    before = read_objects(s3, tmp_path)
    await store(batch_sink(s3, tmp_path), [numbered(1, v="newer"), numbered(3)])
    after = read_objects(s3, tmp_path)
    assert len(before) == 1
    assert len(after) == 2
    assert before.items() <= after.items()


async def test_workers_that_close_at_the_same_time_leave_everything(
    s3: S3Server, tmp_path: Path
) -> None:
    sinks = [batch_sink(s3, tmp_path) for _ in range(3)]
    for sink in sinks:
        await sink.open()
    for number, sink in enumerate(sinks):
        await sink.store(numbered_items(range(number, number + 10)))
    await asyncio.gather(*(sink.close() for sink in sinks))
    assert sorted(read_numbers(s3, tmp_path)) == list(range(12))


# What is told before the crawl starts


async def assert_not_opened(
    output: str, directory: Path, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        await store(make_sink(output, SinkConfig(directory / "job")))
    for secret in ("wrong", "secret", "p%40ss", "p@ss"):
        assert f":{secret}" not in str(caught.value)


async def test_one_who_looks_if_it_may_write_disturbs_no_upload(
    ftp: FtpServer, tmp_path: Path
) -> None:
    """Workers begin and end at different times, with the same output."""

    def place(name: str) -> FtpDestination:
        address = read_address(ftp.address("disturbed.txt"))
        return FtpDestination("the server", address, tmp_path / name, "token")

    (tmp_path / "one").write_text("the items")
    for _ in range(10):
        await asyncio.gather(
            asyncio.to_thread(place("one").put, lambda stamp: None, lambda: None),
            *(asyncio.to_thread(place("other").check) for _ in range(3)),
        )
        assert (ftp.files / "disturbed.txt").read_text() == "the items"
    assert not [*ftp.files.glob(".*")]


async def test_wrong_password_of_ftp_is_told(ftp: FtpServer, tmp_path: Path) -> None:
    output = ftp.address("items.csv", password="wrong")
    await assert_not_opened(output, tmp_path, StoreError, "rejects the login.*user:password")


async def test_missing_right_to_write_by_ftp_is_told(ftp: FtpServer, tmp_path: Path) -> None:
    output = ftp.address("items.csv", user=READER)
    await assert_not_opened(output, tmp_path, StoreError, "give the user 'reader' the right")


async def assert_opened_with_warning(
    output: str, directory: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await store(make_sink(output, SinkConfig(directory / "job")))
    [told] = caplog.messages
    assert re.search(text, told)
    assert "The crawl goes on: its items are safe" in told
    assert ":secret" not in told


async def test_unreachable_ftp_server_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    output = "ftp://user:secret@127.0.0.1:9/items.csv"
    text = "cannot be reached.*check that the server is running"
    await assert_opened_with_warning(output, tmp_path, text, caplog)


async def test_wrong_secret_of_s3_is_told(s3: S3Server, tmp_path: Path) -> None:
    output = s3.address("items.csv", secret="wrong")
    await assert_not_opened(output, tmp_path, StoreError, "check AWS_ACCESS_KEY_ID")


async def test_missing_bucket_is_told(s3: S3Server, tmp_path: Path) -> None:
    output = s3.address("items.csv", bucket="nowhere")
    await assert_not_opened(output, tmp_path, StoreError, "create the bucket 'nowhere'")


async def test_missing_right_to_write_to_s3_is_told(s3: S3Server, tmp_path: Path) -> None:
    output = s3.address("items/", key=READER_KEY, secret=READER_SECRET.replace(" ", "%20"))
    await assert_not_opened(
        output, tmp_path, StoreError, "give the user of these credentials the rights"
    )


async def test_missing_credentials_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    output = "s3://bucket/items.csv?endpoint=http://127.0.0.1:9"
    await assert_not_opened(output, tmp_path, StoreError, "needs credentials.*AWS_PROFILE")


@pytest.mark.parametrize("name", ["items.csv", "items/"])
async def test_unreachable_s3_server_is_told(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    output = f"s3://key:secret@bucket/{name}?endpoint=http://127.0.0.1:9"
    await assert_opened_with_warning(output, tmp_path, "cannot be reached.*endpoint", caplog)


async def test_file_of_someone_else_on_ftp_stays(ftp: FtpServer, tmp_path: Path) -> None:
    place = ftp.files / f"{tmp_path.name}.csv"
    place.write_text("mine")
    output = ftp.address(place.name)
    await assert_not_opened(
        output, tmp_path, StoreError, "was not written by this job.*move it away"
    )
    assert place.read_text() == "mine"


async def test_object_of_someone_else_stays(s3: S3Server, tmp_path: Path) -> None:
    key = f"{tmp_path.name}.csv"
    s3.client.put_object(Bucket=BUCKET, Key=key, Body=b"mine")
    output = s3.address(key)
    await assert_not_opened(
        output, tmp_path, StoreError, "was not written by this job.*move it away"
    )
    assert s3.client.get_object(Bucket=BUCKET, Key=key)["Body"].read() == b"mine"
