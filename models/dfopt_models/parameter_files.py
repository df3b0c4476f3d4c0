"""Files of parameters: those that come with the package, by their names, and one's own.

The files of all models lie in one folder. Each names its format on a line of its own, and so says
which model it belongs to; a further file needs no entry anywhere.
"""

from __future__ import annotations

import difflib
import re
from importlib import resources
from pathlib import Path
from typing import Any

from dfopt.errors import FileError
from dfopt.files import read_text
from dfopt.files.formats import Format
from dfopt.files.storage import STANDARD_INPUT

ENDING = ".toml"
"""The ending of the parameter files in the package."""

FORMAT_LINE = re.compile(r'^format = "(dfopt-[a-z-]+/[0-9]+)"', re.MULTILINE)


def shipped_parameters(file_format: Format) -> tuple[str, ...]:
    """Return the names of the parameter files of a format that come with the package."""
    return tuple(
        sorted(
            file.name.removesuffix(ENDING)
            for file in _folder().iterdir()
            if file.name.endswith(ENDING)
            and FORMAT_LINE.findall(file.read_text(encoding="utf-8"))[:1] == [file_format]
        )
    )


def parameter_text(path: str | Path, file_format: Format) -> str:
    """Return the text of a file of parameters.

    Parameters
    ----------
    path
        A file; ``-`` is standard input, and a name that ends in ``.gz`` is gunzipped. Where there
        is no such file, one of the names of :func:`shipped_parameters`.
    file_format
        The format whose names are known.

    Raises
    ------
    FileError
        When the file cannot be read; the message has the names that are known.
    """
    name = str(path)
    known = shipped_parameters(file_format)
    if name in known and not Path(name).exists():
        text: str = (_folder() / f"{name}{ENDING}").read_text(encoding="utf-8")
        return text
    try:
        return read_text(path)
    except FileError as error:
        if Path(name).exists() or name == STANDARD_INPUT or not known:
            raise
        # Names such as mix-1 and mix-5, of which one is meant, are less alike.
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        made = f"; others are made by {file_format.makers}" if file_format.makers else ""
        raise FileError(
            f"{error.problem}, or name {file_format.content} that comes with dfopt: "
            f"{', '.join(known)}{hint or made}",
            file=error.file,
        ) from None


def parameter_name(path: str | Path) -> str:
    """Return what a model is called whose file does not say it: the file's name."""
    name = Path(path).name.removesuffix(".gz").removesuffix(ENDING)
    return "model" if str(path) == STANDARD_INPUT or not name else name


def _folder() -> Any:
    return resources.files("dfopt_models") / "parameters"
