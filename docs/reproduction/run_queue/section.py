"""What a section of the report on run queues is made of."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether the simulation shows what was published."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NOT_MODELLED = "not modelled"


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
    verdict
        By the criterion.
    criterion
        What had to hold for it to be reproduced.
    """

    shape: str
    published: str
    simulated: str
    verdict: Verdict
    criterion: str = ""


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


def verdict(*, holds: bool) -> Verdict:
    """Return whether something is reproduced, from whether its criterion holds."""
    return Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
