"""Rows of evidence about space sharing: criteria that could have failed, and could have held.

A figure to which a parameter was fitted, or that is arithmetic of such figures, is no evidence. Nor
is one whose criterion holds where nothing changes, or for a simulation without what the figure is
about, such as Dynamic in the place of a policy with affinity.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from dfopt.confidence import Interval

RELATIVE = 0.01
"""Response times agree that differ by at most this share, the error of the measurement."""

HALF = 0.5
"""An effect of this share of a published one, or of its inverse, has its size."""


@dataclass(frozen=True)
class Evidence:
    """What was published beside what is simulated, and whether the criterion holds."""

    what: str
    published: str
    simulated: str
    criterion: str
    holds: bool


def agree(value: float, published: float, share: float = RELATIVE) -> bool:
    """Return whether a value differs from a published one by at most a share of it."""
    return abs(value / published - 1) <= share


def effect(what: str, published: float, found: Interval, *, places: int) -> Evidence:
    """Return the row of a change: it needs the sign and half the size of the published one."""
    error = found.half_width or 0.0
    shown = (f"{published:+.{places}f} s", f"{found.mean:+.2f} ± {error:.2f} s")
    return Evidence(
        what,
        *(text.replace("-", "−") for text in shown),
        "the sign, and between half and twice the size",
        abs(found.mean) > error and HALF <= found.mean / published <= 1 / HALF,
    )


def row(*cells: object) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table."""
    names = list(columns)
    return "\n".join([row(*names), row(*["---"] * len(names)), *(row(*one) for one in rows)])


def rows_that(found: list[Evidence], *, hold: bool) -> str:
    """Return a table of the rows that hold, or do not."""
    return table(
        ("", "published", "simulated", "criterion"),
        (
            (one.what, one.published, one.simulated, one.criterion)
            for one in found
            if one.holds is hold
        ),
    )
