"""The comparison of a trace with the best possible schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from dfopt.compare.attainable.frontier_of import frontier_of
from dfopt.compare.attainable.placement import order_kept_of
from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import CompareProgress, WindowResult
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.domains import domain_comparison
from dfopt.compare.paid import (
    causes_of,
    charges_of,
    cpu_results,
    fragment_results,
    realised_of,
)
from dfopt.compare.windows import WindowCosts, WindowFigure, WindowJob, check_room
from dfopt.compare.written_times import (
    WHOLE,
    PermittedWait,
    Window,
    in_unit_of,
    wait_in,
    window_starts,
)
from dfopt.parallel import available_processors
from dfopt.parallel.pool import performed
from dfopt.problem.cache_domains import CacheDomains
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.trace import Trace
from dfopt.trace.parallel_fragments import parallel_share
from dfopt.trace.service import service_of

SECONDS = 20.0
"""Seconds that solvers may search for, by default."""

SHARES: dict[WindowFigure, float] = {"rolling": 0.45, "bound": 0.45, "balanced": 0.1}
"""Which share of that time each figure gets; on balanced bounds no other figure depends."""

WORTH_PROCESSES = 500_000
"""With fewer dispatches in all jobs together, starting processes takes longer than the work."""


def compare_trace(  # noqa: PLR0913 - options, all by keyword
    trace: Trace,
    model: CostModel | None = None,
    *,
    windows: Sequence[Window] = (WHOLE,),
    waits: Sequence[PermittedWait] | None = (),
    effort: float = 1.0,
    domains: CacheDomains | None = None,
    time_limit: float | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[CompareProgress], None] | None = None,
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
    effort
        The work on these schedules and their bounds is in proportion to this: 0.2 for a quick look,
        10 for better ones.
    domains
        The CPUs that share a last-level cache; None: nothing is said about domains.
    time_limit
        Seconds that all solvers together may search for what quick placements of windows leave
        open; by default 20. With several processes at work less time passes.
    workers
        Number of threads, and of processes for long work; by default one a processor.
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
    cuts = [window_starts(dispatches, in_unit_of(trace, window)) for window in windows]
    if isinstance(model.capacity, int):
        for starts in cuts:
            check_room(dispatches, starts, model.capacity)
    in_domains = None
    if domains is not None:
        labelled = {window.label: starts for window, starts in zip(windows, cuts, strict=True)}
        in_domains = domain_comparison(dispatches, domains, labelled, trace)
    seconds = (SECONDS if time_limit is None else time_limit) / max(1, len(windows))
    frontier = None
    if waits is not None:
        frontier = frontier_of(
            trace,
            model,
            waits=sorted({wait_in(trace, wait) for wait in waits}),
            effort=effort,
            workers=workers,
            executor=executor,
            on_progress=on_progress,
        )
    goes_on = frontier is None or frontier.is_complete
    # One length of window after the other: an interrupt leaves those that are done.
    jobs = [
        WindowJob(
            key=(number, wanted),
            dispatches=dispatches,
            starts=starts,
            model=model,
            types=trace.fragments if isinstance(model.penalty, PenaltyMatrix) else (),
            seconds=share * seconds,
        )
        for number, starts in enumerate(cuts)
        for wanted, share in SHARES.items()
        if goes_on
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
            _result(window, len(starts), answers[number], counted, by_worst=by_worst)
            for number, (window, starts) in enumerate(zip(windows, cuts, strict=True))
            if len(answers[number]) == len(SHARES)
        ),
        is_complete=is_complete and goes_on,
        causes=causes_of(charges),
        fragments=fragment_results(trace, dispatches, charges),
        cpus=cpu_results(trace, dispatches, charges),
        quality=trace.labelled_quality,
        frontier=frontier,
        order_kept=None if by_worst else order_kept_of(dispatches),
        service=service_of(trace),
        domains=in_domains,
        parallel_share=parallel_share(trace),
        lengths=trace.header.lengths,
        assumed=trace.header.assumed,
    )


def _answers(
    jobs: Sequence[WindowJob],
    windows: Sequence[Window],
    workers: int | None,
    executor: Executor | None,
    on_progress: Callable[[CompareProgress], None] | None,
) -> tuple[list[dict[WindowFigure, WindowCosts]], bool]:
    """Return the answers for each length of window, and whether all lengths have theirs."""
    answers: list[dict[WindowFigure, WindowCosts]] = [{} for _ in windows]
    total = sum(len(job.starts) for job in jobs)
    is_long = sum(len(job.dispatches) for job in jobs) > WORTH_PROCESSES
    processes = (workers or available_processors()) if is_long else 1
    done = 0
    try:
        for job, answer in performed(jobs, processes, executor):
            assert isinstance(job, WindowJob)
            number, wanted = job.key
            answers[number][wanted] = answer
            done += len(job.starts)
            if on_progress is not None:
                label = windows[number].label
                on_progress(CompareProgress(parts="windows", done=done, total=total, at_work=label))
    except KeyboardInterrupt:
        return answers, False
    return answers, True


def _result(
    window: Window,
    count: int,
    answers: dict[WindowFigure, WindowCosts],
    realised: int,
    *,
    by_worst: bool,
) -> WindowResult:
    rolling = answers["rolling"]
    bound, balanced = (
        # No CPU pays less than an even share of what all pay in all windows.
        -(-answer.bound // len(rolling.costs)) if by_worst and count > 1 else answer.bound
        for answer in (answers["bound"], answers["balanced"])
    )
    return WindowResult(
        window=window.label,
        count=count,
        realised=realised,
        bound=bound,
        rolling=max(rolling.costs) if by_worst else sum(rolling.costs),
        # An even share is the smallest capacity possible, so the other bound holds for it too.
        balanced=max(bound, balanced),
        closed=answers["bound"].closed,
        balanced_closed=answers["balanced"].closed,
        rolling_closed=rolling.closed,
    )
