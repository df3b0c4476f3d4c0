"""What a pattern finds in lines, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dfopt.trace.events import Integers, Numbers
from dfopt.trace.readers.grammar import Pattern

Row = tuple[bytes, ...]
"""The groups of one line; those that took no part are empty."""


class Fields:
    """Takes columns out of rows by the names of a pattern's groups.

    Where several names are given, the one that took part in a row gives its value. A name that
    the pattern does not have is that of a group that takes part in no row.
    """

    def __init__(self, pattern: Pattern) -> None:
        self._places = {name: number - 1 for name, number in pattern.groupindex.items()}

    def have(self, rows: Iterable[Row], name: str) -> bool:
        """Whether a group took part in any of the rows."""
        place = self._places.get(name)
        return place is not None and any(map(itemgetter(place), rows))

    def having(self, rows: Iterable[Row], name: str) -> list[Row]:
        """Return the rows in which a group took part."""
        place = self._places.get(name)
        if place is None:
            return []
        return [row for row in rows if row[place]]

    def words(self, rows: Sequence[Row], *names: str) -> list[bytes]:
        """Return a column as it stands in the text."""
        places = [self._places[name] for name in names if name in self._places]
        if not places:
            return [b""] * len(rows)
        column = list(map(itemgetter(places[0]), rows))
        for place in places[1:]:
            if any(map(itemgetter(place), rows)):
                other = map(itemgetter(place), rows)
                column = [one or another for one, another in zip(column, other, strict=True)]
        return column

    def numbers(self, rows: Sequence[Row], *names: str) -> Numbers:
        """Return a column of numbers."""
        return _parsed(b" ".join(self.words(rows, *names))).astype(np.int32)

    def times(self, rows: Sequence[Row]) -> Integers:
        """Return when the lines' events happened, in nanoseconds."""
        # All have six places, so that without the point they are microseconds.
        times = _parsed(b" ".join(self.words(rows, "time")).replace(b".", b"")) * 1000
        if self.have(rows, "nanoseconds"):
            rest = self.words(rows, "nanoseconds")
            times += _parsed(b" ".join([digits or b"0" for digits in rest]))
        return times


def _parsed(numbers: bytes) -> Integers:
    # NumPy warns where there is nothing to parse.
    return np.fromstring(numbers, np.int64, sep=" ") if numbers else np.empty(0, np.int64)


class Columns:
    """Columns that grow piece by piece.

    Parameters
    ----------
    types
        One for each column.
    """

    def __init__(self, *types: DTypeLike) -> None:
        self._types = types
        self._pieces: list[tuple[NDArray[Any], ...]] = []

    def __bool__(self) -> bool:
        """Whether there is any row."""
        return bool(self._pieces)

    def add(self, *columns: NDArray[Any]) -> None:
        """Add rows, a piece of each column."""
        if len(columns[0]):
            self._pieces.append(columns)

    def clear(self) -> None:
        """Drop all rows."""
        self._pieces.clear()

    def joined(self) -> list[NDArray[Any]]:
        """Return the whole columns."""
        if not self._pieces:
            return [np.empty(0, kind) for kind in self._types]
        return [np.concatenate(column) for column in zip(*self._pieces, strict=True)]
