"""Checks that a library has the private names that Weft uses.

A private name may vanish with any release. That is noticed here, at the start and with one clear
error, and not in the middle of a crawl. The names are listed where the library is used: those of
Scrapy and Twisted in `engine/scrapy/compat.py`, those of redis-py in `redis/compat.py`.
"""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import msgspec

from weft.errors import EngineError

#: Names by where they are: a module, or a module and a class or function of it, as in
#: `package.module:Class`. Of a function they are parameters.
PrivateNames = Mapping[str, tuple[str, ...]]


class Library(msgspec.Struct, frozen=True):
    name: str
    version: str
    #: What pip installs to get a version that works.
    requirement: str

    def check(self, used: PrivateNames) -> None:
        """Raises EngineError if one of the names is missing."""
        if missing := [*missing_names(used)]:
            raise self.unsupported(f"it lacks {', '.join(missing)}")

    def check_sources(self, used: PrivateNames) -> None:
        """The same for modules that should not be loaded for that: only their text is searched."""
        if missing := [*_names_not_in_sources(used)]:
            raise self.unsupported(f"it lacks {', '.join(missing)}")

    def unsupported(self, why: str) -> EngineError:
        return EngineError(
            f"Weft does not work with {self.name} {self.version}: {why}; "
            f"install a version that it works with: pip install '{self.requirement}'"
        )


def missing_names(used: PrivateNames) -> Iterator[str]:
    for place, names in used.items():
        module, _, owner = place.partition(":")
        try:
            found: object = import_module(module)
        except ImportError:
            yield module
            continue
        if owner:
            found = getattr(found, owner, None)
        path = place.replace(":", ".")
        yield from (f"{path}.{name}" for name in names if not _has(found, name))


def _names_not_in_sources(used: PrivateNames) -> Iterator[str]:
    for place, names in used.items():
        module = place.partition(":")[0]
        spec = find_spec(module)
        if spec is None or spec.origin is None:
            yield module
            continue
        text = Path(spec.origin).read_text(encoding="utf-8")
        yield from (f"{module}.{name}" for name in names if not re.search(rf"\b{name}\b", text))


def _has(owner: object, name: str) -> bool:
    if isinstance(owner, FunctionType):
        return name in owner.__code__.co_varnames
    return hasattr(owner, name) or _is_of_instances(owner, name)


def _is_of_instances(owner: object, name: str) -> bool:
    """Whether the methods of a class mention an attribute, which its instances then have."""
    classes = owner.__mro__ if isinstance(owner, type) else ()
    methods = (each for cls in classes for each in vars(cls).values())
    return any(
        isinstance(each, FunctionType) and name in each.__code__.co_names for each in methods
    )
