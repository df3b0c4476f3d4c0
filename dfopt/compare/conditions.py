"""Conditions on the figures of a comparison, such as ``ratio>1.5``, for checks that may fail."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dfopt.checks import described
from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.comparison import Cause
from dfopt.errors import DfoptError
from dfopt.trace.time_units import NANOSECONDS

SPELLING = re.compile(
    r"\s*(?P<name>[A-Za-z0-9_.-]+)\s*(?P<comparison><=|>=|==|!=|<|>)\s*"
    r"(?P<number>-?[0-9]{1,19}(\.[0-9]{1,19})?(e[+-]?[0-9]{1,2})?)\s*(?P<unit>%|[a-zµμ]*)\s*"
)

COMPARISONS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Measure(StrEnum):
    """What a figure measures, and so the units in which its limit can be written."""

    COUNT = "number"
    RATIO = "ratio"
    SHARE = "share"
    COST = "cost"
    TIME = "time"

    @property
    def units(self) -> tuple[str, ...]:
        """Return the units that a limit may have; it may have none in any case."""
        match self:
            case Measure.COUNT:
                return ()
            case Measure.RATIO | Measure.SHARE:
                return ("%",)
        return tuple(NANOSECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a comparison, found in its document.

    Parameters
    ----------
    path
        The keys that lead to it. Where one leads to an array, each entry has the figure.
    measure
        What it measures.
    scheduling
        For rows of a frontier: only those of this scheduling have the figure.
    """

    path: tuple[str, ...]
    measure: Measure
    scheduling: Scheduling | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition under which a comparison fails.

    Parameters
    ----------
    text
        As the user wrote it.
    name, comparison
        The figure, and how it is compared with the limit.
    limit, unit
        The limit, in ``unit``; an empty unit is that of the figure itself.
    figure
        Where the figure is found.
    """

    text: str
    name: str
    comparison: str
    limit: Fraction
    unit: str
    figure: Figure


def _named(
    prefix: str, path: tuple[str, ...], measure: Measure, keys: str, **more: Scheduling
) -> dict[str, Figure]:
    """Return figures whose keys stand in one place of the document."""
    return {
        f"{prefix}{key}": Figure(path=(*path, key), measure=measure, **more) for key in keys.split()
    }


WAITS = ("wakeup_latency", "wait", "response")

TRACE_FIGURES: Mapping[str, Figure] = {
    **_named("", ("windows",), Measure.RATIO, "ratio rolling_ratio"),
    **_named("", ("windows",), Measure.COST, "realised bound rolling balanced difference"),
    **_named("", ("windows",), Measure.COUNT, "count closed balanced_closed rolling_closed"),
    **_named("", (), Measure.COUNT, "dispatches managed"),
    **_named("", (), Measure.SHARE, "parallel_share"),
    **_named("realised.", ("realised",), Measure.COST, "total max"),
    **_named("realised.", ("realised",), Measure.COUNT, "switches"),
    **_named("order_kept.", ("order_kept",), Measure.COST, "online best bound"),
    **{
        name: figure
        for key, prefix in zip(WAITS, ("latency.", "wait.", "response."), strict=True)
        for name, figure in (
            _named(prefix, ("service", key), Measure.TIME, "mean p50 p99 longest")
            | _named(prefix, ("service", key), Measure.COUNT, "count")
        ).items()
    },
    **_named("", ("service",), Measure.SHARE, "fairness"),
    **_named("", ("service",), Measure.COUNT, "migrations still_waiting unknown"),
    **{
        f"causes.{str(cause).replace(' ', '-')}": Figure(
            path=("causes", str(cause)), measure=Measure.COST
        )
        for cause in Cause
    },
    **_named("quality.", ("quality",), Measure.SHARE, "unlabelled_share"),
    **_named("quality.", ("quality",), Measure.COUNT, "unparsed breaks losses lost_events"),
    **_named("domains.", ("domains",), Measure.COUNT, "arrivals far_migrations"),
    **_named("domains.", ("domains", "windows"), Measure.COUNT, "pairs bound least proven"),
    **_named("domains.", ("domains", "windows"), Measure.RATIO, "ratio"),
    **{
        name: figure
        for scheduling in Scheduling
        for measure, keys in (
            (Measure.COST, "cost bound bound_with_lengths"),
            (Measure.TIME, "total_wait mean_wait p99_wait"),
        )
        for name, figure in _named(
            f"frontier.{str(scheduling).replace(' ', '-')}.",
            ("frontier", "rows"),
            measure,
            keys,
            scheduling=scheduling,
        ).items()
    },
}
"""The figures of a trace's comparison that a condition can name."""

SCHEDULE_FIGURES: Mapping[str, Figure] = {
    **_named("", ("results",), Measure.RATIO, "ratio"),
    **_named("", ("results",), Measure.COST, "objective max total difference"),
    **_named("", (), Measure.COST, "lower_bound best"),
}
"""The figures of an instance's schedules that a condition can name."""


def parse_condition(text: str, figures: Mapping[str, Figure] = TRACE_FIGURES) -> Condition:
    """Return the condition that a text such as ``ratio>1.5`` or ``latency.p99>10ms`` stands for.

    Parameters
    ----------
    text
        A figure, one of ``< <= > >= == !=``, and a number, with a unit if the figure has one.
    figures
        The figures that it can name.

    Raises
    ------
    DfoptError
        When the text stands for no condition, or the figure is unknown or has no such unit.
    """
    found = SPELLING.fullmatch(text)
    if found is None:
        hint = ""
        if re.fullmatch(r"\s*[A-Za-z0-9_.-]+\s*", text):
            hint = "; in a shell it needs quotes, since > and < redirect there"
        raise DfoptError(
            f"{described(text)} is no condition; write figure, comparison (< <= > >= == !=) and "
            f"number, such as 'ratio>1.5' or 'latency.p99>10ms'{hint}"
        )
    name, unit = found["name"], found["unit"]
    figure = figures.get(name)
    if figure is None:
        raise DfoptError(
            f"{described(name)} is no figure of this comparison; {near(name, figures)}"
        )
    units = figure.measure.units
    if unit and unit not in units:
        permitted = f"write it in {', '.join(units)} or without a unit" if units else "leave it out"
        raise DfoptError(
            f"{described(text)} has the unit {unit}, but {name} is a {figure.measure}; {permitted}"
        )
    limit = Fraction(found["number"])
    if figure.measure is Measure.SHARE and not unit and limit > 1:
        raise DfoptError(
            f"{described(text)} is out of reach, since {name} is a share, from 0 to 1; write "
            f"{found['number']}% or a number up to 1"
        )
    return Condition(
        text=text.strip(),
        name=name,
        comparison=found["comparison"],
        limit=limit,
        unit=unit,
        figure=figure,
    )


def near(name: str, figures: Mapping[str, Figure]) -> str:
    """Return words that name the figures like ``name``, or those that are asked for most."""
    close = difflib.get_close_matches(name, figures, n=3)
    ends = [known for known in figures if known.rpartition(".")[2] == name]
    if close or ends:
        return f"did you mean {', '.join(dict.fromkeys([*close, *ends[:3]]))}?"
    folders = dict.fromkeys(known.partition(".")[0] for known in figures if "." in known)
    plain = ", ".join(known for known in figures if "." not in known)
    return f"there are {plain}" + (
        f", and names that begin with {', '.join(f'{folder}.' for folder in folders)}"
        if folders
        else ""
    )


def failures(condition: Condition, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each figure of a comparison that meets a condition, and so fails.

    A figure that could not be computed fails, too, unless an interrupt left it out.

    Parameters
    ----------
    condition
        Names a figure that such documents have.
    document
        Of one trace, or of results of an instance, as ``dfopt-comparison/1`` has it.
    """
    figures = list(_figures(document, condition.figure))
    if not figures and document.get("complete", True):
        figures = [("", None, _why_missing(document, condition.figure))]
    subject = document.get("trace") or document.get("instance", {}).get("name") or "the instance"
    for label, value, reason in figures:
        shown = _judged(condition, value, reason, document)
        if shown:
            place = f"{subject}, {label}" if label else subject
            # A plain number is in the unit of the trace, and may not have been meant so.
            plain = condition.figure.measure is Measure.TIME and not condition.unit
            own = f" {document.get('time_unit') or ''}".rstrip() if plain else ""
            yield f"{place}: {condition.name} {shown}; limit: {condition.text}{own}"


def _judged(
    condition: Condition, value: float | None, reason: str, document: Mapping[str, Any]
) -> str:
    """Return what to say of a figure that fails; an empty text if it does not fail."""
    if value is None:
        return f"could not be computed ({reason})"
    unit = {
        Measure.TIME: document.get("time_unit") or "",
        Measure.COST: document.get("cost_unit", document.get("time_unit")) or "",
    }.get(condition.figure.measure, "")
    exact = Fraction(str(value))
    if condition.unit == "%":
        exact, unit = exact * 100, "%"
    elif condition.unit:
        if unit not in NANOSECONDS:
            known = f"is in {unit}" if unit else "has no unit"
            return f"{known}, which cannot be compared with {condition.unit}"
        exact *= Fraction(NANOSECONDS[unit], NANOSECONDS[condition.unit])
        unit = condition.unit
    if not COMPARISONS[condition.comparison](exact, condition.limit):
        return ""
    number = int(exact) if exact.denominator == 1 else float(exact)
    return f"is {number}{'' if unit in ('', '%') else ' '}{unit}"


def _figures(
    document: Mapping[str, Any], figure: Figure
) -> Iterator[tuple[str, float | None, str]]:
    """Yield for each place of a figure: which it is, the value, and why there may be none."""
    *outer, key = figure.path
    holder: Any = document
    for step in outer:
        holder = holder and holder.get(step)
    if holder is None:
        return
    if not isinstance(holder, list):
        yield "", holder[key], _why_missing(document, figure)
        return
    for entry in holder:
        if figure.scheduling in (None, entry.get("scheduling")):
            yield _label(entry), entry[key], _why_null(key, entry)


def _label(entry: Mapping[str, Any]) -> str:
    """Return which entry of an array it is: a window, a row of a frontier, or a result."""
    if "window" in entry:
        return f"window {entry['window']}"
    if "scheduling" not in entry:
        return str(entry["result"])
    limits = [entry[key] for key in ("wait", "patience") if entry[key]]
    return " ".join(map(str, (entry["scheduling"], *limits)))


def _why_null(key: str, entry: Mapping[str, Any]) -> str:
    if key == "ratio":
        return "the bound is 0"
    if key == "rolling_ratio":
        return "the rolling schedule costs 0"
    return "no bound is known" if "bound" in key else "it is unknown when dispatches were ready"


def _why_missing(document: Mapping[str, Any], figure: Figure) -> str:
    """Return why a comparison has no such figure."""
    place = document.get(figure.path[0])
    match figure.path[0]:
        case "service":
            reason = place and place["problem"]
        case "frontier":
            reason = place and place["left_out"]
        case "order_kept":
            reason = "too many dispatches" if place else "only under total-penalty"
        case _:
            reason = None
    return reason or "it was not part of the comparison"
