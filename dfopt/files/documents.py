"""Documents of one format: how they are read into their type, and written.

Those of instances and results stand here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dfopt.files.formats import Format, check_format, parse_toml_of, read_json
from dfopt.files.result_1 import of_today
from dfopt.files.storage import naming, read_text, write_text
from dfopt.files.strict import Document, check_document, document_digest, document_text
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import Penalty
from dfopt.problem.result import Result, relative_gap
from dfopt.structs import DocumentPart, document_of, replace
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
        with naming(path):
            return self.read_parsed(document)

    def read_toml(self, path: str | Path) -> T:
        """Return what a file of TOML describes; see :meth:`read`."""
        text = read_text(path)
        with naming(path):
            return self.from_toml(text)

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


def _with_digest(instance: Instance, document: Document) -> Instance:
    # Not a parameter: a copy with other values must not inherit the digest of this document.
    instance.__dict__["document_sha256"] = document_digest(document)
    return instance


INSTANCES = DocumentType(Format.INSTANCE, Instance, complete=_with_digest)


def read_instance(path: str | Path) -> Instance:
    """Return the instance in a file.

    Parameters
    ----------
    path
        A file of the format ``dfopt-instance/1``; ``-`` is standard input, and a name that ends
        in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError
        With file, place and remedy, when the file is not a valid instance.
    """
    return INSTANCES.read(path)


def write_instance(instance: Instance, path: str | Path) -> None:
    """Write an instance to a file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    INSTANCES.write(instance, path)


def fingerprint(instance: Instance) -> str:
    """Return the SHA-256 by which results name an instance.

    It is that of the document the instance was read from, or of the one that
    :func:`instance_to_document` gives when it was built in Python.
    """
    return instance.document_sha256 or document_digest(instance_to_document(instance))


def instance_from_document(document: Document) -> Instance:
    """Return the instance that a parsed document describes.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when the document is not a valid instance.
    """
    return INSTANCES.from_document(document)


def instance_to_document(instance: Instance) -> Document:
    """Return the document that describes an instance; what has its default value is left out."""
    return INSTANCES.to_document(instance)


def penalty_from_document(document: object) -> Penalty:
    """Return the switch penalty that the ``penalty`` object of a document describes.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when it is not a valid penalty.
    """
    penalty: Penalty = reader(Penalty)(document)
    return penalty


def penalty_to_document(penalty: Penalty) -> Document:
    """Return the ``penalty`` object that describes a switch penalty."""
    return document_of(penalty)


def _with_gap(result: Result, document: Document) -> Result:
    if "gap" in document:
        return result
    return replace(result, gap=relative_gap(result.objective, result.lower_bound))


RESULTS = DocumentType(Format.RESULT, Result, complete=_with_gap, of_today=of_today)


def read_result(path: str | Path) -> Result:
    """Return the result in a file, true or not.

    Parameters
    ----------
    path
        A file of the format ``dfopt-result/2``, or ``/1``; ``-`` is standard input, and a name
        that ends in ``.gz`` is gunzipped.

    Raises
    ------
    FileError, InstanceError
        With file, place and remedy, when the file is not a result.
    """
    return RESULTS.read(path)


def write_result(result: Result, path: str | Path) -> None:
    """Write a result to a file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    RESULTS.write(result, path)


def result_from_document(document: Document) -> Result:
    """Return the result that a parsed document describes.

    One written by hand may leave out all but format, instance, status, objective and schedule:
    its lower bound is then 0, and its gap follows from objective and lower bound.

    Raises
    ------
    FileError, InstanceError
        With place and remedy, when the document is not a result.
    """
    return RESULTS.from_document(document)


def result_to_document(result: Result) -> Document:
    """Return the document that describes a result."""
    return RESULTS.to_document(result)
