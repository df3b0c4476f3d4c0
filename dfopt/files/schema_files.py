"""The JSON Schemas that are published with the package."""

from __future__ import annotations

import difflib
import json
from importlib import resources
from importlib.resources.abc import Traversable

from dfopt.errors import DfoptError
from dfopt.files.formats import Format
from dfopt.files.strict_json import Document

ENDING = ".schema.json"


def schema_names() -> list[str]:
    """Return the short names of all schemas, such as ``instance``."""
    files = (file.name for file in _folder().iterdir())
    return sorted(name.removesuffix(ENDING) for name in files if name.endswith(ENDING))


def schema(name: str) -> Document:
    """Return the JSON Schema (Draft 2020-12) of a format.

    Parameters
    ----------
    name
        Such as ``instance`` or ``dfopt-instance/1``.

    Raises
    ------
    DfoptError
        When there is no such schema; the message names those there are.
    """
    known = schema_names()
    short_name = name
    if name in list(Format):
        short_name = name.removeprefix("dfopt-").partition("/")[0]
    if short_name not in known:
        nearest = difflib.get_close_matches(short_name, known, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise DfoptError(f"there is no schema {name!r}; known are {', '.join(known)}{hint}")
    text = (_folder() / f"{short_name}{ENDING}").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def _folder() -> Traversable:
    return resources.files("dfopt") / "files" / "schemas"
