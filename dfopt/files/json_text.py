"""Documents as text to read and as the digest that names them."""

from __future__ import annotations

import hashlib
import json

from dfopt.files.strict_json import Document

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
