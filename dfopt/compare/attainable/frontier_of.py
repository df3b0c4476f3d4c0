"""What was attainable for a trace: a schedule and a bound for each limit on waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np

from dfopt.compare.attainable.bound.bound import WaitingBound, proven_bound, stretch_bounds
from dfopt.compare.attainable.bound.proof import WaitingProof
from dfopt.compare.attainable.check import WaitingLimit, check_schedule, checked_cost
from dfopt.compare.attainable.frontier import (
    FrontierRow,
    Scheduling,
    WaitingFrontier,
)
from dfopt.compare.attainable.patience import run_patiently, usual_patiences
from dfopt.compare.attainable.placement import (
    BestPlacement,
    best_placement,
    least_recently_used,
)
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.compare.attainable.switches_take_time import switches_take_time, with_switches
from dfopt.compare.comparison_parts import CompareProgress
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import Dispatches, movable_or_timeline
from dfopt.compare.paid import cost_of, switches_of
from dfopt.parallel import available_processors
from dfopt.parallel.pool import performed
from dfopt.problem.instance import Objective
from dfopt.structs import replace
from dfopt.time_units import exact_time
from dfopt.trace.parallel_fragments import parallel_share_of
from dfopt.trace.service import percentile
from dfopt.trace.trace import Trace

WANTED_BOUNDS = ("bound", "bound with lengths")
"""Which bounds are wanted for each limit."""

USUAL_DISPATCHES, MOST_EFFORT = 10_000, 2.0
"""Traces with fewer dispatches than 10,000 get more effort for each, twice as much at most."""

FEW_DISPATCHES, EFFORT_FOR_FEW = 500, 4.0
"""Traces with at most 500 dispatches get four times as much, which takes seconds."""

NOT_OF_ONE_CPU = (
    "what the most expensive CPU pays does not add up over time; compare under total-penalty "
    "(`objective`)"
)

Answer = Dispatches | BestPlacement | WaitingProof


NO_LIMIT = WaitingLimit()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrontierPart:
    """A part of a frontier that can be worked on apart from the others.

    Parameters
    ----------
    scheduling, limit, patience
        Of which row: how its schedule is made; how long dispatches may wait, or the patience.
    perform
        Finds a schedule, or prices that prove a part of a bound.
    bound
        Which of the two bounds; empty for a schedule.
    """

    scheduling: Scheduling
    limit: WaitingLimit = NO_LIMIT
    patience: int | None = None
    perform: Callable[[], Answer]
    bound: str = ""

    def name(self, unit: str | None) -> str:
        """Return what it is called while it is at work; ``unit`` is that of times."""
        time = self.limit.each or self.patience
        row = str(self.scheduling)
        if time is not None:
            row += f" {exact_time(time, unit)}"
        return row if self.limit == NO_LIMIT else f"{self.bound or 'schedule'}, {row}"


Answers = dict[FrontierPart, Answer]
"""What is known of parts."""


def frontier_of(  # noqa: PLR0913 - options, all by keyword
    trace: Trace,
    model: CostModel,
    *,
    waits: Sequence[int] = (),
    effort: float = 1.0,
    workers: int | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[CompareProgress], None] | None = None,
) -> WaitingFrontier:
    """Return what schedules of a trace cost that keep cause and effect.

    Parameters
    ----------
    trace
        Labelled.
    model
        The costs.
    waits
        Permitted waits beside the usual limits, in the trace's unit of time.
    effort
        The work on schedules and bounds is in proportion to this.
    workers
        Number of threads; by default one a processor.
    executor
        Does the work instead, such as ``Client.get_executor(pure=False)`` of Dask.
    on_progress
        Called before the first part, and whenever one is done.

    Returns
    -------
    WaitingFrontier
        An interrupt from the keyboard ends it with the rows that are done.

    Raises
    ------
    DfoptError
        When no dispatch has a fragment, or the executor fails.
    InstanceError
        When the model does not say what a dispatch costs.
    """
    if model.objective is Objective.MAX_PENALTY:
        return WaitingFrontier(rows=(), left_out=NOT_OF_ONE_CPU)
    dispatches, left_out = movable_or_timeline(trace, model)
    limits = [] if left_out else limits_of(dispatches, waits)
    parts = [
        FrontierPart(
            scheduling=Scheduling.SAME_TIMELINE, perform=partial(best_placement, dispatches)
        ),
        FrontierPart(
            scheduling=Scheduling.LEAST_RECENTLY_USED,
            perform=partial(least_recently_used, dispatches),
        ),
        *(
            FrontierPart(
                scheduling=Scheduling.PATIENCE,
                patience=patience,
                perform=partial(run_patiently, dispatches, patience),
            )
            for patience in (usual_patiences(dispatches) if limits else ())
        ),
    ]
    answers: Answers = {}
    bounded = sum(limit.each is not None for limit in limits)
    total = len(parts) + len(limits) + len(WANTED_BOUNDS) * bounded
    threads = workers or available_processors()

    def tell() -> None:
        at_work = next((part for part in parts if part not in answers), None)
        if on_progress is not None:
            name = None if at_work is None else at_work.name(trace.header.time_unit)
            on_progress(
                CompareProgress(
                    parts="schedules and bounds", done=len(answers), total=total, at_work=name
                )
            )

    def perform(parts: Sequence[FrontierPart]) -> None:
        tell()
        for part, answer in performed(parts, threads, executor, in_threads=True):
            assert isinstance(part, FrontierPart)
            # What an executor answers has columns of its own; of these only what was moved stays.
            match answer:
                case Dispatches():
                    answers[part] = dispatches.moved(answer.cpu, answer.start)
                case BestPlacement(schedule=schedule):
                    moved = dispatches.moved(schedule.cpu, schedule.start)
                    answers[part] = replace(answer, schedule=moved)
                case WaitingProof():
                    answers[part] = answer
            tell()

    is_complete = True
    try:
        perform(parts)
        further = limited_parts(dispatches, limits, [*schedules_in(answers)], effort)
        parts += further
        total = len(parts)
        perform(further)
    except KeyboardInterrupt:
        is_complete = False
    rows = list(rows_of(dispatches, parts, answers))
    if left_out is not None:
        rows = [replace(row, total_wait=None, p99_wait=None) for row in rows]
    elif switches_take_time(trace, model):
        rows = [
            replace(row, with_switches=with_switches(row.schedule))
            for row in rows
            if row.schedule is not None
        ]
    runs = [row for row in rows if row.scheduling is Scheduling.PATIENCE]
    rows = [row for row in rows if row.scheduling is not Scheduling.PATIENCE]
    return WaitingFrontier(
        rows=(*rows, *chosen_patience(rows[0], runs)),
        patience=tuple(runs),
        left_out=left_out,
        unknown=dispatches.unknown,
        kept=dispatches.kept,
        warnings=dispatches.warnings,
        is_complete=is_complete,
    )


def limits_of(dispatches: Dispatches, waits: Sequence[int]) -> list[WaitingLimit]:
    """Return the limits of the rows: nobody later, permitted waits, the recorded waiting."""
    recorded = np.sort(dispatches.waits)
    return [
        *(WaitingLimit(each=wait) for wait in sorted({0, *waits})),
        WaitingLimit(
            total=int(recorded.sum()),
            long=percentile(recorded, 99),
            most_long=len(recorded) // 100,
        ),
    ]


def scheduling_of(limit: WaitingLimit) -> Scheduling:
    """Return what the row of a limit is called."""
    if limit.each is None:
        return Scheduling.SAME_MEAN_WAIT
    return Scheduling.LONGEST_WAIT if limit.each else Scheduling.NOBODY_LATER


def limited_parts(
    dispatches: Dispatches,
    limits: Sequence[WaitingLimit],
    known: Sequence[Dispatches],
    effort: float,
) -> list[FrontierPart]:
    """Return the work on schedules within limits, and on bounds: what takes longest first."""
    usual = EFFORT_FOR_FEW
    if len(dispatches) > FEW_DISPATCHES:
        usual = min(MOST_EFFORT, max(1.0, USUAL_DISPATCHES / len(dispatches)))
    parts = []
    for limit in limits:
        cheapest = cheapest_within(limit, known)
        work = partial(
            schedule_within,
            dispatches,
            limit,
            known=() if cheapest is None else (cheapest,),
            effort=usual * effort,
        )
        parts.append(FrontierPart(scheduling=scheduling_of(limit), limit=limit, perform=work))
    return parts + [
        FrontierPart(
            scheduling=scheduling_of(limit), limit=limit, perform=stretch.perform, bound=wanted
        )
        for wanted in reversed(WANTED_BOUNDS)
        for limit in limits
        if limit.each is not None
        for stretch in stretch_bounds(
            dispatches,
            limit.each,
            uses_lengths=wanted == "bound with lengths",
            effort=effort,
        )
    ]


def schedules_in(answers: Answers) -> Iterator[Dispatches]:
    """Yield the schedules that have been found so far."""
    for answer in answers.values():
        match answer:
            case Dispatches():
                yield answer
            case BestPlacement():
                yield answer.schedule


def cheapest_within(limit: WaitingLimit, schedules: Iterable[Dispatches]) -> Dispatches | None:
    """Return the cheapest schedule that keeps to a limit; None if no one does."""
    by_cost = sorted(schedules, key=cost_of)
    # Few are checked in this order: that takes much longer than adding up costs.
    return next((schedule for schedule in by_cost if not check_schedule(schedule, limit)), None)


def rows_of(
    dispatches: Dispatches, parts: Sequence[FrontierPart], answers: Answers
) -> Iterator[FrontierRow]:
    """Yield the recorded run, and a row for each schedule that is known."""
    yield row_of(Scheduling.RECORDED, dispatches)
    found = list(schedules_in(answers))
    for part in parts:
        schedule, limit = answers.get(part), part.limit
        if isinstance(schedule, BestPlacement):
            row, bound = row_of(part.scheduling, schedule.schedule), schedule.bound
            yield replace(row, bound=bound, bound_with_lengths=bound)
        if isinstance(schedule, Dispatches):
            if limit != NO_LIMIT:
                # One that was found for one limit may be the cheapest one for another, too.
                schedule = cheapest_within(limit, found)
                assert schedule is not None, "the one that was found for this limit keeps to it"
            row = row_of(part.scheduling, schedule, limit)
            row = replace(row, wait=limit.each, patience=part.patience)
            bounds = [bound_of(dispatches, parts, answers, limit, name) for name in WANTED_BOUNDS]
            yield with_bounds(row, *bounds)


def bound_of(
    dispatches: Dispatches,
    parts: Sequence[FrontierPart],
    answers: Answers,
    limit: WaitingLimit,
    name: str,
) -> WaitingBound | None:
    """Return a bound of which all parts are known."""
    wanted = [part for part in parts if (part.limit, part.bound) == (limit, name)]
    known = [answers.get(part) for part in wanted]
    proofs = [answer for answer in known if isinstance(answer, WaitingProof)]
    return proven_bound(dispatches, proofs) if proofs and len(proofs) == len(wanted) else None


def with_bounds(
    row: FrontierRow, robust: WaitingBound | None, exact: WaitingBound | None
) -> FrontierRow:
    """Return a row with its bounds, for any lengths and for the recorded ones."""
    if robust is None:
        return row
    # What holds for any lengths holds for the recorded ones, too.
    better = [robust] if exact is None or exact.value < robust.value else [robust, exact]
    return replace(
        row,
        bound=robust.value,
        bound_with_lengths=better[-1].value,
        proofs=tuple(bound.proof for bound in better),
    )


def chosen_patience(recorded: FrontierRow, runs: Sequence[FrontierRow]) -> tuple[FrontierRow, ...]:
    """Return the run to be shown among the rows: none if there is none.

    It is the cheapest one of those that wait no longer than recorded, in the mean and in the 99th
    percentile; else of those that wait no longer in the mean; else the one that waits least.
    """
    most_total, most_p99 = recorded.total_wait or 0, recorded.p99_wait or 0
    short = [row for row in runs if (row.total_wait or 0) <= most_total]
    good = [row for row in short if (row.p99_wait or 0) <= most_p99] or short
    if good:
        return (min(good, key=lambda row: (row.cost, row.total_wait or 0)),)
    return tuple(sorted(runs, key=lambda row: (row.total_wait or 0, row.cost))[:1])


def row_of(
    scheduling: Scheduling, schedule: Dispatches, limit: WaitingLimit = NO_LIMIT
) -> FrontierRow:
    """Return the row of a schedule, which is checked by code that no search shares."""
    cost = cost_of(schedule)
    problems = check_schedule(schedule, limit)
    if problems or checked_cost(schedule) != cost:
        raise AssertionError(f"{scheduling}: {problems[:1] or 'the cost is wrong'}")
    waits = np.sort(schedule.waits)
    return FrontierRow(
        scheduling=scheduling,
        cost=cost,
        dispatches=len(waits),
        total_wait=int(waits.sum()),
        p99_wait=percentile(waits, 99),
        parallel_share=parallel_share_of(schedule.fragment, schedule.start, schedule.end),
        switches=int(switches_of(schedule.paying).changes.sum()),
        schedule=schedule,
    )
