"""`python -m weft.testing.hostile`: run the hostile site by hand, until Ctrl-C."""

import argparse
import json
import sys

from weft.errors import ConfigError
from weft.testing.hostile.process import connections_of
from weft.testing.hostile.site import GROUPS, KINDS, Hostile
from weft.testing.site.process import run_as_child, run_by_hand


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m weft.testing.hostile",
        description="Serve a site that does everything wrong on this machine.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    made.add_argument("--port", type=int, default=0, help="port; 0 takes a free one")
    made.add_argument("--kinds", nargs="*", choices=[*KINDS], default=[*KINDS], help="of pages")
    made.add_argument("--groups", nargs="*", choices=[*GROUPS], default=[], help="of hosts")
    # Passed by HostileServer to its process.
    made.add_argument("--child", nargs=2, default=None, help=argparse.SUPPRESS)
    return made


def main() -> int:
    options = parser().parse_args()
    if options.child:
        pid, text = options.child
        kinds, groups = json.loads(text)
        site = Hostile(tuple(kinds), tuple(groups))
        make = connections_of(site)
        run_as_child(make, site.hosts, options.port, parent_pid=int(pid), has_log=True)
        return 0
    site = Hostile(tuple(options.kinds), tuple(options.groups))
    try:
        run_by_hand(connections_of(site), site.hosts, options.port)
    except ConfigError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
