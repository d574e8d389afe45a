"""One word for one thing, and documents that name files that are there."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import weft

SOURCE = Path(weft.__file__).parent


def test_no_two_classes_have_the_same_name() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(SOURCE)))
    assert len(found) > 100
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


#: Callbacks that a library calls by their names.
CALLBACKS = {
    *("connection_made", "data_received", "connection_lost"),
    *("on_header", "on_headers_complete", "on_body", "on_message_complete"),
}
#: A store has all verbs, for workers and for people.
WHOLE = {
    *("Frontier", "MemoryFrontier", "RocksFrontier", "RedisFrontier"),
    *("BoardStore", "SqliteBoardStore", "_BoardFile", "RedisBoardStore"),
}
MAX_METHODS = 7
MAX_LINES = 400


def product_files() -> list[Path]:
    """Without the test kit, whose suites are as long as their contracts."""
    return [path for path in SOURCE.rglob("*.py") if SOURCE / "testing" not in path.parents]


def test_no_class_does_too_many_things() -> None:
    found = {}
    for path in product_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and node.name not in WHOLE:
                names = {
                    method.name
                    for method in node.body
                    if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
                }
                found[node.name] = {name for name in names if not name.startswith("_")} - CALLBACKS
    assert len(found) > 300
    assert {name: names for name, names in found.items() if len(names) > MAX_METHODS} == {}


def test_no_module_is_too_long() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in product_files()}
    assert {path: length for path, length in lengths.items() if length > MAX_LINES} == {}


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_a_document_names_exist(document: str) -> None:
    root = Path(__file__).parents[2]
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", (root / document).read_text())
    assert len(named) > 5
    assert [
        path for path in named if not any((base / path).exists() for base in (SOURCE, root))
    ] == []
