"""`weft --help` knows all commands without importing them."""

import inspect
import subprocess
import sys

import pytest
import typer

from running import Weft
from weft.cli.app import COMMANDS, load


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_its_own_help(name: str) -> None:
    command = load(COMMANDS[name])
    text = command.info.help if isinstance(command, typer.Typer) else inspect.getdoc(command)
    assert str(text).partition("\n\n")[0].replace("\n", " ") == COMMANDS[name].about


def test_help_lists_all_commands(weft: Weft) -> None:
    shown = weft("--help").stdout
    assert all(f" {name} " in shown for name in COMMANDS)


def test_a_mistyped_command_is_told_with_the_right_one(weft: Weft) -> None:
    ended = weft("crwal", "https://example.org/")
    assert ended.returncode == 2
    assert "crawl" in ended.stderr


@pytest.mark.parametrize(
    "module", ["weft.cli.app", *{f"weft.cli.{e.module}" for e in COMMANDS.values()}]
)
def test_commands_are_loaded_without_scrapy(module: str) -> None:
    code = f"import sys, {module}; print(*(m for m in sys.modules if m in ('scrapy', 'twisted')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
