"""Sequential orderings as bare tables: TSPLIB's numbers without its keywords.

The table stands alone, or after a line with its size.
"""

from __future__ import annotations

from dfopt.checks import LARGEST_TOTAL
from dfopt.files.imported.source_text import SourceLine, integers, is_integers
from dfopt.files.imported.tours import (
    MOST_CITIES,
    PRECEDES,
    CityTable,
    ordering_instance,
)
from dfopt.problem.instance import Instance

LOOKED_AT = 3
"""Lines that are looked at: the second row of a table has its first precedence."""


def is_ordering_matrix(lines: list[SourceLine]) -> bool:
    """Whether the lines are those of a table with precedences."""
    first = lines[:LOOKED_AT]
    return all(map(is_integers, first)) and any(str(PRECEDES) in line.words for line in first)


def read_ordering_matrix(lines: list[SourceLine], name: str) -> Instance:
    """Return the instance of a table of costs and precedences.

    Raises
    ------
    FileError, InstanceError
        When the table is not square, or contradicts itself.
    """
    head, rows = (lines[0], lines[1:]) if len(lines[0].words) == 1 else (None, lines)
    size = integers(head, least=1)[0] if head is not None else len(rows[0].words)
    if size > MOST_CITIES:
        raise lines[0].error(f"{size} cities are too many; at most {MOST_CITIES} are read")
    costs = []
    for line in rows:
        row = integers(line, least=-LARGEST_TOTAL)
        if len(row) != size:
            raise line.error(f"has {len(row)} numbers in a table of {size} columns; correct it")
        costs.append(row)
    if len(costs) != size:
        raise rows[-1].error(
            f"the table ends with {len(costs)} rows, and it has {size} columns; get the whole file"
        )
    names = tuple(str(city) for city in range(1, size + 1))
    return ordering_instance(
        CityTable(names=names, costs=costs, lines=rows), name, "table of a sequential ordering"
    )
