"""Scrapy's store of media files, shared by workers and cut short."""

from io import BytesIO
from pathlib import Path
from threading import Barrier, Thread
from typing import cast

import pytest
from scrapy.pipelines.files import FSFilesStore
from scrapy.pipelines.media import MediaPipeline
from scrapy.settings import Settings

from disks import fill, small_disk_at
from weft.engine.scrapy.addon import Addon

INFO = cast(MediaPipeline.SpiderInfo, None)  # unused


@pytest.fixture(autouse=True)
def _addon() -> None:
    """Scrapy asks it before it makes a pipeline."""
    Addon().update_settings(Settings())


def test_workers_make_the_same_directories_at_the_same_moment(tmp_path: Path) -> None:
    barrier = Barrier(8, timeout=10)

    def store_file(directory: Path, name: str) -> None:
        barrier.wait()
        store = FSFilesStore(directory)
        barrier.wait()
        store.persist_file(f"full/{name}", BytesIO(name.encode()), INFO)

    for number in range(50):
        threads = [
            Thread(target=store_file, args=[tmp_path / str(number), f"{worker}.jpg"])
            for worker in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    files = [*tmp_path.glob("*/full/*")]
    assert len(files) == 400
    assert all(file.read_text() == file.name for file in files)


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    with small_disk_at(tmp_path / "disk", size_mb=1) as disk:
        store = FSFilesStore(disk / "files")
        ballast = fill(disk, leave_bytes=50_000)
        with pytest.raises(OSError, match="No space left"):
            store.persist_file("full/1.jpg", BytesIO(b"x" * 100_000), INFO)
        assert {path.name for path in disk.rglob("*")} == {"files", "full", "ballast"}
        assert store.stat_file("full/1.jpg", INFO) == {}
        ballast.unlink()
        store.persist_file("full/1.jpg", BytesIO(b"x" * 100_000), INFO)
        assert store.stat_file("full/1.jpg", INFO)["checksum"]
