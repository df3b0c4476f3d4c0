"""Which rows of a log count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from dfopt.errors import FileError
from dfopt.trace.quality import counted
from dfopt.trace.readers.request_log.csv_table import CsvTable
from dfopt.trace.readers.request_log.request_columns import RequestColumns
from dfopt.trace.readers.request_log.time_column import written_time

MOST_VALUES = 5
"""At most this many values of a column are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowConditions:
    """What the rows that count have in their columns.

    Parameters
    ----------
    where
        By column the values one of which a row has.
    where_not
        By column the values none of which a row has.
    """

    where: Mapping[str, Collection[str]] = field(default_factory=dict)
    where_not: Mapping[str, Collection[str]] = field(default_factory=dict)

    def chosen(self, table: CsvTable) -> CsvTable:
        """Return the rows that count.

        Raises
        ------
        FileError
            When none does.
        """
        rows = table.rows
        for values, is_wanted in ((self.where, True), (self.where_not, False)):
            for name, named in values.items():
                position = table.position(name)
                there = Counter(row[position] for _, row in rows)
                rows = [(line, row) for line, row in rows if (row[position] in named) == is_wanted]
                if not rows:
                    raise FileError(_without_rows(name, named, there, is_wanted=is_wanted))
        return CsvTable(names=table.names, rows=rows)

    def notice(self, table: CsvTable, chosen: CsvTable, columns: RequestColumns) -> str | None:
        """Return in one line which rows of a table were left out; None if none was."""
        number = len(table.rows) - len(chosen.rows)
        if not number:
            return None
        conditions = [f"{name!r} is not {_either(values)}" for name, values in self.where.items()]
        conditions += [f"{name!r} is {_either(values)}" for name, values in self.where_not.items()]
        said = f"left out {counted(number, 'request')} where {' or '.join(conditions)}"
        if columns.has_starts:
            kept = {line for line, _ in chosen.rows}
            left_out = CsvTable(
                names=table.names, rows=[row for row in table.rows if row[0] not in kept]
            )
            had_run = _number_that_ran(left_out, columns)
            if had_run:
                said += (
                    f"; {had_run} of them had run, and may have loaded a model: then they should "
                    "stay"
                )
        return said


def _without_rows(
    name: str, named: Collection[str], there: Counter[str], *, is_wanted: bool
) -> str:
    if not is_wanted:
        return f"has only requests whose {name!r} is {_either(named)}; permit one of them"
    shown = ", ".join(repr(value) for value, _ in there.most_common(MOST_VALUES))
    more = ", …" if len(there) > MOST_VALUES else ""
    several = "; for several values, give `where` for each" if any("," in v for v in named) else ""
    return f"has no request whose {name!r} is {_either(named)}; there are {shown}{more}{several}"


def _either(values: Collection[str]) -> str:
    return " or ".join(map(repr, values))


def _number_that_ran(table: CsvTable, columns: RequestColumns) -> int:
    """Return how many requests have all that the log says of one that ran."""
    said = [
        table.position(name)
        for name in (columns.cpu, columns.start, columns.end, columns.duration)
        if name is not None
    ]
    duration = None if columns.duration is None else table.position(columns.duration)
    return sum(
        all(row[position] for position in said)
        and (duration is None or (written_time(row[duration], "s") or (1,))[0] != 0)
        for _, row in table.rows
    )
