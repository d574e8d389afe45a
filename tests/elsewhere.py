"""A system that is not POSIX, as far as that can be played on one that is.

`python elsewhere.py imports` imports every module of Weft there, and tells which; `python
elsewhere.py weft …` runs the command. What Windows does not have is kept from Weft: modules,
functions, signals. Other packages see the system as it is: they choose by its name what they use.
"""

import asyncio
import builtins
import importlib
import os
import pkgutil
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn

MODULES = frozenset(
    {"crypt", "fcntl", "grp", "nis", "posix", "pty", "pwd", "readline", "resource", "spwd"}
    | {"syslog", "termios", "tty"}
)
#: What is missing in modules that are there.
NAMES = {
    "os": frozenset(
        {"chown", "fchmod", "fchown", "fdatasync", "fork", "forkpty", "getegid", "geteuid"}
        | {"getgid", "getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority", "getsid"}
        | {"getuid", "killpg", "lockf", "mkfifo", "mknod", "nice", "pathconf", "pipe2", "pread"}
        | {"posix_fadvise", "posix_fallocate", "preadv", "pwrite", "pwritev", "readv"}
        | {"sched_getaffinity", "sched_setaffinity", "sched_yield", "sendfile", "setpgid"}
        | {"setsid", "setuid", "statvfs", "sync", "sysconf", "uname", "wait", "wait3", "wait4"}
        | {"waitid", "writev", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC"}
    ),
    "signal": frozenset(
        {"SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP"}
        | {"SIGTSTP", "SIGUSR1", "SIGUSR2", "alarm", "pthread_kill", "pthread_sigmask"}
        | {"setitimer", "siginterrupt"}
    ),
    "socket": frozenset({"AF_UNIX"}),
}
#: What `make bench` measures beside; it need not be installed.
PEERS = frozenset({"aiohttp", "crawlee", "feapder", "scrapy_redis"})


class Without(ModuleType):
    """A module without some of its names."""

    def __init__(self, whole: ModuleType, missing: frozenset[str]) -> None:
        super().__init__(whole.__name__)
        kept = {name: value for name, value in vars(whole).items() if name not in missing}
        vars(self).update(kept)


def _open(path: str | os.PathLike[str], flags: int, mode: int = 0o777) -> int:
    if os.path.isdir(path):  # noqa: PTH112 - as `os.open` takes it
        raise PermissionError(13, "directories cannot be opened here", str(path))
    return os.open(path, flags, mode)


def _no_signals(*_: object) -> NoReturn:
    raise NotImplementedError


def go_elsewhere() -> None:
    whole = {"os": os, "signal": signal, "socket": socket}
    views = {name: Without(module, NAMES[name]) for name, module in whole.items()}
    vars(views["os"])["open"] = _open
    plain_import = builtins.__import__

    def import_elsewhere(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if (globals or {}).get("__name__", "").partition(".")[0] != "weft":
            return plain_import(name, globals, locals, fromlist, level)
        if name in MODULES:
            raise ModuleNotFoundError(f"there is no {name} here", name=name)
        return views.get(name) or plain_import(name, globals, locals, fromlist, level)

    builtins.__import__ = import_elsewhere
    setattr(asyncio.SelectorEventLoop, "add_signal_handler", _no_signals)  # noqa: B010 - mypy


def import_everything() -> None:
    import weft

    for module in pkgutil.walk_packages(weft.__path__, "weft."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as problem:
            if problem.name not in PEERS:
                raise
        print(module.name)


def main(what: str, *arguments: str) -> None:
    go_elsewhere()
    if what == "imports":
        import_everything()
        return
    from weft.cli import main as run

    sys.argv = [what, *arguments]
    run()


if __name__ == "__main__":
    main(*sys.argv[1:])
