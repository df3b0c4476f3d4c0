"""Checks of the files to write, made before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

from dfopt.errors import FileError
from dfopt.files import check_writable


def refuse_overwriting(output: str, *inputs: str) -> None:
    """Refuse to write over what the command reads.

    Raises
    ------
    FileError
        When ``output`` is one of ``inputs``, under any name.
    """
    for given in inputs:
        # If a file is missing, its reader says so.
        if given == "-" or not (os.path.exists(output) and os.path.exists(given)):
            continue
        if os.path.samefile(output, given):
            raise FileError("is what is read from; name another file to write to", file=output)


def check_output(output: str, *inputs: str) -> None:
    """Refuse a file to write to that the command reads, or that cannot be written.

    Raises
    ------
    FileError
        When it is one of ``inputs``, or cannot be written.
    """
    refuse_overwriting(output, *inputs)
    check_writable(output)


def output_folder(name: str | None) -> Path | None:
    """Return the folder for what is written; it is made if it is not there.

    Raises
    ------
    FileError
        When there is no such folder and none can be made.
    """
    if name is None:
        return None
    if not name:
        raise FileError("is no folder to write to; name one", file="''")
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"is no folder to write to ({reason}); name another", file=name) from None
    return folder
