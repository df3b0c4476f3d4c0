"""The CSV file of a benchmark: it grows row by row, and no finished row is ever lost."""

from __future__ import annotations

import csv
import fcntl
import io
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from dfopt._version import __version__
from dfopt.bench.row import COLUMNS, Row, row_from_texts, texts_of
from dfopt.errors import DfoptError, FileError
from dfopt.files import check_writable


class Table:
    """A CSV file that is open for more rows.

    Every row is one write and is on the disk before the next one begins. So whatever ends the
    process, what can be torn is the last line; it lacks its end, and going on drops it.

    Parameters
    ----------
    path
        The file. A device or pipe takes rows too, but holds none.
    resume
        Whether to go on with the rows that are there.

    Raises
    ------
    FileError
        When the file cannot be written, is at work in another run, holds anything although
        ``resume`` is false, or holds what this version does not write.

    Attributes
    ----------
    rows
        The rows that were there, whatever their settings.
    """

    def __init__(self, path: str | Path, *, resume: bool = False) -> None:
        self.path = str(path)
        self.rows: tuple[Row, ...] = ()
        if self.path.endswith(".gz"):
            raise FileError("grows row by row; give it a name without .gz", file=self.path)
        check_writable(self.path)
        self._regular = not os.path.exists(path) or os.path.isfile(path)
        flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT if self._regular else 0)
        self._descriptor = os.open(self.path, flags, 0o666)
        try:
            if self._regular:
                self._begin(resume)
            else:
                self._write(HEADER)
        except BaseException:
            self.close()
            raise

    def append(self, row: Row) -> None:
        """Write a row and wait until it is on the disk.

        Raises
        ------
        FileError
            When there is no room for it; what was there is still there.
        """
        self._write(line_of(texts_of(row)))

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self, resume: bool) -> None:
        self._lock()
        if not os.fstat(self._descriptor).st_size:
            self._write(HEADER)
            return
        if not resume:
            raise FileError(
                "is there already; add `resume` to go on with it, or name another file",
                file=self.path,
            )
        whole, torn = lines_in(self.path)
        if whole or not HEADER.encode().startswith(torn):
            self.rows = tuple(rows_of(whole, self.path))
        os.ftruncate(self._descriptor, len(whole))
        if not whole:
            self._write(HEADER)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(
                "another run writes to it; wait for its end, or name another file", file=self.path
            ) from None
        except OSError:
            return  # a file system without locks: other runs cannot be kept out

    def _write(self, line: str) -> None:
        data = line.encode("utf-8")
        size = os.fstat(self._descriptor).st_size
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            if self._regular:
                os.fsync(self._descriptor)
        except OSError as error:
            if self._regular:
                os.ftruncate(self._descriptor, size)
            raise FileError(
                f"cannot be written ({error.strerror}); make room and add `resume`",
                file=self.path,
            ) from None


def read_rows(path: str | Path) -> tuple[Row, ...]:
    """Return the rows in a CSV file that a run has written, a torn last line left out.

    Raises
    ------
    FileError
        When the file holds something else.
    """
    return tuple(rows_of(lines_in(path)[0], str(path)))


def lines_in(path: str | Path) -> tuple[bytes, bytes]:
    """Return the whole lines of a file, and the torn part of a last one."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror}); name another file"
        raise FileError(problem, file=str(path)) from None
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]


def rows_of(lines: bytes, file: str) -> Iterator[Row]:
    """Yield the rows in the lines of a CSV file; errors name the line."""
    try:
        text = lines.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError("is no UTF-8 text; name another file", file=file) from None
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        check_header(next(reader, []))
        for texts in reader:
            yield checked_row(texts)
    except csv.Error as error:
        problem = f"is no CSV ({error}); mend or remove the line"
        raise FileError(problem, place=f"line {reader.line_num}", file=file) from None
    except DfoptError as error:
        place = ", ".join(filter(None, (f"line {max(reader.line_num, 1)}", error.place)))
        raise FileError(error.problem, place=place, file=file) from None


def check_header(columns: list[str]) -> None:
    """Refuse the columns of other tables, and of other versions."""
    if tuple(columns) != COLUMNS:
        raise FileError(f"does not name the columns of dfopt {__version__}; name another file")


def checked_row(texts: list[str]) -> Row:
    """Return the row of a line that this version wrote."""
    row = row_from_texts(texts)
    if row.dfopt_version != __version__:
        raise FileError(
            f"is of dfopt {row.dfopt_version}, and this is {__version__}; "
            "name another file, so that figures of two versions do not mix"
        )
    return row


def line_of(texts: list[str] | tuple[str, ...]) -> str:
    """Return a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(texts)
    return line.getvalue()


HEADER = line_of(COLUMNS)
