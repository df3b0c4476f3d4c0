"""Readers and writers of dfopt's file formats, and their JSON Schemas."""

from dfopt.files.documents import (
    fingerprint,
    instance_from_document,
    instance_to_document,
    penalty_from_document,
    penalty_to_document,
    read_instance,
    read_result,
    result_from_document,
    result_to_document,
    write_instance,
    write_result,
)
from dfopt.files.formats import schema
from dfopt.files.storage import check_writable, read_text, write_text
from dfopt.files.strict import document_text, parse_document, read_document

__all__ = [
    "check_writable",
    "document_text",
    "fingerprint",
    "instance_from_document",
    "instance_to_document",
    "parse_document",
    "penalty_from_document",
    "penalty_to_document",
    "read_document",
    "read_instance",
    "read_result",
    "read_text",
    "result_from_document",
    "result_to_document",
    "schema",
    "write_instance",
    "write_result",
    "write_text",
]
