"""Workers that share a sink, as processes. Run as a program, it does what its input says."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nursery
from storing import batch_of
from weft.sinks import SharedJsonLinesSink, Sink, SinkConfig, make_sink


def shared_sink(output: Path, job_dir: Path, merge_every_s: float) -> Sink:
    if output.suffix == ".db":
        return make_sink(str(output), SinkConfig(job_dir, is_shared=True))
    return SharedJsonLinesSink(output, job_dir / "index", job_dir / "spools", merge_every_s)


async def obey(sink: Sink, commands: Iterable[str]) -> None:
    """`open`, `close` or the number of a batch to store; each is echoed when it is done."""
    for line in commands:
        command = line.strip()
        if command == "open":
            await sink.open()
        elif command == "close":
            await sink.close()
        else:
            await sink.store(batch_of(int(command)))
        print(command, flush=True)


class Worker:
    """The process, from the outside."""

    def __init__(self, output: Path, job_dir: Path, merge_every_s: float) -> None:
        arguments = [__file__, str(output), str(job_dir), str(merge_every_s)]
        self._process = nursery.Popen(
            [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, *commands: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.writelines(f"{command}\n" for command in commands)
        self._process.stdin.flush()

    def wait_for(self, *commands: object) -> None:
        assert self._process.stdout is not None
        for command in commands:
            assert self._process.stdout.readline() == f"{command}\n"

    def do(self, *commands: object) -> None:
        self.send(*commands)
        self.wait_for(*commands)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()

    def stored(self) -> list[int]:
        """Wait for the end; the batches that were acknowledged and not read yet."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        lines = self._process.stdout.read().split("\n")[:-1]
        return [int(line) for line in lines if line.isdecimal()]

    def end(self) -> None:
        with self._process:
            self._process.kill()


@contextmanager
def workers(
    count: int, output: Path, job_dir: Path, merge_every_s: float = 5
) -> Iterator[list[Worker]]:
    """They are started when this is entered, and gone when it is left."""
    started = [Worker(output, job_dir, merge_every_s) for _ in range(count)]
    try:
        yield started
    finally:
        for worker in started:
            worker.end()


if __name__ == "__main__":
    asyncio.run(
        obey(shared_sink(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])), sys.stdin)
    )
