"""The options that name a part of a trace: from when to when, counted from its beginning."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError
from dfopt_cli.failures import parsed

if TYPE_CHECKING:
    from dfopt.compare.attainable.permitted_wait import PermittedWait
    from dfopt.trace import Trace

FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Leave out what is before this time after the beginning of the trace: 500us, 10ms, "
        "or a number in the trace's own unit.",
        show_default=False,
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="TIME",
        help="Leave out what is after this time after the beginning of the trace.",
        show_default=False,
    ),
]


def limits_of(begin: str | None, end: str | None) -> tuple[PermittedWait | None, ...]:
    """Return both limits as the user wrote them; None where one is not given."""
    from dfopt.compare.attainable.permitted_wait import parse_wait

    return tuple(
        parsed(partial(parse_wait, what="time"), text, option)
        for option, text in (("--from", begin), ("--to", end))
    )


def times_in(trace: Trace, limits: tuple[PermittedWait | None, ...]) -> tuple[int | None, ...]:
    """Return both limits in the trace's unit, counted from its beginning.

    Raises
    ------
    MethodError
        When the trace's unit cannot express a limit.
    """
    from dfopt.compare.attainable.permitted_wait import length_in

    return tuple(None if limit is None else length_in(trace, limit) for limit in limits)


def part_of(trace: Trace, limits: tuple[PermittedWait | None, ...]) -> Trace:
    """Return the part of a trace between two limits; the trace itself where there are none.

    Raises
    ------
    DfoptError
        When no dispatch lies between them as a whole, or the trace's unit cannot express them.
    """
    from dfopt.trace import between

    begin, end = times_in(trace, limits)
    if (begin is None and end is None) or not len(trace):
        return trace
    first, last = int(trace.start.min()), int(trace.end.max())
    part = between(
        trace,
        -LARGEST_TOTAL if begin is None else first + begin,
        LARGEST_TOTAL if end is None else first + end,
    )
    if not len(part):
        raise DfoptError(
            f"no dispatch lies in this part as a whole; choose another part of the trace, which "
            f"lasts {last - first:,} {trace.header.time_unit or 'in its unit'}"
        )
    return part
