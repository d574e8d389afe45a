"""The command `weft`."""


def main() -> None:
    raise SystemExit("not yet")
