"""Lua scripts with a typed interface.

A script is a file. Its arguments are a struct, packed with msgpack; each field of the struct
becomes a local of the same name in the script, so names cannot drift. Its reply is packed the same
way and read as a type. Integers that a double cannot hold are sent as text. Bytes, which Redis'
msgpack does not support, are sent separately: as `blob(1)`, `blob(2)` … to the script, and from it.
"""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Generic, TypeVar

import msgspec

from weft.redis.client import Command

Arguments = TypeVar("Arguments", bound=msgspec.Struct)
Reply = TypeVar("Reply")

_encode = msgspec.msgpack.Encoder().encode
_LIBRARIES = "weft.redis.lua"
_PREAMBLE = """local prefix = KEYS[1]
local function blob(number) return ARGV[2 + number] end"""


class NoConfig(msgspec.Struct, frozen=True, array_like=True):
    """For scripts without values that stay the same from call to call."""


NO_CONFIG = _encode(NoConfig())


class Script(Generic[Arguments, Reply]):
    """`KEYS[1]` is the prefix of all keys that the script touches: they are in one slot."""

    def __init__(
        self,
        package: str,
        names: Sequence[str],
        config: type[msgspec.Struct],
        arguments: type[Arguments],
        reply: type[Reply],
        *,
        libraries: Sequence[str] = (),
    ) -> None:
        """`names` are files in `package`: the parts that the script uses, the script itself last.
        `libraries` are those that it shares with scripts of other packages; they come first.

        `config` is the type of the values that stay the same from call to call.
        """
        places = [(_LIBRARIES, name) for name in libraries] + [(package, name) for name in names]
        lua = [files(place).joinpath(f"{name}.lua").read_text() for place, name in places]
        self.source = "\n".join([_PREAMBLE, _locals(config, 1), _locals(arguments, 2), *lua])
        self.sha = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()
        self._decoder = msgspec.msgpack.Decoder(reply)

    def call(
        self, prefix: str, config: bytes, arguments: Arguments, blobs: Sequence[bytes] = ()
    ) -> Command:
        """`config` is already packed."""
        return ("EVALSHA", self.sha, 1, prefix, config, _encode(arguments), *blobs)

    def read(self, reply: bytes) -> Reply:
        return self._decoder.decode(reply)

    def read_with_blobs(self, reply: list[bytes]) -> tuple[Reply, list[bytes]]:
        return self._decoder.decode(reply[0]), reply[1:]


def _locals(struct: type[msgspec.Struct], number: int) -> str:
    """The fields of a struct as locals; they arrive as an array."""
    assert struct.__struct_config__.array_like
    names = struct.__struct_fields__
    if not names:
        return ""
    values = ", ".join(f"given_{number}[{i + 1}]" for i in range(len(names)))
    unpacked = f"local given_{number} = cmsgpack.unpack(ARGV[{number}])"
    return f"{unpacked}\nlocal {', '.join(names)} = {values}"
