"""What has to be installed before some outputs can be written, and how to say so."""

from collections.abc import Iterator
from contextlib import contextmanager

from weft.errors import ConfigError
from weft.urls import without_password


@contextmanager
def needs_extra(extra: str, output: str, what: str) -> Iterator[None]:
    """A module that is missing inside is a ConfigError that names the extra; empty: there is none.

    `what` cannot go to `output` then.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        if not extra:
            raise
        raise ConfigError(
            f"{what} cannot go to {without_password(output)} before {problem.name} is installed: "
            f"pip install 'weft[{extra}]'"
        ) from problem
