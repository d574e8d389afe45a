"""`python -m weft.testing.site`: run the site by hand, until Ctrl-C."""

import argparse
import sys
from dataclasses import fields
from typing import Any

from weft.errors import ConfigError
from weft.testing.site.options import Site
from weft.testing.site.process import connections_of, run_as_child, run_by_hand

#: The options that make sense by hand; the log would not be read.
_HELP = {
    "pages": "pages on each host",
    "links": "links per page",
    "size_bytes": "approximate size of a page",
    "hosts": "loopback or private addresses to serve on",
    "cross_links": "link page 0 of each host to the other hosts",
    "latency_s": "seconds before each answer",
    "redirects_every": "link to every n-th page through a redirect",
    "missing_every": "every n-th page has a dead link",
    "flaky_every": "every n-th page answers 500 first",
    "busy_every": "every n-th page answers 429 first",
    "robots": "text of /robots.txt",
    "charset": "encoding of the pages",
    "gzip": "compress bodies",
    "theme": "numbers or demo",
}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m weft.testing.site",
        description="Serve a deterministic test site on this machine.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    made.add_argument("--port", type=int, default=0, help="port; 0 takes a free one")
    # Passed by SiteServer to its process.
    made.add_argument("--child", nargs=2, default=None, help=argparse.SUPPRESS)
    for field in fields(Site):
        if field.name in _HELP:
            _add_option(made, field.name, field.default)
    return made


def _add_option(made: argparse.ArgumentParser, name: str, default: Any) -> None:
    form: dict[str, Any] = {"type": type(default)}
    if isinstance(default, bool):
        form = {"action": argparse.BooleanOptionalAction}
    elif isinstance(default, tuple):
        form = {"nargs": "+"}
    made.add_argument(f"--{name.replace('_', '-')}", default=default, help=_HELP[name], **form)


def main() -> int:
    options = vars(parser().parse_args())
    port, child = options.pop("port"), options.pop("child")
    if child:
        site = Site.from_json(child[1])
        make, pid = connections_of(site), int(child[0])
        run_as_child(make, site.hosts, port, parent_pid=pid, has_log=site.log)
        return 0
    try:
        site = Site(**options | {"hosts": tuple(options["hosts"]), "log": False})
        run_by_hand(connections_of(site), site.hosts, port)
    except ConfigError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
