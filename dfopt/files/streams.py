"""Reading bytes: files piece by piece, compressed or not, and files that can be read only once."""

from __future__ import annotations

import contextlib
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from dfopt.errors import FileError

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
