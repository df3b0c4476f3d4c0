"""Instances as JSON documents of the format ``dfopt-instance/1``."""

from __future__ import annotations

from pathlib import Path

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.json_text import document_digest
from dfopt.files.strict_json import Document
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import Penalty
from dfopt.structs import document_of
from dfopt.type_reader import reader


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
