"""Documents of one format: how they are read into their type, and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dfopt.errors import DfoptError
from dfopt.files.formats import Format, check_format, parse_toml_of, read_json
from dfopt.files.json_text import document_text
from dfopt.files.storage import read_text, write_text
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, check_document
from dfopt.structs import DocumentPart, document_of
from dfopt.type_reader import reader

T = TypeVar("T", bound=DocumentPart)


@dataclass(frozen=True, slots=True)
class DocumentType(Generic[T]):
    """A format of JSON, and the type that its documents describe.

    Parameters
    ----------
    format
        What stands under ``format``.
    type
        The type of all other keys.
    complete
        Returns what is read together with what only the document as a whole says.
    of_today
        Returns a document of an older version as one of today's.
    """

    format: Format
    type: type[T]
    complete: Callable[[T, Document], T] | None = None
    of_today: Callable[[Document], Document] | None = None

    def read(self, path: str | Path) -> T:
        """Return what a file describes.

        Parameters
        ----------
        path
            A file; ``-`` is standard input, and a name that ends in ``.gz`` is gunzipped.

        Raises
        ------
        DfoptError
            With file, place and remedy, when the file holds nothing of this type.
        """
        document = read_json(path, self.format)
        try:
            return self.read_parsed(document)
        except DfoptError as error:
            raise error.in_file(shown_name(path)) from None

    def read_toml(self, path: str | Path) -> T:
        """Return what a file of TOML describes; see :meth:`read`."""
        text = read_text(path)
        try:
            return self.from_toml(text)
        except DfoptError as error:
            raise error.in_file(shown_name(path)) from None

    def from_toml(self, text: str, **defaults: object) -> T:
        """Return what a text of TOML describes.

        Parameters
        ----------
        text
            A document.
        defaults
            Values of keys that it may leave out.

        Raises
        ------
        DfoptError
            With place and remedy, when it describes nothing of this type.
        """
        return self.read_parsed(defaults | parse_toml_of(text, self.format))

    def from_document(self, document: Document) -> T:
        """Return what a parsed document describes.

        Raises
        ------
        DfoptError
            With place and remedy, when it describes nothing of this type.
        """
        check_document(document)
        return self.read_parsed(document)

    def read_parsed(self, document: Document) -> T:
        """Return what a document describes that strict JSON held."""
        check_format(document, self.format)
        if self.of_today is not None and document["format"] != self.format:
            document = self.of_today(document)
        fields = {key: value for key, value in document.items() if key != "format"}
        value: T = reader(self.type)(fields)
        return value if self.complete is None else self.complete(value, document)

    def to_document(self, value: T) -> Document:
        """Return the document that describes a value; what has its default is left out."""
        return {"format": str(self.format), **document_of(value)}

    def write(self, value: T, path: str | Path) -> None:
        """Write a value to a file, as a whole or not at all.

        Raises
        ------
        FileError
            When the file cannot be written.
        """
        write_text(path, document_text(self.to_document(value)))
