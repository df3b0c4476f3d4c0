"""The directive ``command-help``: a section for every command of ``dfopt``, with its ``--help``."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive

if TYPE_CHECKING:
    from sphinx.application import Sphinx

EXECUTABLE = Path(sysconfig.get_path("scripts"), "dfopt")


def names_of_commands(command: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the names under which each command is called, groups left out."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield names
        return
    for name in inner:
        yield from names_of_commands(inner[name], (*names, name))


def help_of(names: tuple[str, ...]) -> str:
    """Return what a command prints with ``--help``."""
    environment = os.environ | {"COLUMNS": "90", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(
        [EXECUTABLE, *names, "--help"], env=environment, capture_output=True, text=True, check=True
    ).stdout


class CommandHelp(Directive):
    """Writes the sections."""

    def run(self) -> list[nodes.Node]:
        """Return one section a command."""
        from typer.main import get_command

        from dfopt_cli.app import app

        # The help may change although the page does not.
        self.state.document.settings.env.note_reread()
        return [self._section(names) for names in names_of_commands(get_command(app))]

    def _section(self, names: tuple[str, ...]) -> nodes.section:
        name = " ".join(("dfopt", *names))
        section = nodes.section(ids=[nodes.make_id(name)], names=[name])
        section += nodes.title("", "", nodes.literal(name, name))
        text = help_of(names)
        section += nodes.literal_block(text, text, language="text")
        self.state.document.note_explicit_target(section, section)
        return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
