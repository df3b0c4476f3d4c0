"""Names and checks of single parameters, for files and for Python callers alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from dfopt.checks import LARGEST_TOTAL, check_name, described
from dfopt.errors import DfoptError
from dfopt_models.errors import ModelError

Range = tuple[float, float]
"""The least and the greatest value that a parameter may have."""

JOB_NUMBERS = ("penalty_affinity", "penalty_no_affinity")
POLICY_NUMBERS = ("work", "waste", "reallocations", "affinity", "allocation")
SHARED_NUMBERS = ("reallocation_time", *JOB_NUMBERS)
"""What a job has under every policy."""

POSITIVE = ("work", "allocation")
"""What must be more than 0: nothing is divided by nothing."""

LEAST_POSITIVE = 1 / LARGEST_TOTAL
"""Less than this is as good as nothing, and its reciprocal may be infinite."""

T = TypeVar("T")


class WithRanges(Protocol):
    """What has parameters, some of them with ranges."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """The least and the greatest value of parameters, by their names."""


def named(name: str, things: Mapping[str, T], what: str) -> T:
    """Return what has this name."""
    if name not in things:
        nearest = difflib.get_close_matches(name, things, n=1)
        hint = f"; did you mean {described(nearest[0])}?" if nearest else ""
        known = ", ".join(map(described, things))
        raise ModelError(f"there is no {what} {described(name)}; known are {known}{hint}")
    return things[name]


def check_numbers(holder: WithRanges, names: tuple[str, ...]) -> None:
    """Refuse impossible numbers, and ranges that do not fit them."""
    for name in names:
        check_parameter(name, getattr(holder, name), name)
    for name, limits in holder.ranges.items():
        check_known(name, names, "x-range")
        check_range(name, limits, getattr(holder, name), f"x-range.{name}")


def check_range(name: str, limits: Range, value: float, place: str) -> None:
    """Refuse a range that is none, or does not hold its parameter's value."""
    for end, limit in enumerate(limits):
        check_parameter(name, limit, f"{place}[{end}]")
    least, greatest = limits
    if least > greatest:
        raise ModelError(
            f"must be [least, greatest], but {least:g} is more than {greatest:g}", place=place
        )
    if not least <= value <= greatest:
        raise ModelError(
            f"must hold the value of {name}, {value:g}; it is from {least:g} to {greatest:g}",
            place=place,
        )


def check_parameter(name: str, value: object, place: str) -> None:
    """Refuse a number that a parameter cannot have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"must be a number, not {described(value)}", place=place)
    if not abs(value) <= LARGEST_TOTAL:  # NaN is neither more nor less
        raise ModelError(f"must be finite and at most 2^62, not {described(value)}", place=place)
    if value < 0:
        raise ModelError(f"must not be negative; it is {value:g}", place=place)
    if name in POSITIVE and value < LEAST_POSITIVE:
        least = "more than 0" if value == 0 else f"at least 2^-62, not {value:g}"
        raise ModelError(f"must be {least}", place=place)
    if name == "affinity" and value > 1:
        raise ModelError(f"must be a fraction from 0 to 1, not {value:g}", place=place)


def check_known(name: str, known: Iterable[str], place: str) -> None:
    """Refuse the name of a parameter that is not here."""
    known = tuple(known)
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"known are {', '.join(known)}"
        raise ModelError(f"there is no parameter {described(name)} here; {hint}", place=place)


def check_label(value: object, place: str) -> None:
    """Refuse anything but a name."""
    try:
        check_name(value, place)
    except DfoptError as error:
        raise ModelError(error.problem, place=error.place) from None
    if not value:
        raise ModelError("is empty; give it a name", place=place)
