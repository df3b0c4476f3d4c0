"""Errors: one line each, wherever they come from."""

import ast
import pickle
import re
from pathlib import Path

import pytest

from dfopt.errors import FileError, InstanceError

ROOT = Path(__file__).parents[1]
OPTION = re.compile(r"(?<!systrace )(?<!\S)\(?--[a-z]")


def test_an_error_is_one_line_with_file_and_place() -> None:
    error = InstanceError("is 0,\nat least 1 is due", place="cpus").within("instance")
    assert str(error.in_file("a.json")) == "a.json: instance.cpus: is 0, at least 1 is due"


def test_an_error_survives_the_way_between_processes() -> None:
    error = FileError("is empty", place="line 1", file="a.txt")
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is FileError
    assert (arrived.problem, arrived.place, arrived.file) == ("is empty", "line 1", "a.txt")


@pytest.mark.slow
def test_the_library_names_no_option_of_the_command_line() -> None:
    named = []
    for file in (ROOT / "dfopt").rglob("*.py"):
        if file.parent.name == "core":  # what builds the core is a program
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        texts = {node for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        texts -= {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        named += [
            f"{file}:{text.lineno}: {text.value}"
            for text in texts
            if isinstance(text.value, str) and OPTION.search(text.value)
        ]
    assert named == []
