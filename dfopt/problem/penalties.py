"""The parameters of the switch penalties f, g and matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

from dfopt.checks import (
    check_integer,
    check_name,
    described,
)
from dfopt.errors import InstanceError
from dfopt.render import html
from dfopt.short_repr import short_repr
from dfopt.table import Table, TableColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyF:
    """Switch penalty f: lines are read one by one, the cache is written back as a whole.

    Parameters
    ----------
    read_line
        Time to read one cache line (t_r), in the instance's time unit.
    write_back
        Time to write the whole cache back (T_w).
    """

    read_line: int
    write_back: int

    def __post_init__(self) -> None:
        check_integer(self.read_line, "read_line")
        check_integer(self.write_back, "write_back")


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyG:
    """Switch penalty g: every change of fragment fills and writes back the whole cache.

    Parameters
    ----------
    fill
        Time to fill the cache (T_r), in the instance's time unit.
    write_back
        Time to write the whole cache back (T_w).
    """

    fill: int
    write_back: int

    def __post_init__(self) -> None:
        check_integer(self.fill, "fill")
        check_integer(self.write_back, "write_back")


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyMatrix:
    """Switch penalty given as a table over task types.

    Parameters
    ----------
    types
        Names of the task types.
    switch
        Square table, row = from, column = to; the diagonal counts.
    start
        Cost of the first task on an empty CPU, one per type; counts with ``cold_start``.
    finish
        Cost after the last task, one per type; counts with ``final_write_back``.
    """

    types: tuple[str, ...]
    switch: tuple[tuple[int, ...], ...]
    start: tuple[int, ...] | None = None
    finish: tuple[int, ...] | None = None
    _numbers: dict[str | None, int] = field(init=False, repr=False, compare=False)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if not self.types:
            raise InstanceError("needs at least one type", place="types")
        seen: set[str] = set()
        for position, name in enumerate(self.types):
            check_name(name, f"types[{position}]")
            if name in seen:
                raise InstanceError(
                    f"the type {described(name)} is there twice", place=f"types[{position}]"
                )
            seen.add(name)
        size = len(self.types)
        if len(self.switch) != size:
            raise InstanceError(
                f"has {len(self.switch)} rows but there are {size} types; give one row per type",
                place="switch",
            )
        for row, costs in enumerate(self.switch):
            self._check_row(costs, f"switch[{row}]")
        for place, row_costs in (("start", self.start), ("finish", self.finish)):
            if row_costs is not None:
                self._check_row(row_costs, place)
        numbers = {name: number for number, name in enumerate(self.types)}
        object.__setattr__(self, "_numbers", numbers)

    def number_of(self, name: str | None) -> int:
        """Return the row and column of a type."""
        return self._numbers[name]

    def _repr_html_(self) -> str:
        """Return the matrix as a table, as notebooks show it."""
        rows: list[tuple[str | int, ...]] = [
            (kind, *costs) for kind, costs in zip(self.types, self.switch, strict=True)
        ]
        if self.start is not None:
            rows.insert(0, ("empty", *self.start))
        if self.finish is not None:
            rows.append(("at the end", *self.finish))
        title = "penalty from a type (row) to the next one (column)"
        return html(Table(title, tuple(map(TableColumn, ("from", *self.types))), rows))

    def _check_row(self, costs: tuple[int, ...], place: str) -> None:
        if len(costs) != len(self.types):
            raise InstanceError(
                f"has {len(costs)} entries but there are {len(self.types)} types; "
                "give one entry per type",
                place=place,
            )
        for column, cost in enumerate(costs):
            check_integer(cost, f"{place}[{column}]")


Penalty = PenaltyF | PenaltyG | PenaltyMatrix
