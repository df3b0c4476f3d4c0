"""Data frames of pandas or polars, where one of them is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, get_args

from dfopt.checks import described
from dfopt.errors import MethodError

FrameLibrary = Literal["pandas", "polars"]
"""The libraries whose data frames can be made."""


def frame_of(
    columns: Sequence[str], rows: Sequence[Sequence[object]], library: FrameLibrary | None = None
) -> Any:
    """Return a data frame.

    Parameters
    ----------
    columns
        Their names.
    rows
        The values of each row, in the order of the columns. Columns of integers in which some are
        None have pandas' type ``Int64``, since a float could not hold large ones.
    library
        Which frame to make; None takes pandas if it is installed, else polars.

    Raises
    ------
    MethodError
        When the library is unknown or not installed.
    """
    library = library or installed_library()
    if library not in get_args(FrameLibrary):
        raise MethodError(f"{described(library)} makes no data frames; name pandas or polars")
    try:
        frames = importlib.import_module(library)
    except ImportError:
        raise MethodError(f"{library} is not installed; run 'pip install {library}'") from None
    values = {name: [row[place] for row in rows] for place, name in enumerate(columns)}
    if library == "polars":
        return frames.DataFrame(values, strict=False)
    return frames.DataFrame(
        {
            name: frames.array(column, dtype="Int64") if _lacks_integers(column) else column
            for name, column in values.items()
        },
        columns=list(columns),
    )


def installed_library() -> FrameLibrary:
    """Return the library that is installed: pandas, or else polars.

    Raises
    ------
    MethodError
        When neither is.
    """
    for library in get_args(FrameLibrary):
        if find_spec(library) is not None:
            return library  # type: ignore[no-any-return]
    raise MethodError("data frames need pandas or polars; run 'pip install pandas'")


def with_unit(column: str, units: Mapping[str | None, frozenset[str]]) -> str:
    """Return the name of a column with the unit of its values, such as ``run_time_ns``.

    Parameters
    ----------
    column
        The name without a unit.
    units
        The columns that have a unit, by unit; where the unit is None it is not known.
    """
    for unit, names in units.items():
        if unit and column in names:
            return f"{column}_{unit.replace(' ', '_')}"
    return column


def _lacks_integers(column: Sequence[object]) -> bool:
    """Return whether some values are None and all others are integers."""
    types = {type(value) for value in column}
    return types == {int, type(None)}
