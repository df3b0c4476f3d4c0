"""TOML documents with a base: another document, of the package by name, or a file beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Generic, TypeVar

from dfopt.errors import DfoptError, FileError
from dfopt.files.formats import Format, parse_toml_of
from dfopt.files.storage import STANDARD_INPUT, naming, read_text, shown_name
from dfopt.files.strict import Document, check_document
from dfopt.structs import DocumentPart
from dfopt.type_reader import reader

SHIPPED = ".toml"
"""The ending of the names of documents in the package."""

DEEPEST_BASE = 10

STEP = re.compile(r"\[(\d+)\]|\['([^']*)'\]|([^.\[\]]+)")
"""A step of a place such as ``application.MVA.penalties[0]``."""

T = TypeVar("T", bound=DocumentPart)
V = TypeVar("V")

Layer = tuple[str, Document]
"""A document, and the file that it is from; empty for what is from none, such as a setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BasedFormat(Generic[T]):
    """A TOML format whose documents may have a ``base``.

    Parameters
    ----------
    format
        That of the documents.
    plural
        The word for several documents, such as "mixes".
    package, folder
        The package and the folder of the documents that come with dfopt.
    type
        The type of a document together with its bases.
    in_folder
        Lets the paths in a document, which nobody has checked yet, begin at its folder.
    merge
        Returns a base with the values of the document on it; neither is checked yet.
    """

    format: Format
    plural: str
    package: str
    folder: str
    type: type[T]
    in_folder: Callable[[Document, Path], None]
    merge: Callable[[Document, Document], Document]

    def shipped(self) -> tuple[str, ...]:
        """Return the names of the documents that come with the package."""
        names = (file.name for file in self._files().iterdir() if file.name.endswith(SHIPPED))
        return tuple(sorted(name.removesuffix(SHIPPED) for name in names))

    def is_shipped(self, name: str) -> bool:
        """Whether a name means a document of the package; files of that name come first."""
        return name in self.shipped() and not Path(name).is_file()

    def read(self, path: str | Path, make: Callable[[T], V]) -> V:
        """Return what ``make`` makes of a document on its bases.

        Parameters
        ----------
        path
            A file; ``-`` is standard input. Where there is no such file, one of
            :meth:`shipped`.
        make
            Checks what has to fit together.

        Raises
        ------
        DfoptError
            With the file that is wrong: the document, or a base.
        """
        return self.made(self.layers(path), make)

    def layers(self, path: str | Path) -> list[Layer]:
        """Return a document, and those on which it stands; see :meth:`read`."""
        layers: list[Layer] = []
        name, is_shipped = str(path), self.is_shipped(str(path))
        while True:
            folder = None if is_shipped or name == STANDARD_INPUT else Path(name).parent
            with naming(name):
                document = parse_toml_of(self._text(name, is_shipped), self.format)
                check_document(document)  # TOML knows infinite numbers, which mean nothing here
            if folder is not None:
                self.in_folder(document, folder)
            if layers:
                document.pop("name", None)  # or both would be called the same
            layers.append((shown_name(name), document))
            base = document.pop("base", None)
            if not isinstance(base, str):
                return layers
            if len(layers) > DEEPEST_BASE:
                raise FileError("stands on itself, or on too many others", place="base", file=name)
            # A base by the name of a shipped one is that one, whatever lies in the working folder.
            is_shipped = base in self.shipped()
            name = base if is_shipped or folder is None else str(folder / base)

    def made(self, layers: Sequence[Layer], make: Callable[[T], V]) -> V:
        """Return what ``make`` makes of documents that stand on each other, the last one lowest."""
        together: Document = {}
        for _, document in reversed(layers):
            together = self.merge(together, document)
        together.pop("format", None)
        try:
            value: T = reader(self.type)(together)
            return make(value)
        except DfoptError as error:
            if error.file:
                raise
            # The uppermost document that has the place; what is missing is missing in the first.
            files = [file for file, document in layers if _has(document, error.place)]
            file = files[0] if files else next((file for file, _ in layers if file), "")
            raise (error.in_file(file) if file else error) from None

    def _files(self) -> Any:
        return resources.files(self.package) / self.folder

    def _text(self, name: str, is_shipped: bool) -> str:
        if is_shipped:
            text: str = (self._files() / f"{name}{SHIPPED}").read_text(encoding="utf-8")
            return text
        try:
            return read_text(name)
        except FileError as error:
            if Path(name).exists() or name == STANDARD_INPUT:
                raise
            known = ", ".join(self.shipped())
            raise FileError(
                f"{error.problem}; {self.plural} that come with dfopt are {known}"
            ) from None


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Document:
    """Return a table in which ``over`` comes before ``base``, table by table."""
    together = dict(base)
    for key, value in over.items():
        below = together.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            together[key] = merged(below, value)
        else:
            together[key] = value
    return together


def _has(document: Any, place: str) -> bool:
    """Whether a document has the place that an error names."""
    for number, quoted, key in STEP.findall(place):
        try:
            document = document[int(number)] if number else document[quoted or key]
        except (KeyError, IndexError, TypeError):
            return False
    return bool(place)
