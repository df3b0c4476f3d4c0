"""TOML without its loopholes: no infinite numbers, no dates, and one line for every flaw."""

from __future__ import annotations

import re
import tomllib

from dfopt.errors import FileError
from dfopt.files.strict_json import Document, check_document

_PLACE = re.compile(
    r"(?P<problem>.*?) \(at (?P<place>line \d+, column \d+|end of document)\)", re.S
)


def parse_toml(text: str) -> Document:
    """Return the table that ``text`` holds.

    Raises
    ------
    FileError
        When the text is not strict TOML.
    """
    if not text.strip():
        raise FileError("is empty; it should hold a TOML document")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.fullmatch(str(error))
        problem, place = (found["problem"], found["place"]) if found else (str(error), "")
        raise FileError(f"this is not TOML ({problem}); correct it", place=place) from None
    except (RecursionError, ValueError) as error:
        # ValueError: a number with more digits than Python reads.
        raise FileError(f"this is no TOML that can be read ({error}); correct it") from None
    check_document(document)
    return document
