"""Reading and writing texts, compressed or not; writing never leaves half a file."""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from dfopt.errors import FileError
from dfopt.files.streams import (
    GZIP_MAGIC,
    STANDARD_INPUT,
    opened_as_it_is,
    reading_errors,
    shown_name,
)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMPRESSION = 6


def read_text(path: str | Path, *, skips_mark: bool = False) -> str:
    """Return the text of a file, gunzipped if its name ends in ``.gz``.

    Parameters
    ----------
    path
        The file; ``-`` is standard input.
    skips_mark
        Whether a byte order mark at its beginning, as spreadsheets write it, does not count.

    Raises
    ------
    FileError
        When there is no such file, or it is no UTF-8 text.
    """
    name = shown_name(path)
    data = _read_bytes(path)
    if data.startswith(GZIP_MAGIC):
        raise FileError("is compressed; give it a name that ends in .gz or gunzip it", file=name)
    if skips_mark:
        data = data.removeprefix(BYTE_ORDER_MARK)
    if data.startswith(BYTE_ORDER_MARK):
        raise FileError("begins with a byte order mark; save it as UTF-8 without one", file=name)
    if b"\0" in data:
        raise FileError("is a binary file; name one that holds UTF-8 text", file=name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(
            "is not UTF-8 text; save it as UTF-8", place=f"line {line}", file=name
        ) from None


def _read_bytes(path: str | Path) -> bytes:
    with opened_as_it_is(path) as stream, reading_errors(path):
        data = stream.read()
        return gzip.decompress(data) if str(path).endswith(".gz") else data


def write_text(path: str | Path, text: str) -> None:
    """Write a file as a whole or not at all, compressed if its name ends in ``.gz``.

    Raises
    ------
    FileError
        When the file cannot be written; what it held before is then still there.
    """
    try:
        data = text.encode("utf-8")
    except ValueError as error:
        raise _writing_error(path, error) from None
    with replacing(path) as stream:
        stream.write(data)


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that is written as a whole or not at all, compressed if it ends in ``.gz``.

    The file takes its name when the block is left; if that is by an exception, what was there
    before stays. Only for blocks that do nothing but write: their OSErrors are taken for the
    file's.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    try:
        with _new_file(Path(path)) as stream:
            if str(path).endswith(".gz"):
                # Without name and time: the same document, the same bytes.
                with gzip.GzipFile("", "wb", COMPRESSION, stream, mtime=0) as compressed:
                    yield cast(BinaryIO, compressed)
            else:
                yield stream
    except OSError as error:
        raise _writing_error(path, error) from None


def check_writable(path: str | Path) -> None:
    """Refuse a path that :func:`write_text` could not write, before the work is done.

    Raises
    ------
    FileError
        When ``path`` is a folder, or its folder is missing or closed to us.
    """
    try:
        target = Path(path)
        if _is_special(target):
            return
        with _temporary(_checked_target(target)) as (_, descriptor):
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise _writing_error(path, error) from None


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file under a temporary name, which is replaced by ``path`` at the end."""
    try:
        special = _is_special(path)
        target = path if special else _checked_target(path)
    except ValueError as error:  # a name with a zero byte
        raise _writing_error(path, error) from None
    if special:
        with path.open("wb") as stream:
            yield stream
        return
    with _temporary(target) as (temporary, descriptor):
        with open(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)


def _is_special(path: Path) -> bool:
    """Whether ``path`` is a device or pipe, which a rename would replace by a plain file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _checked_target(path: Path) -> Path:
    """Return the file behind ``path``, through links, so that these stay links."""
    if str(path) == STANDARD_INPUT:
        raise FileError("stands for standard input; name a file", file=str(path))
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError
    return target


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[tuple[Path, int]]:
    """Open a file beside ``target``; whatever comes, its name is gone in the end."""
    # Not tempfile: its files are closed to everyone else whatever the user's umask says.
    temporary = target.with_name(f".dfopt-{secrets.token_hex(8)}.tmp")
    try:
        yield temporary, os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    finally:
        temporary.unlink(missing_ok=True)


def _writing_error(path: str | Path, error: OSError | ValueError) -> FileError:
    match error:
        case IsADirectoryError():
            problem = "is a folder; name a file in it"
        case FileNotFoundError() | NotADirectoryError():
            problem = "cannot be written: its folder does not exist; create it first"
        case PermissionError():
            problem = "may not be written; change the permissions or name another file"
        case _:
            reason = getattr(error, "strerror", None) or error
            problem = f"cannot be written ({reason}); name another file"
    return FileError(problem, file=str(path))
