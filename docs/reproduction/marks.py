"""Marks of published figures, computed from the simulated ones by stated criteria.

A figure to which a parameter was fitted, or that is arithmetic of such figures, is no evidence. Any
other is compared with what was published, by a criterion. The *baseline* is a simulation without
what the figure is about, such as Dynamic in the place of a policy with affinity. Where it meets
the criterion too, the figure is no evidence either.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dfopt.simulate.statistics import Interval

RELATIVE = 0.01
"""Response times agree that differ by at most this share, the error of the measurement."""

COUNTS = 0.05
"""Numbers of reallocations agree that differ by at most this share."""

SHARES = 0.1
"""Affinities agree that differ by at most this much."""

HALF = 0.5
"""An effect of this share of a published one, or of its inverse, has its size."""


class Mark(StrEnum):
    """What a figure says about the simulation."""

    FITTED = "put in or fitted"
    REPRODUCED = "reproduced"
    NO_EVIDENCE = "no evidence"
    NOT_REPRODUCED = "not reproduced"


MEANINGS = {
    Mark.FITTED: "a parameter was fitted to it, or it is arithmetic of such figures; "
    "it is no evidence, whether it is met or missed",
    Mark.REPRODUCED: "evidence: the criterion could have failed and holds, and the baseline fails",
    Mark.NO_EVIDENCE: "the criterion holds, but the baseline meets it too",
    Mark.NOT_REPRODUCED: "evidence: the criterion does not hold",
}


@dataclass(frozen=True)
class Judged:
    """A mark, with what is to be said about it."""

    mark: Mark
    remark: str = ""

    def __str__(self) -> str:
        return f"*{self.mark}*: {self.remark}" if self.remark else f"*{self.mark}*"


def judged(*, holds: bool, baseline_holds: bool, remark: str = "") -> Judged:
    """Return the mark of a figure to which nothing was fitted."""
    if not holds:
        return Judged(Mark.NOT_REPRODUCED, remark)
    return Judged(Mark.NO_EVIDENCE if baseline_holds else Mark.REPRODUCED)


def fitted(*, met: bool, remark: str = "") -> Judged:
    """Return the mark of a figure to which a parameter was fitted, or that follows from such."""
    said = "met" if met else "missed"
    return Judged(Mark.FITTED, f"{said}, {remark}" if remark else said)


def agree(value: float, published: float, share: float) -> bool:
    """Return whether a value differs from a published one by at most a share of it."""
    return abs(value / published - 1) <= share


def effect_mark(published: float, found: Interval) -> Judged:
    """Return the mark of a change: it needs the sign and half the size of the published one.

    The baseline is that nothing changes, which fails.
    """
    if abs(found.mean) <= (found.half_width or 0.0):
        return Judged(Mark.NOT_REPRODUCED, "not resolved")
    if found.mean * published < 0:
        return Judged(Mark.NOT_REPRODUCED, "the other sign")
    if not HALF <= found.mean / published <= 1 / HALF:
        return Judged(Mark.NOT_REPRODUCED, "the same sign, another size")
    return Judged(Mark.REPRODUCED)


def row(*cells: object) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


@dataclass(frozen=True)
class MarkedTable:
    """The lines of a table, and the marks in it."""

    lines: tuple[str, ...]
    marks: tuple[Mark, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


def table(columns: tuple[str, ...], rows: Iterator[tuple[object, ...]]) -> MarkedTable:
    """Return a table of rows whose last cell is what they were judged to be."""
    found = list(rows)
    marks = tuple(cells[-1].mark for cells in found if isinstance(cells[-1], Judged))
    lines = (row(*columns), row(*["---"] * len(columns)), *(row(*cells) for cells in found))
    return MarkedTable(lines, marks)


def count_of(tables: dict[str, MarkedTable]) -> str:
    """Return a table of how many figures have each mark."""
    lines = [row("figures", *Mark), row("---", *["---:"] * len(Mark))]
    for title, marked in tables.items():
        counts = Counter(marked.marks)
        lines.append(row(title, *(counts[mark] for mark in Mark)))
    return "\n".join(lines)
