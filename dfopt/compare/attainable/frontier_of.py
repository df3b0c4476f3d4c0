"""What was attainable for a trace: a schedule and a bound for each limit on waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor

import numpy as np

from dfopt.compare.attainable.bound.bound import WaitingBound
from dfopt.compare.attainable.check import check_schedule, checked_cost
from dfopt.compare.attainable.frontier import (
    FrontierProgress,
    FrontierRow,
    Scheduling,
    WaitingFrontier,
)
from dfopt.compare.attainable.frontier_parts import (
    NO_LIMIT,
    WORTH_PROCESSES,
    Answer,
    BoundPiece,
    FrontierPart,
    PartKey,
    WantedBound,
    bound_pieces,
    joined_bounds,
)
from dfopt.compare.attainable.patience import usual_patiences
from dfopt.compare.attainable.placement import BestPlacement
from dfopt.compare.attainable.switches_take_time import switches_take_time, with_switches
from dfopt.compare.attainable.waiting_limit import WaitingLimit
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

WANTED_BOUNDS: tuple[WantedBound, ...] = ("bound", "bound with lengths")
"""Which bounds are wanted for each limit."""

NOT_OF_ONE_CPU = (
    "what the most expensive CPU pays does not add up over time; compare under total-penalty "
    "(`objective`)"
)

Answers = dict[PartKey, Answer]
"""What is known of each part."""


def frontier_of(  # noqa: PLR0913 - options, all by keyword
    trace: Trace,
    model: CostModel,
    *,
    waits: Sequence[int] = (),
    workers: int | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[FrontierProgress], None] | None = None,
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
    workers
        Number of processes for long work; by default one a processor.
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
    first = [
        FrontierPart(dispatches=dispatches, wanted="timeline"),
        FrontierPart(dispatches=dispatches, wanted="rule"),
        *(
            FrontierPart(dispatches=dispatches, wanted="patience", patience=patience)
            for patience in (usual_patiences(dispatches) if limits else ())
        ),
    ]
    answers: Answers = {}
    bounded = [limit for limit in limits if limit.each is not None]
    total = len(first) + len(limits) + len(WANTED_BOUNDS) * len(bounded)

    def tell(parts: Sequence[FrontierPart | BoundPiece]) -> None:
        at_work = next((part for part in parts if part.key not in answers), None)
        if on_progress is not None:
            name = None if at_work is None else part_name(at_work, trace.header.time_unit)
            on_progress(FrontierProgress(done=len(answers), total=total, at_work=name))

    processes = (workers or available_processors()) if len(dispatches) > WORTH_PROCESSES else 1

    def perform(parts: Sequence[FrontierPart | BoundPiece]) -> None:
        tell(parts)
        for part, answer in performed(parts, processes, executor):
            assert isinstance(part, FrontierPart | BoundPiece)
            answers[part.key] = answer
            tell(parts)

    is_complete = True
    parts: list[FrontierPart | BoundPiece] = []
    try:
        perform(first)
        found = tuple(schedules_in(answers))
        # The longest parts first, which are the schedules.
        parts += [
            FrontierPart(
                dispatches=dispatches,
                wanted="schedule",
                limit=limit,
                known=cheapest_within(limit, found),
            )
            for limit in limits
        ]
        for wanted in WANTED_BOUNDS:
            for limit in bounded:
                parts += bound_pieces(dispatches, wanted, limit)
        total = len(first) + len(parts)
        perform(parts)
    except KeyboardInterrupt:
        is_complete = False
    answers.update(joined_bounds(dispatches, parts, answers))
    patience = patience_rows(answers)
    rows = limited_rows(dispatches, limits, answers)
    if left_out is not None:
        rows = [replace(row, total_wait=None, p99_wait=None) for row in rows]
    elif switches_take_time(trace, model):
        patience = tuple(row_with_switches(row) for row in patience)
        rows = [row_with_switches(row) for row in rows]
    return WaitingFrontier(
        rows=(*rows, *chosen_patience(rows[0], patience)),
        patience=patience,
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


def limited_rows(
    dispatches: Dispatches, limits: Sequence[WaitingLimit], answers: Answers
) -> list[FrontierRow]:
    """Return the recorded run, the same timeline, and a row for each limit, as far as known."""
    rows = [row_of(Scheduling.RECORDED, dispatches)]
    placement = answers.get(("timeline", NO_LIMIT, 0))
    if isinstance(placement, BestPlacement):
        row = row_of(Scheduling.SAME_TIMELINE, placement.schedule)
        rows.append(replace(row, bound=placement.bound, bound_with_lengths=placement.bound))
    by_rule = answers.get(("rule", NO_LIMIT, 0))
    if isinstance(by_rule, Dispatches):
        rows.append(row_of(Scheduling.LEAST_RECENTLY_USED, by_rule))
    found = list(schedules_in(answers))
    for limit in limits:
        if ("schedule", limit, 0) not in answers:
            continue
        # A schedule that was found for one limit may be the cheapest one for another, too.
        cheapest = cheapest_within(limit, found)
        assert cheapest is not None, "the one that was found for this limit keeps to it"
        row = row_of(scheduling_of(limit), cheapest, limit)
        rows.append(with_bounds(replace(row, wait=limit.each), limit, answers))
    return rows


def with_bounds(row: FrontierRow, limit: WaitingLimit, answers: Answers) -> FrontierRow:
    """Return a row with its bounds, as far as they are known."""
    robust = answers.get(("bound", limit, 0))
    if not isinstance(robust, WaitingBound):
        return row
    bound, bound_with_lengths, proofs = robust.value, robust.value, [robust.proof]
    exact = answers.get(("bound with lengths", limit, 0))
    # What holds for any lengths holds for the recorded ones, too.
    if isinstance(exact, WaitingBound) and exact.value >= robust.value:
        bound_with_lengths = exact.value
        proofs.append(exact.proof)
    return replace(row, bound=bound, bound_with_lengths=bound_with_lengths, proofs=tuple(proofs))


def scheduling_of(limit: WaitingLimit) -> Scheduling:
    """Return what the row of a limit is called."""
    if limit.each is None:
        return Scheduling.SAME_MEAN_WAIT
    return Scheduling.LONGEST_WAIT if limit.each else Scheduling.NOBODY_LATER


def part_name(part: FrontierPart | BoundPiece, unit: str | None) -> str:
    """Return what a part is called while it is at work."""
    match part.wanted:
        case "timeline":
            return str(Scheduling.SAME_TIMELINE)
        case "rule":
            return str(Scheduling.LEAST_RECENTLY_USED)
        case "patience":
            return f"{Scheduling.PATIENCE} {exact_time(part.key[2], unit)}"
    limit = str(scheduling_of(part.limit))
    if part.limit.each:
        limit = f"{limit} {exact_time(part.limit.each, unit)}"
    return f"{part.wanted}, {limit}"


def patience_rows(answers: Answers) -> tuple[FrontierRow, ...]:
    """Return the runs of the patient rule, as far as they are known."""
    runs = {
        patience: answer
        for (wanted, _, patience), answer in answers.items()
        if wanted == "patience" and isinstance(answer, Dispatches)
    }
    return tuple(
        replace(row_of(Scheduling.PATIENCE, runs[patience]), patience=patience)
        for patience in sorted(runs)
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


def row_with_switches(row: FrontierRow) -> FrontierRow:
    """Return a row with what becomes of its schedule when its switches take time."""
    assert row.schedule is not None, "it has just been found"
    return replace(row, with_switches=with_switches(row.schedule))
