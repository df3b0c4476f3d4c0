"""Every bad file is refused in one line that names the file, the place and the remedy."""

import errno
import gzip
import io
import json
import os
import sys
from types import SimpleNamespace

import pytest

from dfopt.errors import FileError
from dfopt.files import instance_from_document, read_instance
from dfopt.files.formats import Format, other_kind
from tests.files.refused import GOOD, MATRIX, refusal, refusal_of

DEEP = 100_000


def test_the_good_files_are_good(tmp_path):
    for content in (GOOD, MATRIX):
        path = tmp_path / "good.json"
        path.write_text(content)
        read_instance(path)


@pytest.mark.parametrize("name", ["none.json", "none.json.gz", "no/such/folder.json"])
def test_missing_file(tmp_path, name):
    line = refusal(tmp_path / name)
    assert line == f"{tmp_path / name}: there is no such file; check its name"


def test_folder(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: is a folder; name a file in it"


def test_file_as_a_folder(tmp_path):
    (tmp_path / "file").touch()
    assert "cannot be read (Not a directory)" in refusal(tmp_path / "file" / "x")


def test_closed_file(tmp_path, monkeypatch):
    def refuse(path, mode):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("dfopt.files.storage.open", refuse, raising=False)
    line = refusal(tmp_path / "x.json")
    assert line == f"{tmp_path / 'x.json'}: may not be read; change its permissions"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(GOOD)
    path.chmod(0)
    assert "may not be read; change its permissions" in refusal(path)


def test_impossible_name():
    assert "cannot be read (embedded null" in refusal("a\0b")


def test_name_with_a_line_break(tmp_path):
    assert refusal(tmp_path / "a\nb.json").endswith(
        "a b.json: there is no such file; check its name"
    )


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert refusal("-").startswith("standard input: cannot be read")


def test_closed_standard_input(monkeypatch):
    stream = io.BytesIO()
    stream.close()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
    assert refusal("-").startswith("standard input: cannot be read")


def test_bad_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'{"cpus": ')))
    assert refusal("-").startswith("standard input: line 1, column 10: the document ends too early")


BYTES = {
    "empty": (b"", "is empty; it should hold a JSON document"),
    "blank": (b" \n\t", "is empty; it should hold a JSON document"),
    "binary": (b"\x7fELF\0\0\0", "is a binary file; name one that holds UTF-8 text"),
    "UTF-16": (GOOD.encode("utf-16-le"), "is a binary file; name one that holds UTF-8 text"),
    "Latin-1": (
        '{\n"name": "Größe"}'.encode("latin-1"),
        "line 2: is not UTF-8 text; save it as UTF-8",
    ),
    "byte order mark": (
        GOOD.encode("utf-8-sig"),
        "begins with a byte order mark; save it as UTF-8 without one",
    ),
    "gzip without .gz": (
        gzip.compress(GOOD.encode()),
        "is compressed; give it a name that ends in .gz or gunzip it",
    ),
    "no JSON": (
        b"cpus: 2",
        f"is not JSON; an instance is due here, as made by {Format.INSTANCE.makers}",
    ),
    "two documents": (
        b"{}\n{}",
        "line 2, column 1: this is not JSON (Extra data); correct it",
    ),
    "missing colon": (
        GOOD.replace('"cpus": 2', '"cpus" 2').encode(),
        "line 1, column 39: this is not JSON (Expecting ':' delimiter); correct it",
    ),
    "missing comma": (
        GOOD.replace('"v0", "df"', '"v0" "df"').encode(),
        'line 1, column 123: a comma is missing after …ck": 4}, "tasks": [{"id": "v0"',
    ),
    "missing comma at the end of a line": (
        b'{\n  "cpus": 2\n\n  "tasks": []\n}',
        'line 2, column 12: a comma is missing after "cpus": 2',
    ),
    "missing comma between objects": (
        b'{"tasks": [\n  {"id": "a"}\n  {"id": "b"}\n]}',
        'line 2, column 14: a comma is missing after {"id": "a"}',
    ),
    "missing comma between numbers": (
        b'{"costs": [1 2]}',
        'line 1, column 13: a comma is missing after {"costs": [1',
    ),
    "quotation mark in a text": (
        b'{"name": "the "best" one"}',
        "line 1, column 16: this is not JSON (Expecting ',' delimiter); correct it",
    ),
    "number with a leading zero": (
        b'{"cpus": 02}',
        "line 1, column 11: this is not JSON (Expecting ',' delimiter); correct it",
    ),
    "comma before the end of an object": (
        b'{\n  "cpus": 2 ,\n}',
        'line 2, column 13: nothing follows the comma after "cpus": 2; remove the comma',
    ),
    "comma before the end of an array": (
        b'{"costs": [1,\n]}',
        'line 1, column 13: nothing follows the comma after {"costs": [1; remove the comma',
    ),
}


@pytest.mark.parametrize("case", BYTES)
def test_bytes_that_are_no_document(tmp_path, case):
    content, expected = BYTES[case]
    assert refusal_of(tmp_path, content) == expected


@pytest.mark.parametrize("length", range(1, len(GOOD)))
def test_document_cut_short(tmp_path, length):
    assert "the document ends too early; it may have been cut short" in refusal_of(
        tmp_path, GOOD[:length]
    )


DAMAGED = {
    "not gzip": GOOD.encode(),
    "cut short": gzip.compress(GOOD.encode())[:-12],
    "flipped": gzip.compress(GOOD.encode(), mtime=0)[:20]
    + b"!!!!"
    + gzip.compress(GOOD.encode(), mtime=0)[24:],
    "wrong checksum": gzip.compress(GOOD.encode())[:-8] + bytes(8),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_gzip(tmp_path, case):
    line = refusal_of(tmp_path, DAMAGED[case], name="bad.json.gz")
    assert line.startswith("is damaged (")
    assert "compress it again" in line


def test_empty_gzip(tmp_path):
    assert refusal_of(tmp_path, b"", name="bad.json.gz").startswith("is empty")


@pytest.mark.parametrize(
    "content",
    [
        "[" * DEEP,
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        '{"x-a":' + "[" * DEEP + "]" * DEEP + "}",
        '{"x-a":' * DEEP + "1" + "}" * DEEP,
        '{"x-a":' + "[" * 300 + "]" * 300 + "}",
        GOOD.replace('"A"', "[" * 300 + "]" * 300),
        GOOD.replace('"A"', '"A", "x-a": ' + '[{"b":' * 500 + "1" + "}]" * 500),
    ],
    ids=range(9),
)
def test_bottomless_nesting(tmp_path, content):
    assert "is nested more than 200 levels deep; flatten it" in refusal_of(tmp_path, content)


def test_some_nesting_is_fine():
    deep = []
    for _ in range(150):
        deep = [deep]
    instance_from_document(json.loads(GOOD) | {"x-deep": deep})


def test_document_that_holds_itself():
    document = json.loads(GOOD)
    document["x-self"] = document
    with pytest.raises(FileError, match="is nested more than 200 levels deep"):
        instance_from_document(document)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "must be an object {…}, not an array"),
        ('["dfopt-instance/1"]', "must be an object {…}, not an array"),
        ("null", "must be an object {…}, not null"),
        ("true", "must be an object {…}, not true"),
        ("3", "must be an object {…}, not 3"),
        ('"text"', "must be an object {…}, not 'text'"),
    ],
)
def test_document_that_is_no_object(tmp_path, content, problem):
    assert refusal_of(tmp_path, content) == problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ('"dfopt-result/2"', other_kind(Format.RESULT, Format.INSTANCE).problem),
        ('"dfopt-trace/1"', other_kind(Format.TRACE, Format.INSTANCE).problem),
        ('"dfopt-instance/2"', "must be 'dfopt-instance/1', not 'dfopt-instance/2'"),
        ("1", "must be 'dfopt-instance/1', not 1"),
        ("null", "must be 'dfopt-instance/1', not null"),
        ('["dfopt-instance/1"]', "must be 'dfopt-instance/1', not an array"),
    ],
)
def test_wrong_format(tmp_path, value, problem):
    content = GOOD.replace('"dfopt-instance/1"', value)
    assert refusal_of(tmp_path, content) == f"format: {problem}"
