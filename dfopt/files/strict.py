"""JSON and TOML, read strictly: one line for every flaw, with its place; and JSON as text.

JSON has no loopholes: no duplicate keys, no NaN, no half characters, no endless nesting. The
standard parser lets these pass, or forgets where they were. So it only builds the tree, with a
:class:`_Flaw` in the place of a value that cannot be kept. Then one walk over the tree finds all
flaws with their places.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dfopt.checks import described
from dfopt.errors import FileError
from dfopt.files.storage import naming, read_text
from dfopt.type_reader import described_value, shown_place

Document = dict[str, Any]

DEEPEST_NESTING = 200
MOST_DIGITS = 1000
HUGE = 10**MOST_DIGITS
LONGEST_QUOTE = 30
WORDS_AND_NUMBERS = ("true", "false", "null", *"-0123456789")


@dataclass(frozen=True, slots=True)
class _Flaw:
    problem: str
    path: tuple[str, ...] = ()


def read_document(path: str | Path) -> Document:
    """Return the JSON object in a file, whatever its format.

    Parameters
    ----------
    path
        The file; ``-`` is standard input, and a name that ends in ``.gz`` is gunzipped.

    Raises
    ------
    FileError
        When the file cannot be read or is not strict JSON.
    """
    text = read_text(path)
    with naming(path):
        return parse_document(text)


def parse_document(text: str) -> Document:
    """Return the JSON object that ``text`` holds.

    Raises
    ------
    FileError
        When the text is not strict JSON, or no object.
    """
    if not text.strip():
        raise FileError("is empty; it should hold a JSON document")
    try:
        document = _DECODER.decode(text)
    except RecursionError:
        raise FileError(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise _syntax_error(text.strip(), error) from None
    check_document(document)
    return document  # type: ignore[no-any-return]


def check_document(document: object) -> None:
    """Refuse anything but an object that strict JSON can hold.

    Raises
    ------
    FileError
        With the place of the first flaw.
    """
    if isinstance(document, _Flaw):
        raise FileError(document.problem, place=shown_place(document.path))
    if not isinstance(document, dict):
        raise FileError(f"must be an object {{…}}, not {described_value(document)}")
    containers: list[tuple[Any, tuple[str | int, ...]]] = [(document, ())]
    for container, path in containers:  # grows on the way: level by level, in reading order
        if len(path) > DEEPEST_NESTING:
            raise FileError(_TOO_DEEP, place=f"{shown_place(path[:3])}…")
        if isinstance(container, dict):
            _check_keys(container, path)
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, value in items:
            if isinstance(value, str) and value.isascii():
                continue
            if isinstance(value, dict | list):
                containers.append((value, (*path, key)))
            elif value is not None:
                _check_scalar(value, (*path, key))


def _check_keys(keys: Iterable[object], path: tuple[str | int, ...]) -> None:
    for key in keys:
        if not isinstance(key, str) or not _is_text(key):
            problem = f"the key {described(key)} is no text; rename it"
            raise FileError(problem, place=shown_place(path))


def _check_scalar(value: object, path: tuple[str | int, ...]) -> None:
    match value:
        case int() if -HUGE < value < HUGE:
            return
        case int():
            problem = _TOO_MANY_DIGITS
        case float() if math.isfinite(value):
            return
        case float():
            problem = "NaN and infinite or huge numbers are not allowed; give a finite number"
        case str() if _is_text(value):
            return
        case str():
            problem = "holds half a surrogate pair, which is no text; remove it"
        case _Flaw():
            problem = value.problem
            path = (*path, *value.path)
        case _:
            problem = f"JSON has no {type(value).__name__}; use a list or a dict"
    raise FileError(problem, place=shown_place(path))


def _syntax_error(text: str, error: json.JSONDecodeError) -> FileError:
    before = error.doc[: error.pos].rstrip()
    following = error.doc[error.pos :]
    ends_early = not following.strip() or not text.endswith("}")
    place = error.pos
    if _lacks_comma(error):
        # The parser stops where the next value begins, often a line too late.
        problem = f"a comma is missing after {_end_of_line(before)}"
        place = len(before)
    elif "trailing comma" in error.msg or (before[-1:] == "," and following[:1] in ("]", "}")):
        # Python 3.13 and later stop at the comma, earlier ones at the bracket behind it.
        before = before.removesuffix(",").rstrip()
        problem = f"nothing follows the comma after {_end_of_line(before)}; remove the comma"
        place = error.doc.index(",", len(before))
    elif text.startswith("{") and ends_early and error.msg != "Extra data":
        problem = "the document ends too early; it may have been cut short, copy it again"
    else:
        problem = f"this is not JSON ({error.msg}); correct it"
    line_start = error.doc.rfind("\n", 0, place) + 1
    line = error.doc.count("\n", 0, place) + 1
    return FileError(problem, place=f"line {line}, column {place - line_start + 1}")


def _lacks_comma(error: json.JSONDecodeError) -> bool:
    """Whether a value follows another one; what touches a number or a text may belong to it."""
    if error.msg != "Expecting ',' delimiter":
        return False
    following = error.doc[error.pos :]
    if error.doc[error.pos - 1].isspace() and following.startswith(WORDS_AND_NUMBERS):
        return True
    return following.startswith(('"', "{", "["))


def _end_of_line(text: str) -> str:
    line = text[text.rfind("\n") + 1 :].lstrip()
    return line if len(line) <= LONGEST_QUOTE else f"…{line[-LONGEST_QUOTE:]}"


def _is_text(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _object(pairs: list[tuple[str, Any]]) -> Document | _Flaw:
    document = dict(pairs)
    if len(document) == len(pairs):
        return document
    counts = Counter(key for key, _ in pairs)
    twice = next(key for key, count in counts.items() if count > 1)
    return _Flaw("this key is there more than once; keep one", (twice,))


def _integer(text: str) -> int | _Flaw:
    # Python itself refuses to read very long integers, and more so to print them.
    return int(text) if len(text) <= MOST_DIGITS else _Flaw(_TOO_MANY_DIGITS)


_TOO_DEEP = f"is nested more than {DEEPEST_NESTING} levels deep; flatten it"
_TOO_MANY_DIGITS = f"has more than {MOST_DIGITS} digits; numbers may go up to 2^62"

_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer)


LINE_WIDTH = 100


def document_digest(document: Document) -> str:
    """Return the SHA-256 of a document, whatever its layout and the order of its keys."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def document_text(document: Document) -> str:
    """Return a document as text that people can read: short values stay on one line."""
    return _laid_out(document, "") + "\n"


def _laid_out(value: object, margin: str) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = margin + "  "
    if len(margin) + len(line) <= LINE_WIDTH:
        return line
    match value:
        case dict():
            rows = [f"{_laid_out(key, '')}: {_laid_out(value[key], inner)}" for key in value]
            opening, closing = "{}"
        case list() if any(isinstance(item, dict | list) for item in value):
            rows = [_laid_out(item, inner) for item in value]
            opening, closing = "[]"
        case _:  # a list of plain values stays on one line, however long
            return line
    separator = f",\n{inner}"
    return f"{opening}\n{inner}{separator.join(rows)}\n{margin}{closing}"


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
        raise _toml_error(str(error), text) from None
    except ValueError:  # Python itself refuses to read very long integers
        raise FileError("holds a number with too many digits; numbers may go up to 2^62") from None


def _toml_error(message: str, text: str) -> FileError:
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
