"""Writing piece by piece, still as a whole or not at all."""

import gzip

import pytest

from dfopt.errors import FileError
from dfopt.files.storage import replacing


def write_half(path, error):
    with replacing(path) as stream:
        stream.write(b"half")
        raise error


@pytest.mark.parametrize("name", ["a.bin", "a.bin.gz"])
def test_pieces_become_one_file(tmp_path, name):
    path = tmp_path / name
    with replacing(path) as stream:
        stream.write(b"one ")
        assert not path.exists()
        stream.write(b"two")
    data = path.read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == b"one two"
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.bin", "a.bin.gz"])
def test_what_was_there_stays_when_the_writer_fails(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError):
        write_half(path, ZeroDivisionError())
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_full_disk_is_the_files_error(tmp_path):
    path = tmp_path / "a.bin"
    with pytest.raises(FileError, match=r"cannot be written \(No space left") as caught:
        write_half(path, OSError(28, "No space left on device"))
    assert caught.value.file == str(path)
    assert not list(tmp_path.iterdir())
