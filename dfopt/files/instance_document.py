"""Instances as JSON documents of the format ``dfopt-instance/1``."""

from __future__ import annotations

from pathlib import Path

from dfopt.errors import DfoptError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format, read_json
from dfopt.files.json_text import document_digest, document_text
from dfopt.files.storage import write_text
from dfopt.files.streams import shown_name
from dfopt.files.strict_json import Document, check_document
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import Penalty
from dfopt.structs import document_of
from dfopt.type_reader import reader

INSTANCES = DocumentType(Format.INSTANCE, Instance)


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
    document = read_json(path, Format.INSTANCE)
    try:
        return _read(document)
    except DfoptError as error:
        raise error.in_file(shown_name(path)) from None


def write_instance(instance: Instance, path: str | Path) -> None:
    """Write an instance to a file, as a whole or not at all.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    write_text(path, document_text(instance_to_document(instance)))


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
    check_document(document)
    return _read(document)


def _read(document: Document) -> Instance:
    instance = INSTANCES.read_parsed(document)
    # Not a parameter: a copy with other values must not inherit the digest of this document.
    instance.__dict__["document_sha256"] = document_digest(document)
    return instance


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
