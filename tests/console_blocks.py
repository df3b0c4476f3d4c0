"""Runs the console blocks of the documentation, so that what they show stays true.

In a page, every block fenced as ``console`` is run: lines that begin with ``$ `` are given to
bash, and what they print (standard output and error) must be what the page shows. The blocks of
a page share one shell in an empty folder, which holds copies of the files in ``docs/examples``.
``...`` stands for any text, and times such as ``0.41 s`` may differ, but no limits.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"(?<!limit )\b\d+(\.\d+)? s\b")
PROGRESS = re.compile(r"^dfopt: \d+ s: .*\n", re.MULTILINE)
"""What only slow commands say; a page does not show it."""

MARK = "--- end of command ---"
LONGEST_PAGE_S = 1200


class Command(NamedTuple):
    """A command of a page, and what the page says that it prints."""

    line: int
    text: str
    shown: str


def commands_in(page: str) -> Iterator[Command]:
    """Yield the commands in the console blocks of a page."""
    for block in FENCE.finditer(page):
        first = page.count("\n", 0, block.start(1)) + 1
        command: Command | None = None
        for line, text in enumerate(block[1].splitlines(), start=first):
            if text.startswith("$ "):
                if command:
                    yield command
                command = Command(line, text[2:], "")
            elif command and not command.shown and command.text.endswith("\\"):
                command = command._replace(text=f"{command.text}\n{text}")
            elif command:
                command = command._replace(shown=f"{command.shown}{text}\n")
        if command:
            yield command


def printed_by(commands: list[Command], examples: Path) -> list[str]:
    """Run the commands in one shell and return what each one printed."""
    # The status of a command is put back, so that the next one can ask for it.
    report = f"_status=$?; echo '{MARK}'; (exit $_status)"
    script = "\n".join(f"{command.text}\n{report}" for command in commands)
    paths = [sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]
    environment = os.environ | {
        "PATH": os.pathsep.join(paths),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }
    with tempfile.TemporaryDirectory() as folder:
        if examples.is_dir():
            shutil.copytree(examples, folder, dirs_exist_ok=True)
        shell = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST_PAGE_S,
            check=False,
        )
    return shell.stdout.split(f"{MARK}\n")[: len(commands)]


def is_as_shown(shown: str, printed: str) -> bool:
    """Return whether a command printed what the page shows, times aside."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    wanted, got = (SECONDS.sub("0 s", PROGRESS.sub("", text)) for text in (shown, printed))
    return doctest.OutputChecker().check_output(wanted, got, flags)


def differences(page: Path, examples: Path) -> Iterator[tuple[int, str]]:
    """Yield line and message for each command whose output is not what the page shows."""
    commands = list(commands_in(page.read_text("utf-8")))
    if not commands:
        return
    for command, printed in zip(commands, printed_by(commands, examples), strict=True):
        if not is_as_shown(command.shown, printed):
            yield (
                command.line,
                f"'{command.text}' should print\n{command.shown}\nbut prints\n{printed}",
            )
