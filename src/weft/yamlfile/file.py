"""From a file to a Struct."""

from pathlib import Path
from typing import TypeVar

import msgspec

from weft.errors import ConfigError
from weft.yamlfile.mistakes import START, Mistakes
from weft.yamlfile.syntax import MAX_BYTES, compose, decode_file
from weft.yamlfile.typed import TypedReader

Declared = TypeVar("Declared", bound=msgspec.Struct)


def load_yaml(path: Path, kind: type[Declared]) -> Declared:
    """Raises ConfigError with all that is wrong with the file."""
    return read_yaml(read_content(path), str(path), kind)


def read_content(path: Path) -> bytes:
    """No more than is needed to see that the file is too large. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; name another file") from error


def read_yaml(content: bytes, name: str, kind: type[Declared]) -> Declared:
    """The same for the content of a file; `name` is what mistakes call it."""
    mistakes = Mistakes(name)
    text = decode_file(content, mistakes)
    root = compose(text, mistakes)
    if root is None:
        keys = ", ".join(field.encode_name for field in msgspec.structs.fields(kind))
        mistakes.fail(START, f"the file is empty; possible keys are {keys}")
    value: Declared = TypedReader(text, mistakes).read(root, msgspec.inspect.type_info(kind))
    mistakes.check()
    return value
