"""The comparison of a trace with the best possible schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from dfopt.compare.attainable.frontier import FrontierProgress
from dfopt.compare.attainable.frontier_of import frontier_of
from dfopt.compare.attainable.order_kept import order_kept_of
from dfopt.compare.attainable.permitted_wait import PermittedWait, wait_in
from dfopt.compare.comparison import Comparison, WindowResult
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.domains.domain_pairs import domain_comparison
from dfopt.compare.jobs import Answer, WindowJob, are_worth_processes, jobs_of
from dfopt.compare.realised import (
    causes_of,
    charges_of,
    cpu_results,
    fragment_results,
    realised_of,
)
from dfopt.compare.window_length import (
    WHOLE,
    CompareProgress,
    Window,
    in_unit_of,
    window_starts,
)
from dfopt.compare.windows.bound_and_roll import RollingCosts, WindowBounds
from dfopt.compare.windows.cutting import WindowConditions, WindowedDispatches, check_room, cut
from dfopt.parallel.pool import performed
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.instance import Objective
from dfopt.solvers.facade import available_processors
from dfopt.trace import Trace
from dfopt.trace.parallel_fragments import parallel_share
from dfopt.trace.service import service_of

SECONDS = 20.0
"""Seconds that solvers may search for, by default."""

BALANCED = "balanced"

BALANCED_SHARE = 0.1
"""Share of that time for the balanced bounds, on which no other figure depends."""


def compare_trace(  # noqa: PLR0913 - options, all by keyword
    trace: Trace,
    model: CostModel | None = None,
    *,
    windows: Sequence[Window] = (WHOLE,),
    waits: Sequence[PermittedWait] | None = (),
    domains: CacheDomains | None = None,
    time_limit: float | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[CompareProgress | FrontierProgress], None] | None = None,
) -> Comparison:
    """Compare what the switches of a trace cost with the least that was possible.

    Parameters
    ----------
    trace
        Labelled, see :func:`dfopt.trace.labels.label`.
    model
        The costs; by default every change of fragment costs 1.
    windows
        How far ahead one may look.
    waits
        Permitted waits, each of which adds a row to the frontier. None leaves the frontier out, the
        schedules that keep cause and effect, which take most of the time.
    domains
        The CPUs that share a last-level cache; None: nothing is said about domains.
    time_limit
        Seconds that all solvers together may search for what quick placements of windows leave
        open; by default 20. With several processes at work less time passes.
    workers
        Number of processes for long work; by default one a processor.
    executor
        Does the work instead, such as ``Client.get_executor(pure=False)`` of Dask.
    on_progress
        Called whenever some windows, or a part of the frontier, are done.

    Returns
    -------
    Comparison
        An interrupt from the keyboard ends it with the rows of the frontier and the lengths of
        window that are done.

    Raises
    ------
    DfoptError
        When no dispatch has a fragment, or the executor fails.
    InstanceError, MethodError
        When the model or the domains do not fit the trace.

    Notes
    -----
    Windows assume nothing about dependences between tasks: a message may be received before it is
    sent. The longer a window, the less of it can a scheduler know in advance. The schedules of the
    frontier keep cause and effect, and limit how long anything waits.
    """
    model = model or CostModel()
    dispatches = dispatches_of(trace, model)
    charges = charges_of(dispatches, model)
    realised = realised_of(dispatches, charges)
    by_worst = model.objective is Objective.MAX_PENALTY
    tables = [
        cut(dispatches, window_starts(dispatches, in_unit_of(trace, window))) for window in windows
    ]
    if isinstance(model.capacity, int):
        for table in tables:
            check_room(table, model.capacity)
    in_domains = None
    if domains is not None:
        starts = {window.label: table.starts for window, table in zip(windows, tables, strict=True)}
        in_domains = domain_comparison(dispatches, domains, starts, trace)
    seconds = (SECONDS if time_limit is None else time_limit) / max(1, len(windows))
    frontier = None
    if waits is not None:
        frontier = frontier_of(
            trace,
            model,
            waits=sorted({wait_in(trace, wait) for wait in waits}),
            workers=workers,
            executor=executor,
            on_progress=on_progress,
        )
    goes_on = frontier is None or frontier.is_complete
    if not goes_on:
        tables = []
    # One length of window after the other: an interrupt leaves those that are done.
    jobs = [
        job for number, table in enumerate(tables) for job in _jobs(number, table, model, seconds)
    ]
    answers, is_complete = _answers(jobs, windows, workers, executor, on_progress)
    counted = realised.worst if by_worst else realised.total
    return Comparison(
        name=trace.header.name or "trace",
        policy=trace.header.policy,
        model=model,
        cost_unit="switches" if model.counts_switches else trace.header.time_unit or "unit",
        time_unit=trace.header.time_unit,
        dispatches=len(trace),
        managed=int(dispatches.managed.sum()),
        realised=realised,
        windows=tuple(
            _result(window, table, answers[number], counted, by_worst=by_worst)
            for number, (window, table) in enumerate(zip(windows, tables, strict=False))
            if answers[number].is_known
        ),
        is_complete=is_complete and goes_on,
        causes=causes_of(charges),
        fragments=fragment_results(trace, dispatches, charges),
        cpus=cpu_results(trace, dispatches, charges),
        unlabelled_share=trace.unlabelled_share,
        quality=trace.quality,
        frontier=frontier,
        order_kept=None if by_worst else order_kept_of(dispatches, model),
        service=service_of(trace),
        domains=in_domains,
        parallel_share=parallel_share(trace),
        lengths=trace.header.lengths,
        assumed=trace.header.assumed,
    )


def _jobs(
    number: int, table: WindowedDispatches, model: CostModel, seconds: float
) -> list[WindowJob]:
    """Return the jobs for one length of window: rolling schedule, bounds, balanced bounds."""
    by_worst = model.objective is Objective.MAX_PENALTY
    conditions = WindowConditions(
        capacity=model.capacity,
        # The bounds of several windows add up only if the total counts.
        by_worst=by_worst and len(table) == 1,
        begins_empty=model.cold_start,
        ends_written=model.final_write_back,
    )
    rolling = replace(conditions, by_worst=by_worst)
    half = (1 - BALANCED_SHARE) / 2
    balanced = replace(conditions, capacity="balanced")
    return [
        # The longest job first: otherwise the other processes would wait for it at the end.
        *jobs_of((number, "rolling"), "rolling", table, rolling, seconds * half),
        *jobs_of((number, "bound"), "bound", table, conditions, seconds * half),
        *jobs_of((number, BALANCED), "bound", table, balanced, seconds * BALANCED_SHARE),
    ]


@dataclass(slots=True)
class _Answers:
    """The answers for one length of window so far, and the number of jobs still missing."""

    bounds: dict[str, WindowBounds] = field(default_factory=dict)
    rolling: RollingCosts | None = None
    out: int = 0

    @property
    def is_known(self) -> bool:
        return not self.out

    def add(self, job: WindowJob, answer: Answer) -> None:
        self.out -= 1
        if isinstance(answer, RollingCosts):
            self.rolling = answer
        else:
            name = job.key[1]
            self.bounds[name] = self.bounds.get(name, WindowBounds(total=0, closed=0)) + answer


def _answers(
    jobs: Sequence[WindowJob],
    windows: Sequence[Window],
    workers: int | None,
    executor: Executor | None,
    on_progress: Callable[[CompareProgress | FrontierProgress], None] | None,
) -> tuple[list[_Answers], bool]:
    """Return the answers for each length of window, and whether all lengths have theirs."""
    answers = [_Answers() for _ in windows]
    for job_to_do in jobs:
        answers[job_to_do.key[0]].out += 1
    total = sum(len(job.windows) for job in jobs)
    done = 0
    try:
        for job, answer in performed(
            jobs, (workers or available_processors()) if are_worth_processes(jobs) else 1, executor
        ):
            assert isinstance(job, WindowJob)
            answers[job.key[0]].add(job, answer)
            done += len(job.windows)
            if on_progress is not None:
                label = windows[job.key[0]].label
                on_progress(CompareProgress(window=label, done=done, total=total))
    except KeyboardInterrupt:
        return answers, False
    return answers, True


def _result(
    window: Window, table: WindowedDispatches, answers: _Answers, realised: int, *, by_worst: bool
) -> WindowResult:
    assert answers.rolling is not None, "no job is out"
    bound, balanced = (
        -(-bounds.total // table.cpus) if by_worst and len(table) > 1 else bounds.total
        for bounds in (answers.bounds["bound"], answers.bounds[BALANCED])
    )
    costs = answers.rolling.costs
    return WindowResult(
        window=window.label,
        count=len(table),
        realised=realised,
        bound=bound,
        rolling=max(costs) if by_worst else sum(costs),
        # An even share is the smallest capacity possible, so the other bound holds for it too.
        balanced=max(bound, balanced),
        closed=answers.bounds["bound"].closed,
        balanced_closed=answers.bounds[BALANCED].closed,
        rolling_closed=answers.rolling.closed,
    )
