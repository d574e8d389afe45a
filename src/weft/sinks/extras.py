"""Reports what has to be installed before some outputs can be written."""

from collections.abc import Iterator
from contextlib import contextmanager

from weft.errors import ConfigError
from weft.urls import without_password


@contextmanager
def needs_extra(extra: str, output: str, what: str) -> Iterator[None]:
    """Turn a ModuleNotFoundError inside into a ConfigError that names `extra`, unless it is empty.

    The error says that `what` cannot go to `output`.
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
