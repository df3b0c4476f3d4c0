"""A reader gets all of a file after a look at its beginning, even if it can be read only once."""

import gzip
import io
import os
import threading
import time
from types import SimpleNamespace

import pytest

from dfopt.errors import FileError
from dfopt.files import read_text
from dfopt.files.storage import PEEK, first_bytes, opened

TEXT = b"".join(b"%d\n" % number for number in range(40_000))
assert len(TEXT) > 2 * PEEK


def slowly(pieces, descriptor):
    with open(descriptor, "wb", buffering=0) as stream:
        for piece in pieces:
            stream.write(piece)
            time.sleep(0.01)


@pytest.fixture
def feed():
    """Write pieces of a file one after the other, while a test reads them."""
    threads = []

    def begin(pieces, descriptor):
        threads.append(threading.Thread(target=slowly, args=(pieces, descriptor)))
        threads[-1].start()

    yield begin
    for thread in threads:
        thread.join()


@pytest.fixture(params=["fifo", "standard input", "descriptor"])
def piped(request, feed, tmp_path, monkeypatch):
    """Return the name of a pipe through which pieces come."""

    def name(*pieces):
        if request.param == "fifo":
            path = tmp_path / "fifo"
            os.mkfifo(path)
            feed(pieces, path)
            return path
        out, into = os.pipe()
        request.addfinalizer(lambda: os.close(out))
        feed(pieces, into)
        if request.param == "descriptor":
            return f"/dev/fd/{out}"
        monkeypatch.setattr(
            "sys.stdin",
            SimpleNamespace(buffer=open(out, "rb", closefd=False)),  # noqa: SIM115
        )
        return "-"

    return name


def test_short_first_writes(piped):
    path = piped(b'{"for', b'mat"', b": 1}")
    assert first_bytes(path) == first_bytes(path) == b'{"format": 1}'
    assert read_text(path) == '{"format": 1}'


def test_longer_than_what_is_looked_at(piped):
    path = piped(TEXT[:10], TEXT[10 : PEEK + 5], TEXT[PEEK + 5 :])
    assert first_bytes(path) == TEXT[:PEEK]
    with opened(path) as stream:
        assert stream.peek() == TEXT[:PEEK]
        assert stream.read() == TEXT


def test_compressed(piped):
    packed = gzip.compress(TEXT)
    path = piped(packed[:1], packed[1:7], packed[7:])
    assert first_bytes(path) == TEXT[:PEEK]
    with opened(path) as stream:
        assert stream.read() == TEXT


def test_damaged(piped):
    path = piped(gzip.compress(TEXT)[:10] + b"\xff" * 99)
    with pytest.raises(FileError, match="is damaged"):
        first_bytes(path)
    with pytest.raises(FileError, match="is damaged"), opened(path) as stream:
        stream.read()


def test_nothing_at_all(piped):
    path = piped(b"")
    assert first_bytes(path) == b""
    assert read_text(path) == ""


def test_files_that_change_are_looked_at_anew(tmp_path):
    path = tmp_path / "file"
    for text in ("one", "two"):
        path.write_text(text)
        assert first_bytes(path) == text.encode()


def test_another_standard_input_is_looked_at_anew(monkeypatch):
    for text in (b"one", b"two"):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        assert first_bytes("-") == text
