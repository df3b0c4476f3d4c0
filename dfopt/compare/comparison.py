"""The result of comparing a trace with the best possible schedules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dfopt.compare.attainable.frontier import WaitingFrontier
from dfopt.compare.comparison_parts import (
    Cause,
    CpuResult,
    FragmentResult,
    OrderKept,
    Realised,
    WindowResult,
)
from dfopt.compare.cost_model import CostModel
from dfopt.compare.domains.domain_pairs import DomainComparison
from dfopt.compare.frame_columns import COLUMNS, FramePart, columns_of
from dfopt.render import FrameLibrary, frame, html
from dfopt.table import Table, columns
from dfopt.trace import Quality
from dfopt.trace.assumed import Assumed
from dfopt.trace.lengths import Lengths
from dfopt.trace.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A trace against the best possible.

    Parameters
    ----------
    name
        Of the trace.
    model
        The costs under which it was compared.
    cost_unit, time_unit
        The unit of costs, and that of the trace's times.
    dispatches, managed
        How many dispatches the trace has, and how many of them have a fragment.
    realised
        What the trace paid.
    windows
        The best possible, one for each length of window that was asked for.
    causes
        What the trace paid by cause; adds up to ``realised.total``.
    fragments, cpus
        The same by fragment, the one that cost most first, and by CPU.
    unlabelled_share
        Share of the run time without a fragment.
    quality
        How far the trace can be trusted.
    is_complete
        Whether no length of window, and no row of the frontier, was left out because of an
        interrupt.
    policy
        The scheduler, if the trace names it.
    frontier
        What schedules that keep cause and effect cost; None if that was not asked for.
    order_kept
        What other CPUs would have saved with the dispatches in their order; None if the objective
        is not the cost of all CPUs, or the document is older.
    service
        How tasks were served: wake-up latency, waits, fairness, migrations; None if the document is
        older.
    domains
        In how many cache domains fragments ran, and in how few they fit; None if no domains were
        given.
    parallel_share
        The share of the run time with a fragment in which another CPU ran the same fragment. Best
        schedules need not keep this. None if there is no such run time, or the document is older.
    lengths
        Whether the lengths of the trace's dispatches include what switches take; None if neither
        the trace nor the document says so.
    assumed
        What of the schedule was not recorded, so that what it paid is assumed, too; None: nothing.
    """

    name: str
    model: CostModel
    cost_unit: str
    time_unit: str | None
    dispatches: int
    managed: int
    realised: Realised
    windows: tuple[WindowResult, ...]
    causes: dict[Cause, int]
    fragments: tuple[FragmentResult, ...]
    cpus: tuple[CpuResult, ...]
    unlabelled_share: float
    quality: Quality
    is_complete: bool = True
    policy: str | None = None
    frontier: WaitingFrontier | None = None
    order_kept: OrderKept | None = None
    service: Service | None = None
    domains: DomainComparison | None = None
    parallel_share: float | None = None
    lengths: Lengths | None = None
    assumed: Assumed | None = None

    def to_frame(self, part: FramePart = "windows", *, library: FrameLibrary | None = None) -> Any:
        """Return a part of the comparison as a data frame of pandas or polars.

        Every row begins with ``trace`` and ``policy``, so that frames of several traces can be
        concatenated. Names of columns end with the unit where there is one: ``bound_switches``,
        ``run_time_ns``.

        Parameters
        ----------
        part
            ``"windows"`` has a row for each length of window, ``"trace"`` a single row with what
            was paid and how tasks were served, ``"causes"`` a row for each cause, ``"fragments"``
            and ``"cpus"`` one for each of them, and ``"frontier"`` one for each schedule that keeps
            cause and effect.
        library
            ``"pandas"`` or ``"polars"``; None takes pandas if it is installed, else polars.

        Raises
        ------
        MethodError
            When the part is unknown, or the library not installed.
        """
        names = columns("trace", "policy")
        rows = [(self.name, self.policy, *row) for row in self._rows(part)]
        return frame(
            Table(part, (*names, *columns_of(part, self.cost_unit, self.time_unit)), rows), library
        )

    def __repr__(self) -> str:
        """Return what was paid, and what each schedule of the frontier costs, as a table."""
        shown = ("scheduling", "wait", "patience", "cost", "bound", "bound_with_lengths")
        rows = [] if self.frontier is None else self.frontier.rows
        cells = [
            shown,
            *(tuple(getattr(row, name) for name in shown) for row in rows),
        ]
        lines = [
            f"{row[0]!s:<20}" + "".join(f"{'' if cell is None else cell!s:>20}" for cell in row[1:])
            for row in cells
        ]
        paid = f"{self.name}: {self.realised.total:,} {self.cost_unit} paid"
        return "\n".join([paid, *(lines if rows else [])])

    def _repr_html_(self) -> str:
        """Return what was paid and what was possible as tables, as notebooks show them.

        They are parts of :meth:`to_frame` without rows in which nothing was paid.
        """
        unlabelled = f"{self.unlabelled_share:.1%} of the run time has no fragment"
        captions: dict[FramePart, str] = {
            "causes": f"{self.name}: {self.realised.total:,} {self.cost_unit} paid, lost to",
            "frontier": "with arrivals and lengths as recorded",
            "windows": "if the order within a window did not matter",
        }
        tables = [
            html(Table(caption, columns_of(part, self.cost_unit, self.time_unit), rows))
            for part, caption in captions.items()
            if (rows := [row for row in self._rows(part) if part != "causes" or row[1]])
        ]
        return "\n".join(
            [
                *tables,
                f"<p>{self.managed:,} dispatches of {self.dispatches:,} count; {unlabelled}.</p>",
            ]
        )

    def _rows(self, part: FramePart) -> list[tuple[Any, ...]]:
        """Return the rows of a part, with values in the order of its columns."""
        holders: Sequence[object] = ()
        match part:
            case "causes":
                return [(str(cause), self.causes.get(cause, 0)) for cause in Cause]
            case "trace":
                return [self._summary()]
            case "windows":
                holders = self.windows
            case "fragments":
                holders = self.fragments
            case "cpus":
                holders = self.cpus
            case "frontier" if self.frontier is not None:
                holders = (*self.frontier.rows, *self.frontier.patience)
        # An enumeration's member becomes its word, so that frames hold plain texts.
        return [
            tuple(
                str(value) if isinstance(value, StrEnum) else value
                for value in (getattr(holder, column) for column in COLUMNS[part])
            )
            for holder in holders
        ]

    def _summary(self) -> tuple[object, ...]:
        service = self.service
        latency = service.wakeup_latency if service else None
        wait = service.wait if service else None
        response = service.response if service else None
        return (
            self.dispatches,
            self.managed,
            self.realised.total,
            self.realised.worst,
            self.realised.switches,
            self.unlabelled_share,
            *(
                getattr(figures, name, None)
                for figures, names in (
                    (latency, ("mean", "p50", "p99", "longest")),
                    (wait, ("mean", "p99", "longest")),
                    (response, ("mean", "p99", "longest")),
                    (service, ("fairness", "migrations")),
                )
                for name in names
            ),
        )


def policies_of(comparisons: Sequence[Comparison]) -> list[str] | None:
    """Return the policies of comparisons; None unless each has one, and all differ."""
    policies = [one.policy for one in comparisons if one.policy is not None]
    return policies if len(set(policies)) == len(comparisons) else None
