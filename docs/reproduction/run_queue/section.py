"""What a section of the report on run queues is made of: rows of three kinds, and parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

Found = TypeVar("Found")


class Mark(StrEnum):
    """What a row says about the simulation."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NO_EVIDENCE = "no evidence"
    PUT_IN = "put in or fitted"
    NOT_MODELLED = "not modelled"


EVIDENCE = (Mark.REPRODUCED, Mark.NOT_REPRODUCED, Mark.NO_EVIDENCE)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A shape that a paper reports, beside the simulation.

    Parameters
    ----------
    shape
        What is looked at.
    published
        What the paper says.
    simulated
        What comes out here.
    criterion
        What has to hold.
    without
        Which outcomes that show nothing meet the criterion too.
    mark
        From :func:`evidence`, :func:`put_in` or :func:`not_modelled`.
    """

    shape: str
    published: str
    simulated: str = ""
    criterion: str = ""
    without: str = ""
    mark: Mark


def evidence(  # noqa: PLR0913 -- a row of a table
    *,
    shape: str,
    published: str,
    simulated: str,
    criterion: str,
    passes: Callable[[Found], bool],
    found: Found,
    without: Mapping[str, Sequence[Found]],
) -> Row:
    """Return a row whose criterion can fail.

    Parameters
    ----------
    shape, published, simulated, criterion
        As in :class:`Row`.
    passes
        The criterion.
    found
        What comes out here.
    without
        By name, outcomes that show nothing: constants, or the old scheduler in place of the new.
        If one of them passes, then to pass is no evidence; to fail still is.
    """
    passed = {name: sum(map(passes, outcomes)) for name, outcomes in without.items()}
    if not passes(found):
        mark = Mark.NOT_REPRODUCED
    else:
        mark = Mark.NO_EVIDENCE if any(passed.values()) else Mark.REPRODUCED
    scores = (f"{name}: {count} of {len(without[name])}" for name, count in passed.items())
    return Row(
        shape=shape,
        published=published,
        simulated=simulated,
        criterion=criterion,
        without="; ".join(scores),
        mark=mark,
    )


def put_in(*, shape: str, published: str, simulated: str, criterion: str, holds: bool) -> Row:
    """Return a row that was put in, or to which parameters were fitted, and whether it is met."""
    return Row(
        shape=shape,
        published=published,
        simulated=simulated,
        criterion=f"{criterion}: {'met' if holds else 'missed'}",
        mark=Mark.PUT_IN,
    )


def not_modelled(shape: str, published: str) -> Row:
    """Return a row of which the simulation has no counterpart."""
    return Row(shape=shape, published=published, mark=Mark.NOT_MODELLED)


CONSTANTS = 101


def constants(published: Sequence[float]) -> dict[str, list[tuple[float, ...]]]:
    """Return outcomes in which all values are the same, from the least published to the most."""
    low, high = min(published), max(published)
    steps = [low + (high - low) * step / (CONSTANTS - 1) for step in range(CONSTANTS)]
    return {"any constant": [(value,) * len(published) for value in steps]}


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A parameter that the paper does not give.

    Parameters
    ----------
    parameter
        Which.
    value
        What was taken.
    fitted_to
        What it was fitted to, or where else it is from.
    """

    parameter: str
    value: str
    fitted_to: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """A paper; all texts are Markdown."""

    title: str
    intro: str
    rows: tuple[Row, ...]
    calibrated: tuple[Calibrated, ...]
    notes: str = ""
