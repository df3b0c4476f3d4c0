"""One entrance to all solvers: ``solve`` chooses a method, runs it, and returns the result."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from dfopt._version import __version__
from dfopt.checks import LARGEST_TOTAL, check_integer, described
from dfopt.costs.cheap_bounds import best_of, cheap_bounds
from dfopt.costs.visit_bounds import Bound
from dfopt.errors import DfoptError, InstanceError, MethodError
from dfopt.files import fingerprint
from dfopt.parallel import available_processors
from dfopt.problem.certificate import Certificate, CompleteSearch, Exhaustive
from dfopt.problem.instance import Instance
from dfopt.problem.result import (
    FirstOf,
    InstanceName,
    Progress,
    Result,
    Status,
    StoppingCriterion,
    StopReason,
    TimeLimit,
    relative_gap,
)
from dfopt.problem.schedule import Schedule, evaluate
from dfopt.solvers.heuristics.constructive import any_orders
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Knowledge, Search, SearchOver
from dfopt.solvers.sizes import DoesNotFitError, find_room
from dfopt.verify.enumeration import has_schedule_below

_log = logging.getLogger(__name__)

METHODS: dict[str, tuple[str, str]] = {
    "auto": ("dfopt.solvers.auto", "solve_automatically"),
    "exhaustive": ("dfopt.solvers.exhaustive", "solve_exhaustively"),
    "dp": ("dfopt.solvers.dp", "solve_by_dp"),
    "cp-sat": ("dfopt.solvers.cp_sat", "solve_by_cp_sat"),
    "configuration": ("dfopt.solvers.configuration", "solve_by_configurations"),
}
"""The module of each method, imported only when the method runs: some load heavy packages."""

MOST_TASKS_AFTER_THE_END = 100_000
"""At most this many tasks still get a schedule when the search ended before it had any."""


class Solver(Protocol):
    """Any method: it reports what it finds and proves to ``search``, and returns when done.

    It calls ``search.check()`` often, which ends it by an exception, and raises
    :class:`~dfopt.errors.MethodError` for an instance that it is not made for.
    """

    def __call__(self, search: Search) -> None:
        """Improve bound and schedule of ``search`` until they meet or the search is over."""
        ...


def solve(  # noqa: PLR0913 - options, all by keyword
    instance: Instance,
    *,
    method: str = "auto",
    stop: StoppingCriterion | None = None,
    time_limit: float | None = None,
    start: Schedule | None = None,
    seed: int = 0,
    workers: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Find the schedule of least penalty, with a proof.

    Parameters
    ----------
    instance
        The instance to schedule.
    method
        ``"auto"`` chooses; ``"exhaustive"``, ``"dp"``, ``"cp-sat"`` and ``"configuration"`` insist.
    stop
        When to end before the proof, such as ``TimeLimit(60)``; by default never.
    time_limit
        Seconds after which to end: a shorter way to write ``stop=TimeLimit(time_limit)``.
    start
        A schedule of the instance to begin with, such as that of an earlier result. The result's
        schedule is at least as good. Only the orders count; costs and times are worked out anew.
    seed
        Seed of everything random. The same seed and one worker give the same schedule unless
        a time limit or an interrupt intervenes.
    workers
        Number of threads; by default one per processor.
    on_progress
        Called with every improvement of bound or schedule and at every new phase of the search,
        from any thread.

    Returns
    -------
    Result
        The best schedule and bound found, whatever ended the search; an interrupt from the
        keyboard too ends it with a result.

    Raises
    ------
    MethodError
        When ``method`` is unknown or not made for this instance.
    DfoptError
        When ``instance`` or ``stop`` is something else, such as the name of a file, or a number;
        or when ``start`` is no schedule of the instance.

    Examples
    --------
    >>> from dfopt import Instance, PenaltyG, Task, solve
    >>> instance = Instance(
    ...     cpus=2,
    ...     penalty=PenaltyG(fill=3, write_back=1),
    ...     tasks=(Task(id="a", df="X", count=2), Task(id="b", df="Y"), Task(id="c", df="Z")),
    ... )
    >>> result = solve(instance)
    >>> result.status, result.objective, result.lower_bound
    (<Status.OPTIMAL: 'optimal'>, 4, 4)
    """
    _check_arguments(instance, stop, seed)
    if time_limit is not None:
        limit = TimeLimit(time_limit)
        stop = limit if stop is None else FirstOf(stop, limit)
    if method not in METHODS:
        raise MethodError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    if workers is not None and workers < 1:
        raise MethodError(f"needs at least 1 worker, not {workers}")
    search = Search(
        instance,
        stop=stop,
        on_progress=on_progress,
        seed=seed,
        workers=workers or available_processors(),
    )
    _log.debug(
        "method %s: %d tasks of %d types on %d CPUs, at most %d threads",
        method,
        instance.task_count,
        len(search.types),
        instance.cpus,
        search.workers,
    )
    if instance.missing_capacity:
        return _result(search, method, StopReason.PROOF, infeasible=True)
    if start is not None:
        _begin_with(start, search)
    try:
        _run(search, method)
        reason = StopReason.PROOF
    except DoesNotFitError as error:
        return _result(
            search, method, StopReason.PROOF, infeasible=True, certificate=error.certificate
        )
    except SearchOver as over:
        reason = over.reason
    except KeyboardInterrupt:
        reason = StopReason.INTERRUPT
    except (SystemError, ImportError) as error:
        if not _came_from_the_keyboard(error):
            raise
        reason = StopReason.INTERRUPT
    if search.schedule is None and instance.task_count <= MOST_TASKS_AFTER_THE_END:
        _find_any(search)
    return _result(search, method, reason)


def _check_arguments(instance: object, stop: object, seed: object) -> None:
    """Refuse what callers without a type checker may take for an instance or a limit."""
    if not isinstance(instance, Instance):
        raise InstanceError(
            f"must be an Instance, not {described(instance)}; read_instance(path) reads a file",
            place="instance",
        )
    if stop is not None and not callable(stop):
        raise DfoptError(
            f"must be a criterion such as TimeLimit(10), not {described(stop)}", place="stop"
        )
    check_integer(seed, "seed", least=-LARGEST_TOTAL)


def _begin_with(start: Schedule, search: Search) -> None:
    """Report a schedule of the user's own, if it is one of the instance."""
    try:
        schedule = evaluate(search.instance, [cpu.tasks for cpu in start.cpus])
    except DfoptError as error:
        raise type(error)(f"{error.place} {error.problem}".lstrip(), place="start") from None
    orders = search.orders_of(schedule)
    for cpu, order in enumerate(orders):
        if search.size_of(order) > search.instance.room:
            raise DfoptError(f"gives CPU {cpu} more tasks than it has room for", place="start")
    search.found(orders)


def _came_from_the_keyboard(error: BaseException | None) -> bool:
    """Return whether an interrupt caused the error; in native code it appears as another error."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _run(search: Search, method: str) -> None:
    if method != "exhaustive" or not search.types:
        _bound_cheaply(search)
    if search.instance.has_sizes:
        find_room(search)
    if not search.types:
        search.found([()] * search.instance.cpus)
        return
    module, function = METHODS[method]
    load_module(module, search.check)
    solver: Solver = getattr(sys.modules[module], function)
    solver(search)
    if not search.is_closed:
        raise AssertionError(f"method {method!r} ended without a proof")


def _find_any(search: Search) -> None:
    """Report any schedule; where tasks have sizes, there may be none that is found at once."""
    if not search.instance.has_sizes:
        search.found(any_orders(search))


def _bound_cheaply(search: Search) -> None:
    """Report the best of the cheap bounds, or of those that there was time for."""
    bounds: list[Bound] = []
    try:
        for bound in cheap_bounds(search.instance, search.types, search.check):
            bounds.append(bound)
    finally:
        bound = best_of(bounds)
        if bound.certificate is not None:
            search.proved(bound.value, bound.certificate)


def _result(
    search: Search,
    method: str,
    reason: StopReason,
    *,
    infeasible: bool = False,
    certificate: Certificate | None = None,
) -> Result:
    known = search.end()
    if infeasible:
        status = Status.INFEASIBLE
    elif known.is_closed:
        status, reason = Status.OPTIMAL, StopReason.PROOF
    else:
        status = Status.UNKNOWN if known.schedule is None else Status.FEASIBLE
    _log.debug("%s after %.3f s, ended by %s", status, search.elapsed, reason)
    return Result(
        instance=InstanceName(name=search.instance.name, sha256=fingerprint(search.instance)),
        status=status,
        stop_reason=reason,
        objective=known.objective,
        lower_bound=None if infeasible else known.lower_bound,
        gap=relative_gap(known.objective, known.lower_bound),
        schedule=known.schedule,
        certificate=certificate if infeasible else _checkable(search, known),
        method=method,
        seed=search.seed,
        wall_time_s=round(search.elapsed, 6),
        # Bounds on the cost of schedules say nothing where there is none.
        history=() if infeasible else known.history,
        versions=_versions(),
    )


def _checkable(search: Search, known: Knowledge) -> Certificate | None:
    """Return the certificate; where the checker can enumerate, no search need be trusted."""
    certificate = known.certificate
    if not isinstance(certificate, CompleteSearch):
        return certificate
    with suppress(MethodError, SearchOver, KeyboardInterrupt):
        if not has_schedule_below(search.instance, known.lower_bound, search.check_limits):
            return Exhaustive(threshold=known.lower_bound - 1)
        raise AssertionError(f"a schedule is below the bound of {certificate}")
    return certificate


def _versions() -> dict[str, str]:
    versions = {"dfopt": __version__}
    ortools = sys.modules.get("ortools")
    if ortools is not None:
        versions["ortools"] = ortools.__version__
    return versions
