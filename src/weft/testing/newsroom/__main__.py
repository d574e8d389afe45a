"""`python -m weft.testing.newsroom`: run the newspapers by hand, until Ctrl-C."""

import argparse
import sys

from weft.errors import ConfigError
from weft.testing.newsroom.options import HOSTS, NewsroomOptions
from weft.testing.newsroom.process import connections_of
from weft.testing.site.process import run_as_child, run_by_hand


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m weft.testing.newsroom",
        description="Serve three newspapers on this machine.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    made.add_argument("--port", type=int, default=0, help="port; 0 takes a free one")
    made.add_argument("--edition", type=int, default=0, help="each has more articles than before")
    made.add_argument("--papers", nargs="+", choices=[*HOSTS], default=[*HOSTS], help="to serve")
    made.add_argument("--latency-s", type=float, default=0.0, help="seconds before each answer")
    made.add_argument("--by-port", action="store_true", help="all on 127.0.0.1, for Macs")
    # Passed by NewsroomServer to its process.
    made.add_argument("--child", nargs=2, default=None, help=argparse.SUPPRESS)
    return made


def main() -> int:
    given = parser().parse_args()
    if given.child:
        pid, text = given.child
        options = NewsroomOptions.from_json(text)
        make = connections_of(options)
        run_as_child(make, options.hosts, given.port, parent_pid=int(pid), has_log=True)
        return 0
    try:
        options = NewsroomOptions(
            given.edition, tuple(given.papers), given.latency_s, given.by_port
        ).check()
        run_by_hand(connections_of(options), options.hosts, given.port)
    except ConfigError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
