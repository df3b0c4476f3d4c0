"""Files are written as a whole or not at all."""

import gzip
import os
import stat
import threading

import pytest

from dfopt.errors import FileError
from dfopt.files import check_writable, read_text, write_text


def refusal(path, write):
    with pytest.raises(FileError) as caught:
        write(path)
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    return line


def write_something(path):
    write_text(path, "new\n")


WRITERS = pytest.mark.parametrize("write", [write_something, check_writable])


def test_text_goes_in_and_comes_out(tmp_path):
    for name in ("plain.txt", "packed.txt.gz"):
        write_text(tmp_path / name, "Größe\n")
        assert read_text(tmp_path / name) == "Größe\n"
    assert gzip.decompress((tmp_path / "packed.txt.gz").read_bytes()) == "Größe\n".encode()


def test_the_same_text_gives_the_same_bytes(tmp_path, monkeypatch):
    write_text(tmp_path / "a.gz", "text")
    monkeypatch.setattr("time.time", lambda: 0.0)
    write_text(tmp_path / "b.gz", "text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@WRITERS
def test_nothing_else_is_left_in_the_folder(tmp_path, write):
    write(tmp_path / "file")
    write(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir() if path.name != "file"] == []


def test_checking_changes_nothing(tmp_path):
    (tmp_path / "old").write_text("old")
    check_writable(tmp_path / "old")
    check_writable(tmp_path / "new")
    assert (tmp_path / "old").read_text() == "old"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "interruption", [OSError(28, "No space left on device"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("call", ["os.fsync", "pathlib.Path.replace"])
def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch, call, interruption):
    def interrupt(*_):
        raise interruption

    target = tmp_path / "file"
    target.write_text("old")
    monkeypatch.setattr(call, interrupt)
    with pytest.raises((FileError, KeyboardInterrupt)) as caught:
        write_something(target)
    if isinstance(interruption, OSError):
        assert str(caught.value) == (
            f"{target}: cannot be written (No space left on device); name another file"
        )
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("write", [write_something, check_writable])
def test_a_signal_as_soon_as_a_file_is_open_leaves_none(tmp_path, monkeypatch, write):
    open_file = os.open

    def opened(*arguments):
        os.close(open_file(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr("os.open", opened)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_readers_never_see_half_a_file(tmp_path):
    target = tmp_path / "file"
    texts = {letter * 1_000_000 for letter in "ab"}
    write_text(target, min(texts))
    seen = set()
    stop = threading.Event()

    def look():
        while not stop.is_set():
            seen.add(target.read_text())

    reader = threading.Thread(target=look)
    reader.start()
    for _ in range(10):
        for text in texts:
            write_text(target, text)
    stop.set()
    reader.join()
    assert seen <= texts


@WRITERS
def test_folder(tmp_path, write):
    assert refusal(tmp_path, write) == f"{tmp_path}: is a folder; name a file in it"


@WRITERS
def test_missing_folder(tmp_path, write):
    path = tmp_path / "none" / "file"
    assert refusal(path, write) == (
        f"{path}: cannot be written: its folder does not exist; create it first"
    )


@WRITERS
def test_file_as_a_folder(tmp_path, write):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "file"
    assert "its folder does not exist; create it first" in refusal(path, write)


@WRITERS
def test_closed_folder(tmp_path, monkeypatch, write):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert refusal(tmp_path / "file", write) == (
        f"{tmp_path / 'file'}: may not be written; change the permissions or name another file"
    )


@WRITERS
def test_write_protected_file(tmp_path, monkeypatch, write):
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert "may not be written; change the permissions" in refusal(tmp_path / "file", write)


@WRITERS
@pytest.mark.parametrize(
    ("name", "reason"), [("a\0b", "embedded null"), ("n" * 300, "File name too long")]
)
def test_impossible_name(tmp_path, write, name, reason):
    line = refusal(tmp_path / name, write)
    assert "cannot be written (" in line
    assert reason in line


def test_text_that_is_none(tmp_path):
    with pytest.raises(FileError, match="surrogates not allowed"):
        write_text(tmp_path / "file", "\ud800")
    assert list(tmp_path.iterdir()) == []


@WRITERS
def test_standard_input_is_not_for_writing(tmp_path, monkeypatch, write):
    monkeypatch.chdir(tmp_path)
    assert refusal("-", write) == "-: stands for standard input; name a file"


@WRITERS
def test_pipes_stay_pipes(tmp_path, write):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe)
        assert os.read(reader, 100) == (b"new\n" if write is write_something else b"")
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_links_stay_links(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "file")
    write_something(link)
    write_something(link)
    assert link.is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "new\n"


def test_permissions_are_those_the_user_asks_for(tmp_path):
    mask = os.umask(0o027)
    try:
        write_something(tmp_path / "new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    write_something(tmp_path / "new")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604
