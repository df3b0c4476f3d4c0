"""The parameters of the switch penalties f, g and matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dfopt.checks import described
from dfopt.errors import InstanceError
from dfopt.render import html
from dfopt.structs import Checked, Natural
from dfopt.table import Table, TableColumn


class PenaltyF(Checked, tag_field="kind", tag="f"):
    """Switch penalty f: lines are read one by one, the cache is written back as a whole.

    Parameters
    ----------
    read_line
        Time to read one cache line (t_r), in the instance's time unit.
    write_back
        Time to write the whole cache back (T_w).
    """

    read_line: Natural
    write_back: Natural

    def reading(self, lines: int) -> int:
        """Return the cost of reading lines into a clean cache."""
        return lines * self.read_line


class PenaltyG(Checked, tag_field="kind", tag="g"):
    """Switch penalty g: every change of fragment fills and writes back the whole cache.

    Parameters
    ----------
    fill
        Time to fill the cache (T_r), in the instance's time unit.
    write_back
        Time to write the whole cache back (T_w).
    """

    fill: Natural
    write_back: Natural

    def reading(self, lines: int) -> int:
        """Return the cost of another fragment, whatever its lines and what the cache holds."""
        return self.fill + self.write_back


class PenaltyMatrix(Checked, tag_field="kind", tag="matrix", dict=True):
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
    switch: tuple[tuple[Natural, ...], ...]
    start: tuple[Natural, ...] | None = None
    finish: tuple[Natural, ...] | None = None

    def __post_init__(self) -> None:
        """Check that rows and columns fit the types."""
        super().__post_init__()
        if not self.types:
            raise InstanceError("needs at least one type", place="types")
        seen: set[str] = set()
        for position, name in enumerate(self.types):
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

    @cached_property
    def _numbers(self) -> dict[str | None, int]:
        return {name: number for number, name in enumerate(self.types)}

    def number_of(self, name: str | None) -> int:
        """Return the row and column of a type."""
        return self._numbers[name]

    def among(self, names: Sequence[str]) -> PenaltyMatrix:
        """Return the matrix of these types alone, in this order; the matrix itself if none."""
        if not names:
            return self
        places = [self.number_of(name) for name in names]

        def row(costs: Sequence[int]) -> tuple[int, ...]:
            return tuple([costs[place] for place in places])

        return PenaltyMatrix(
            types=tuple(names),
            switch=tuple([row(self.switch[place]) for place in places]),
            start=row(self.start) if self.start else None,
            finish=row(self.finish) if self.finish else None,
        )

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


Penalty = PenaltyF | PenaltyG | PenaltyMatrix
