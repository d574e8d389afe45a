"""One SQLite file and several workers on one machine."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from sharing import Worker, workers
from storing import BATCH_ITEMS, read_numbers

WORKERS = 4


def run_together(group: list[Worker], *commands: object) -> None:
    for worker in group:
        worker.send(*commands)
    for worker in group:
        worker.wait_for(*commands)


def test_workers_make_one_file_at_the_same_moment(tmp_path: Path) -> None:
    output = tmp_path / "items.db"
    with workers(WORKERS, output, tmp_path) as group:
        for _ in range(50):
            run_together(group, "open", 0, 1, "close")
            assert sorted(read_numbers(output)) == list(range(2 * BATCH_ITEMS))
            output.unlink()


def test_workers_write_to_one_file_and_open_it_again_and_again(tmp_path: Path) -> None:
    commands = [command for number in range(20) for command in ("open", number, "close")]
    with workers(WORKERS, tmp_path / "items.db", tmp_path) as group:
        run_together(group, *commands)
    assert sorted(read_numbers(tmp_path / "items.db")) == list(range(20 * BATCH_ITEMS))


def test_killed_workers_do_not_harm_the_others(tmp_path: Path, rng: random.Random) -> None:
    output = tmp_path / "items.db"
    for _ in range(3):
        with workers(WORKERS, output, tmp_path) as [survivor, *victims]:
            for victim in victims:
                victim.send("open", *rng.sample(range(50), 50))
            survivor.do("open")
            for number in range(10):
                survivor.do(number)
                if number < len(victims):
                    victims[number].kill()
            survivor.do("close")
    numbers = read_numbers(output)
    assert len(numbers) == len(set(numbers))
    assert set(range(10 * BATCH_ITEMS)) <= set(numbers)
    with closing(sqlite3.connect(output)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
