"""From a document to its schema: every page about a format leads there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dfopt.files.formats import schema_names
from dfopt_cli.app import app

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
TABLE = (REFERENCE / "formats.md").read_text("utf-8").partition("| schema |")[2]
PAGES = "".join(page.read_text("utf-8") for page in REFERENCE.glob("*.md"))


def commands_with_json(command: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names of the commands that print JSON."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands_with_json(inner, (*names, name))
    if any("--json" in option.opts for option in command.params):
        yield " ".join(names)


@pytest.mark.parametrize("name", schema_names())
def test_schemas_are_linked(name: str) -> None:
    link = f"(../../dfopt/files/schemas/{name}.schema.json)"
    assert re.search(rf"\[`dfopt-{name}/\d+`\]\(", TABLE)
    assert link in TABLE
    # The list of formats has it once, the page of the format once more.
    assert PAGES.count(link) == 2
    assert f"`dfopt schema {name}` prints " in PAGES


def test_every_command_that_prints_json_has_a_format() -> None:
    commands = set(commands_with_json(get_command(app)))
    assert {"compare", "solve", "simulate run-queue"} <= commands
    listed = TABLE.replace("`, `", "`, `dfopt ")
    assert not {name for name in commands if f"`dfopt {name}`" not in listed}
