"""TOML documents with a base: another document, of the package by name, or a file beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import Table, merged
from dfopt.files.formats import Format, parse_toml_of
from dfopt.files.storage import read_text
from dfopt.files.streams import STANDARD_INPUT, shown_name
from dfopt.files.strict_json import Document

SHIPPED = ".toml"
"""The ending of the names of documents in the package."""

DEEPEST_BASE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class BasedFormat:
    """A TOML format whose documents may have a ``base``.

    Parameters
    ----------
    format
        That of the documents.
    plural
        The word for several documents, such as "mixes".
    package, folder
        The package and the folder of the documents that come with dfopt.
    check
        Returns the values of a document, each checked by itself; it is given the folder to which
        paths are relative, None where there is none.
    merge
        Returns a base with the values of the document on it.
    """

    format: Format
    plural: str
    package: str
    folder: str
    check: Callable[[Document, Path | None], Document]
    merge: Callable[[Document, Document], Table] = merged

    def shipped(self) -> tuple[str, ...]:
        """Return the names of the documents that come with the package."""
        names = (file.name for file in self._files().iterdir() if file.name.endswith(SHIPPED))
        return tuple(sorted(name.removesuffix(SHIPPED) for name in names))

    def is_shipped(self, name: str) -> bool:
        """Whether a name means a document of the package; files of that name come first."""
        return name in self.shipped() and not Path(name).is_file()

    def read(self, path: str | Path) -> Document:
        """Return a document with the values of its base, every value checked by itself.

        Parameters
        ----------
        path
            A file; ``-`` is standard input. Where there is no such file, one of
            :meth:`shipped`.

        Raises
        ------
        DfoptError
            When the file, or a base, cannot be read or holds an unknown key or a wrong value.
        """
        return self._read(str(path), is_shipped=self.is_shipped(str(path)), depth=0)

    def _read(self, name: str, *, is_shipped: bool, depth: int) -> Document:
        """Return a document on its bases; ``depth`` documents stand on it already."""
        folder = None if is_shipped or name == STANDARD_INPUT else Path(name).parent
        try:
            document = self.check(parse_toml_of(self._text(name, is_shipped), self.format), folder)
        except DfoptError as error:
            raise error if error.file else error.in_file(shown_name(name)) from None
        base = document.pop("base", None)
        if base is None:
            return document
        if depth == DEEPEST_BASE:
            raise FileError("stands on itself, or on too many others", place="base", file=name)
        # A base by the name of a shipped one is that one, whatever lies in the working folder.
        of_package = base in self.shipped()
        if not of_package and folder is not None:
            base = str(folder / base)
        below = self._read(base, is_shipped=of_package, depth=depth + 1)
        below.pop("name", None)  # or both would be called the same
        return self.merge(below, document)

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
