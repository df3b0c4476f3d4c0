"""JSON without its loopholes: no duplicate keys, no NaN, no half characters, no bottomless nesting.

What the standard parser lets pass is marked in the tree by a :class:`_Flaw` and found again by
one walk over the tree, because only the walk knows the place.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dfopt.errors import FileError
from dfopt.files.storage import read_text, shown_name
from dfopt.instance import described

Document = dict[str, Any]

DEEPEST_NESTING = 200
MOST_DIGITS = 1000
LINE_WIDTH = 100
LONGEST_KEY = 60


@dataclass(frozen=True, slots=True)
class _Flaw:
    problem: str
    place: str = ""


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
    try:
        return parse_document(text)
    except FileError as error:
        raise error.in_file(shown_name(path)) from None


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
        place = f"line {error.lineno}, column {error.colno}"
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            problem = "the document ends too early; the file may be cut short, copy it again"
        else:
            problem = f"this is not JSON ({error.msg}); correct it"
        raise FileError(problem, place=place) from None
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
        raise FileError(document.problem, place=document.place)
    if not isinstance(document, dict):
        raise FileError(f"must be an object {{…}}, not {described_json(document)}")
    pending: list[tuple[Any, tuple[str | int, ...]]] = [(document, ())]
    while pending:
        container, path = pending.pop()
        if len(path) > DEEPEST_NESTING:
            raise FileError(_TOO_DEEP, place=shown_place(path[:3]) + "…")
        for key, value in _items(container):
            if isinstance(value, str):
                if not value.isascii() and not _is_text(value):
                    raise FileError(_HALF_CHARACTER, place=shown_place((*path, key)))
            elif isinstance(value, dict | list):
                pending.append((value, (*path, key)))
            elif value is not None and not isinstance(value, int):
                _check_rare(value, (*path, key))
            if isinstance(container, dict) and not (isinstance(key, str) and _is_text(key)):
                raise FileError(
                    f"the key {described(key)} is no text; rename it", place=shown_place(path)
                )


def _items(container: dict[Any, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
    return iter(container.items()) if isinstance(container, dict) else enumerate(container)


def _check_rare(value: object, path: tuple[str | int, ...]) -> None:
    place = shown_place(path)
    match value:
        case _Flaw(problem, inner):
            raise FileError(problem, place=shown_place((*path, inner)) if inner else place)
        case float() if not math.isfinite(value):
            raise FileError(_not_a_number(str(value)), place=place)
        case float():
            return
    raise FileError(f"JSON has no {type(value).__name__}; use a list or a dict", place=place)


def shown_place(path: tuple[str | int, ...]) -> str:
    """Return a path into a document as errors show it, such as ``tasks[3].lines``."""
    place = ""
    for key in path:
        if isinstance(key, int):
            place += f"[{key}]"
        elif key.replace("-", "_").replace("$", "_").isidentifier() and len(key) <= LONGEST_KEY:
            place += f".{key}" if place else key
        else:
            place += f"[{described(key)}]"
    return place


def described_json(value: object) -> str:
    """Return a short text for a wrong value, in JSON's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "an object"
        case list():
            return "an array"
    return described(value)


def document_digest(document: Document) -> str:
    """Return the SHA-256 of a document, whatever its layout and the order of its keys."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def document_text(document: Document) -> str:
    """Return a document as text that people can read: what is short stays on one line."""
    return _laid_out(document, "") + "\n"


def _laid_out(value: object, margin: str) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    fits = len(margin) + len(line) <= LINE_WIDTH
    inner = margin + "  "
    if isinstance(value, dict) and not fits:
        rows = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_laid_out(item, inner)}"
            for key, item in value.items()
        ]
        return "{\n" + ",\n".join(rows) + f"\n{margin}}}"
    if (
        isinstance(value, list)
        and not fits
        and any(isinstance(item, dict | list) for item in value)
    ):
        rows = [inner + _laid_out(item, inner) for item in value]
        return "[\n" + ",\n".join(rows) + f"\n{margin}]"
    return line


_TOO_DEEP = f"is nested more than {DEEPEST_NESTING} levels deep; flatten it"
_HALF_CHARACTER = "holds half a surrogate pair, which is no text; remove it"


def _is_text(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _not_a_number(text: str) -> str:
    return f"{text} is not a number that JSON knows; use a finite number"


def _object(pairs: list[tuple[str, Any]]) -> Document | _Flaw:
    document = dict(pairs)
    if len(document) == len(pairs):
        return document
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            break
        seen.add(key)
    return _Flaw("this key is there twice; remove one of the two", key)


def _integer(text: str) -> int | _Flaw:
    if len(text) > MOST_DIGITS:
        return _Flaw(f"has {len(text)} digits; numbers go up to 2^62")
    return int(text)


def _float(text: str) -> float | _Flaw:
    number = float(text)
    return number if math.isfinite(number) else _constant(described(text).strip("'"))


def _constant(text: str) -> _Flaw:
    return _Flaw(_not_a_number(text))


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
