"""Private names of libraries are missed at once, and all of them are listed."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import scrapy
import twisted

import weft
from weft.compat import Library, PrivateNames, missing_names
from weft.engine.scrapy import compat
from weft.errors import EngineError
from weft.redis import compat as redis_compat

SOURCE = Path(weft.__file__).parent
ROOT = SOURCE.parents[1]
LIBRARIES = ("scrapy", "twisted", "redis", "hiredis")
IMPORT = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(LIBRARIES)})\b", re.MULTILINE)
LISTS: tuple[PrivateNames, ...] = (
    compat.USED,
    compat.USED_BY_FEW,
    compat.USED_OF_TWISTED,
    redis_compat.USED,
)
LISTED = {place: names for used in LISTS for place, names in used.items()}
LISTED_NAMES = {name for names in LISTED.values() for name in names}
PRIVATE = re.compile(r"_[a-zA-Z]\w*")
#: What the standard library calls private, though everyone may use it.
NAMEDTUPLE = {"_asdict", "_fields", "_make", "_replace"}
#: Keys of data, not names in code: what Scrapy makes of a request.
KEYS = {"_class"}


def test_these_versions_have_them_all() -> None:
    compat.check_libraries()
    redis_compat.check_redis()
    assert [*missing_names(compat.USED_BY_FEW)] == []


def test_what_is_missing_is_named() -> None:
    used = {
        "scrapy.core.engine:ExecutionEngine": ("crawl", "_slot", "_vanished"),
        "scrapy.core.engine:Vanished": ("name",),
        "scrapy.utils.defer:ensure_awaitable": ("_warn", "_vanished"),
        "scrapy.vanished": ("name",),
    }
    missing = [
        "scrapy.core.engine.ExecutionEngine._vanished",
        "scrapy.core.engine.Vanished.name",
        "scrapy.utils.defer.ensure_awaitable._vanished",
        "scrapy.vanished",
    ]
    assert [*missing_names(used)] == missing
    with pytest.raises(EngineError) as caught:
        Library("Scrapy", "2.20.0", "scrapy>=2.19,<2.20").check(used)
    assert str(caught.value) == (
        f"Weft does not work with Scrapy 2.20.0: it lacks {', '.join(missing)}; "
        "install a version that it works with: pip install 'scrapy>=2.19,<2.20'"
    )


def test_what_few_crawls_load_is_checked_without_loading_it() -> None:
    used = {"scrapy.pipelines.media:MediaPipeline": ("_vanished",), "scrapy.vanished": ("name",)}
    with pytest.raises(EngineError, match=r"media\._vanished, scrapy\.vanished;"):
        compat.SCRAPY.check_sources(used)
    program = (
        "import sys; from weft.engine.scrapy.compat import check_libraries; check_libraries();"
        "sys.exit('scrapy.pipelines.media' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_a_version_that_works_is_named() -> None:
    assert f'"{compat.SUPPORTED}"' in (ROOT / "pyproject.toml").read_text()
    pinned = {line.lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    for requirement in (compat.TESTED_TWISTED, redis_compat.TESTED):
        assert re.sub(r"\[\w+\]", "", requirement) in pinned


def test_the_installed_versions_are_named() -> None:
    assert compat.SCRAPY.version == scrapy.__version__
    assert compat.TWISTED.version == twisted.__version__


# All private names that are used are listed


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text()))]


class Module:
    """A module of Weft that imports one of the libraries."""

    def __init__(self, path: Path) -> None:
        self.path = path
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        self.name = ".".join(parts).removesuffix(".__init__")
        self.nodes = nodes_of(path)
        self.imports = [
            (node, alias.name)
            for node in self.nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ]

    def private_imports(self) -> Iterator[tuple[str, str]]:
        """Module and name, where either is private."""
        for node, name in self.imports:
            module = node.module or ""
            words = [*module.split("."), name]
            if is_of_library(module) and any(map(PRIVATE.fullmatch, words)):
                yield module, name

    def private_words(self) -> Iterator[str]:
        """Private names that are read, replaced or passed here, but not made here."""
        made = self.made() | NAMEDTUPLE | KEYS
        for node in self.nodes:
            match node:
                case (
                    ast.Attribute(attr=str(name))
                    | ast.keyword(arg=str(name))
                    | ast.Constant(value=str(name))  # for getattr and setattr
                ) if PRIVATE.fullmatch(name) and name not in made:
                    yield name

    def made(self) -> set[str]:
        """Attributes and methods that this module makes, or one from which it imports."""
        modules = {node.module or "" for node, _ in self.imports}
        paths = [SOURCE.parent / Path(*name.split(".")) for name in modules if "weft" in name]
        sources = [self, *(Module(p) for path in paths if (p := path.with_suffix(".py")).exists())]
        return {name for module in sources for name in module.own_names()}

    def own_names(self) -> Iterator[str]:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id

    def overridden(self) -> Iterator[str]:
        """Private names of a library's class that a class derived from it uses or makes anew."""
        for cls in vars(import_module(self.name)).values():
            if inspect.isclass(cls) and cls.__module__ == self.name:
                bases = [base for base in cls.__mro__ if is_of_library(base.__module__)]
                theirs = {name for base in bases for name in names_in(base) | {*vars(base)}}
                yield from (name for name in names_in(cls) & theirs if PRIVATE.fullmatch(name))


def is_of_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def names_in(cls: type) -> set[str]:
    """The attributes that the code of a class reads and sets, and its methods."""
    tree, *_ = nodes_of(Path(str(sys.modules[cls.__module__].__file__)))
    assert isinstance(tree, ast.Module)
    body = (node for node in tree.body if isinstance(node, ast.ClassDef))
    nodes = [each for node in body if node.name == cls.__name__ for each in ast.walk(node)]
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return {node.name for node in functions} | {node.attr for node in attributes}


LISTING = {Path(str(module.__file__)) for module in (compat, redis_compat)}
PATHS = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path not in LISTING and IMPORT.search(path.read_text())
]


def test_libraries_are_used_by_many_modules() -> None:
    assert len(PATHS) > 50


# Modules are parsed in the tests: each worker of pytest-xdist collects all of them.
each_module = pytest.mark.parametrize(
    "path", PATHS, ids=lambda path: ".".join(path.relative_to(SOURCE).with_suffix("").parts)
)


@each_module
def test_private_names_that_a_module_uses_are_listed(path: Path) -> None:
    module = Module(path)
    assert {*module.private_words(), *module.overridden()} - LISTED_NAMES == set()


@each_module
def test_private_names_are_imported_by_compat_alone_and_private_modules_are_listed(
    path: Path,
) -> None:
    found = {*Module(path).private_imports()}
    assert {name for _, name in found if PRIVATE.fullmatch(name)} == set()
    assert {pair for pair in found if pair[1] not in LISTED.get(pair[0], ())} == set()


def test_no_name_is_listed_that_nobody_uses() -> None:
    text = "\n".join(path.read_text() for path in PATHS)
    assert {name for name in LISTED_NAMES if not re.search(rf"\b{name}\b", text)} == set()
