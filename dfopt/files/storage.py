"""Reading and writing files: bytes piece by piece, and texts; writing never leaves half a file."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from dfopt.errors import DfoptError, FileError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    Source = IO[bytes] | gzip.GzipFile


STANDARD_INPUT = "-"
"""The path that stands for standard input."""

NO_SUCH_FILE = "there is no such file"

GZIP_MAGIC = b"\x1f\x8b"

PEEK = 1 << 16
"""Bytes at the beginning of a file that its reader may look at beforehand."""

_GUNZIP = 31
"""The window size with which zlib reads gzip."""

_looked_at: dict[str, tuple[Source, io.BufferedReader]] = {}
"""By path: files that were opened only to look at them and cannot be opened again, such as pipes.

The reader of such a file takes it from here, and finds it at its beginning.
"""


def shown_name(path: str | Path) -> str:
    """Return the name under which errors speak of ``path``."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path) or "''"


def first_bytes(path: str | Path) -> bytes:
    """Return the beginning of a file, unpacked; the next reader still finds all of the file.

    Raises
    ------
    FileError
        When the file cannot be read.
    """
    if str(path) != STANDARD_INPUT and Path(path).is_file():
        with opened(path) as stream:
            return stream.peek()
    _, stream = _looked_at[str(path)] = _taken(path)
    first = stream.peek()
    if not first.startswith(GZIP_MAGIC):
        return first
    with reading_errors(path):
        return zlib.decompressobj(_GUNZIP).decompress(first, PEEK)


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[io.BufferedReader]:
    """Open a file to be read piece by piece, gunzipped if its name or its content asks for it.

    Parameters
    ----------
    path
        The file; ``-`` is standard input.

    Yields
    ------
    io.BufferedReader
        Its ``peek`` gives :data:`PEEK` bytes, fewer only where the file has no more.

    Raises
    ------
    FileError
        When there is no such file, or it cannot be read to its end.
    """
    with opened_as_it_is(path) as stream:
        if str(path).endswith(".gz") or stream.peek().startswith(GZIP_MAGIC):
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield _peekable(unpacked, path)
        else:
            yield stream


@contextlib.contextmanager
def opened_as_it_is(path: str | Path) -> Iterator[io.BufferedReader]:
    """Open a file like :func:`opened`, but compressed if it is."""
    source, stream = _taken(path)
    try:
        yield stream
    finally:
        if str(path) != STANDARD_INPUT:  # which is not ours to close
            source.close()


def _taken(path: str | Path) -> tuple[Source, io.BufferedReader]:
    """Return a file at its beginning, out of what was looked at if it is there."""
    found = _looked_at.pop(str(path), None)
    with reading_errors(path):
        if str(path) != STANDARD_INPUT:
            source: Source = found[0] if found else open(path, "rb")  # noqa: SIM115 (its taker closes it)
        else:
            source = sys.stdin.buffer
    # Standard input may have been replaced since.
    return found if found and found[0] is source else (source, _peekable(source, path))


def _peekable(source: Source, path: str | Path) -> io.BufferedReader:
    return io.BufferedReader(cast(io.RawIOBase, _FullReads(source, path)), PEEK)


class _FullReads(io.RawIOBase):
    """A stream that returns less than it is asked for only at its end.

    It leaves what it reads from open: standard input is not ours to close.
    """

    def __init__(self, source: Source, path: str | Path) -> None:
        self._source = source
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        filled = 0
        with reading_errors(self._path):
            while filled < len(view) and (data := self._source.read(len(view) - filled)):
                view[filled : filled + len(data)] = data
                filled += len(data)
        return filled


@contextlib.contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Let every :class:`DfoptError` raised within name a file, but for those that name one."""
    try:
        yield
    except DfoptError as error:
        raise error if error.file else error.in_file(shown_name(path)) from None


@contextlib.contextmanager
def placed(place: str) -> Iterator[None]:
    """Let every :class:`DfoptError` raised within say a place of the file, before its own place."""
    try:
        yield
    except DfoptError as error:
        inner = ", ".join(filter(None, (place, error.place)))
        raise FileError(error.problem, place=inner, file=error.file) from None


@contextlib.contextmanager
def reading_errors(path: str | Path) -> Iterator[None]:
    """Raise a :class:`FileError` for what the system or ``gzip`` says about reading ``path``."""
    name = shown_name(path)
    try:
        yield
    except FileNotFoundError:
        raise FileError(f"{NO_SUCH_FILE}; check its name", file=name) from None
    except IsADirectoryError:
        raise FileError("is a folder; name a file in it", file=name) from None
    except PermissionError:
        raise FileError("may not be read; change its permissions", file=name) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(
            f"is damaged ({error}); compress it again, or drop .gz from its name if it is plain",
            file=name,
        ) from None
    except (OSError, ValueError, AttributeError) as error:
        # ValueError: a name with a zero byte, or closed input; AttributeError: no input at all.
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot be read ({reason}); name another file", file=name) from None


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
    data = _read_bytes(path)
    if skips_mark:
        data = data.removeprefix(BYTE_ORDER_MARK)
    with naming(path):
        if data.startswith(GZIP_MAGIC):
            raise FileError("is compressed; give it a name that ends in .gz or gunzip it")
        if data.startswith(BYTE_ORDER_MARK):
            raise FileError("begins with a byte order mark; save it as UTF-8 without one")
        return decoded(data)


def decoded(data: bytes, what: str = "UTF-8 text") -> str:
    """Return the text that bytes stand for; ``what`` a file should hold.

    Raises
    ------
    FileError
        When they are no UTF-8 text.
    """
    if b"\0" in data:
        raise FileError(f"is a binary file; name one that holds {what}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError("is not UTF-8 text; save it as UTF-8", place=f"line {line}") from None


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
