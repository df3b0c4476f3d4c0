"""Checks of the files to write, made before the work begins."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dfopt.errors import FileError
from dfopt.files import check_writable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def save_drawn(draw: Callable[[], Axes], output: str, *inputs: str) -> None:
    """Write the picture that a function draws; refuse its file before the work begins.

    Raises
    ------
    FileError
        When the name of the file tells no format of pictures, or as :func:`check_output` does.
    """
    from dfopt.plot import check_picture_name, save_picture

    check_picture_name(output)
    check_output(output, *inputs)
    save_picture(draw(), output)


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
