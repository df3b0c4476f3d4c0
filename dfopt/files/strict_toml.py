"""TOML as strictly as the other formats: one line for every flaw, with its place."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from dfopt.errors import FileError

PARSER_PLACE = re.compile(
    r"^(?P<problem>.*?)(?: \(at (?P<place>line \d+, column \d+)\))?$", re.DOTALL
)
PARSER_END = re.compile(r"^(?P<problem>.*?) \(at end of document\)$", re.DOTALL)


def parse_toml(text: str, *, what: str) -> dict[str, Any]:
    """Return the table that ``text`` holds.

    Parameters
    ----------
    text
        TOML.
    what
        What the document should be.

    Raises
    ------
    FileError
        With the line, when the text is not TOML.
    """
    if not text.strip():
        raise FileError(f"is empty; it should hold {what} in TOML")
    if text.lstrip().startswith("{"):
        raise FileError(f"this looks like JSON, but {what} is written in TOML", place="line 1")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FileError("is nested too deeply; flatten it") from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), text) from None
    except ValueError:  # Python itself refuses to read very long integers
        raise FileError("holds a number with too many digits; numbers may go up to 2^62") from None


def _syntax_error(message: str, text: str) -> FileError:
    at_end = PARSER_END.match(message)
    if at_end:
        place = f"line {len(text.splitlines())}"
        return FileError(
            f"the document ends too early ({at_end['problem']}); complete it", place=place
        )
    found = PARSER_PLACE.match(message)
    assert found is not None
    problem = found["problem"]
    if "overwrite" in problem or "twice" in problem:
        return FileError(
            f"this key is there more than once ({problem}); keep one", place=found["place"] or ""
        )
    return FileError(f"this is not TOML ({problem}); correct it", place=found["place"] or "")
