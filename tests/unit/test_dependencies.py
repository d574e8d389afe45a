"""What the package imports is what it says that it needs."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/weft"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

#: Where a module is not called as what brings it.
BROUGHT_BY = {
    "backports": "backports-zstd",
    "bson": "pymongo",
    "pydispatch": "pydispatcher",
    "botocore": "boto3",
    "yaml": "pyyaml",
}


def requirement(line: str) -> str:
    """The name of what a requirement asks for."""
    return normal(re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0])


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imports(path: Path) -> Iterator[str]:
    """What others bring, and this module imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            top = name.partition(".")[0]
            if top != "weft" and top not in sys.stdlib_module_names:
                yield normal(BROUGHT_BY.get(top, top))


def imported(*, left_out: tuple[str, ...] = ()) -> set[str]:
    paths = PACKAGE.rglob("*.py")
    kept = (path for path in paths if path.relative_to(PACKAGE).parts[0] not in left_out)
    # Python 3.14 has a module of its own for what backports.zstd brings to older ones.
    return {name for path in kept for name in imports(path)} - {"compression"}


NEEDED = {requirement(line) for line in PROJECT["dependencies"]}
EXTRAS = {
    requirement(line) for lines in PROJECT["optional-dependencies"].values() for line in lines
}


def test_whatever_is_imported_is_declared() -> None:
    """Not by grace of something else that needs it today."""
    assert imported() - NEEDED - EXTRAS == set()


def test_what_is_for_tests_is_not_needed_for_a_crawl() -> None:
    product = imported(left_out=("testing",))
    sinks = {
        requirement(line)
        for name in (
            "browser",
            "control",
            "mongodb",
            "mysql",
            "parquet",
            "postgresql",
            "s3",
            "sqlite",
            "warc",
            "plot",
        )
        for line in PROJECT["optional-dependencies"][name]
    }
    assert product - NEEDED - sinks == set()


def test_whatever_is_declared_is_imported() -> None:
    # trafilatura imports it, by way of justext.
    assert NEEDED - imported() == {"lxml-html-clean"}


def test_each_dependency_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    block = text.split("\ndependencies = [\n")[1].split("\n]\n")[0]
    assert [line for line in block.splitlines() if not re.search(r'",\s+# \w', line)] == []


def test_the_licence_is_named_and_enclosed() -> None:
    assert PROJECT["license"] == "BSD-3-Clause"
    [name] = PROJECT["license-files"]
    text = (ROOT / name).read_text()
    assert text.startswith("BSD 3-Clause License\n")
    assert "Copyright (c) 2026, Weft developers" in text
