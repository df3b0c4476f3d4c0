"""Whatever ends a search, there is a result, and it claims no more than is true."""

import itertools
import json
import os
import pkgutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from dfopt import replace
from dfopt.errors import DfoptError, MethodError
from dfopt.files import result_from_document, result_to_document
from dfopt.files.strict import document_text
from dfopt.generate import matrix, zipf
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.problem.result import FirstOf, GapLimit, Progress, Result, Status, StopReason, TimeLimit
from dfopt.solvers import METHODS, solve
from dfopt.solvers.cp_sat import solve_by_cp_sat
from dfopt.solvers.cp_sat.circuit_model import CircuitModel
from dfopt.solvers.cp_sat.runner import minimise
from dfopt.solvers.search import SearchOver
from dfopt.verify import verify
from tests.patience import PATIENCE_S
from tests.solvers.drawn import drawn_instances
from tests.solvers.hard import HARD, HARD_ONES, HARD_PARTS, HARD_TABLE, HARD_TIMED, UNTIMED
from tests.solvers.optimum import badly_started
from tests.solvers.threads import all_end, beside


@dataclass
class Recorder:
    """Keeps all progress, and may do something on it."""

    steps: list[Progress] = field(default_factory=list)
    then: Callable[[Progress], None] = lambda step: None

    def __call__(self, step: Progress) -> None:
        self.steps.append(step)
        self.then(step)


def check(instance: Instance, result: Result) -> None:
    """Check a result's claims, and that its history only ever gets better."""
    verification = verify(instance, result)
    assert verification.ok, verification.problems
    assert result.wall_time_s is not None
    times = [step.time_s for step in result.history]
    assert times == sorted(times)
    bounds = [step.lower_bound for step in result.history]
    assert bounds == sorted(bounds)
    assert len(set(result.history)) == len(result.history)
    objectives = [step.objective for step in result.history if step.objective is not None]
    assert objectives == sorted(objectives, reverse=True)
    if result.history:  # (a test may have left it out)
        assert result.history[-1].lower_bound == result.lower_bound
        assert result.history[-1].objective == result.objective


@pytest.mark.parametrize("method", METHODS)
def test_no_time_at_all_gives_a_result(method: str) -> None:
    statuses = set()
    for instance in drawn_instances(60, seed=8, kinds=("f", "g")):
        if instance.is_timed and method in ("dp", "configuration"):
            continue
        result = solve(instance, method=method, stop=TimeLimit(0), workers=1)
        check(instance, result)
        statuses.add(result.status)
        if result.status is not Status.OPTIMAL:
            assert result.stop_reason is StopReason.TIME_LIMIT
    assert statuses & {Status.FEASIBLE, Status.UNKNOWN}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD_ONES)
def test_a_time_limit_keeps_schedule_and_bound(name: str) -> None:
    instance = HARD_ONES[name]
    begin = time.monotonic()
    result = solve(instance, method="cp-sat", stop=TimeLimit(0.7), workers=1)
    assert time.monotonic() - begin < PATIENCE_S
    check(instance, result)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.TIME_LIMIT)
    assert result.lower_bound is not None
    assert result.lower_bound > 0
    assert result.gap is not None
    assert 0 < result.gap < 1


@pytest.mark.slow
def test_the_deadline_is_kept_on_a_large_instance() -> None:
    instance = zipf(tasks=2000, cpus=8, fragments=200, seed=1)
    begin = time.monotonic()
    result = solve(instance, stop=TimeLimit(2))
    assert time.monotonic() - begin < PATIENCE_S
    assert result.status is Status.FEASIBLE
    # To check so large a bound would take longer than all else here.
    check(instance, replace(result, lower_bound=0, gap=1.0, certificate=None, history=()))
    assert result.lower_bound is not None
    assert result.lower_bound > 0


@pytest.mark.parametrize("limit_s", [0.0, 0.5])
@pytest.mark.parametrize("workers", [1, 2])
def test_configurations_keep_the_deadline(limit_s: float, workers: int) -> None:
    instance = zipf(tasks=300, cpus=20, fragments=60, seed=1)
    before = beside()
    begin = time.monotonic()
    result = solve(instance, method="configuration", stop=TimeLimit(limit_s), workers=workers)
    assert time.monotonic() - begin < PATIENCE_S
    check(instance, result)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.TIME_LIMIT)
    assert result.schedule is not None
    assert result.lower_bound is not None
    assert result.lower_bound > 0
    assert all_end(before)


def test_a_gap_is_enough() -> None:
    result = solve(HARD, stop=FirstOf(GapLimit(0.9), TimeLimit(PATIENCE_S)), workers=1)
    check(HARD, result)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.GAP_LIMIT)
    assert result.gap is not None
    assert 0 < result.gap <= 0.9


def test_the_first_of_several_criteria_ends_it() -> None:
    stop = FirstOf(GapLimit(0), TimeLimit(0.3))
    result = solve(HARD, stop=stop, workers=1)
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert solve(HARD, stop=FirstOf(TimeLimit(PATIENCE_S), GapLimit(1)), workers=1).stop_reason is (
        StopReason.GAP_LIMIT
    )


def test_a_proof_is_a_proof_whatever_the_criteria() -> None:
    instance = next(drawn_instances(1, seed=9))
    result = solve(instance, stop=FirstOf(GapLimit(0), TimeLimit(1000)))
    assert (result.status, result.stop_reason) == (Status.OPTIMAL, StopReason.PROOF)


def test_criteria_of_ones_own_are_asked() -> None:
    class ThirdSchedule:
        """Ends the search at the third schedule."""

        def __init__(self) -> None:
            self.objectives: set[int] = set()

        def __call__(self, progress: Progress) -> StopReason | None:
            if progress.objective is not None:
                self.objectives.add(progress.objective)
            return StopReason.INTERRUPT if len(self.objectives) >= 3 else None

    criterion = ThirdSchedule()
    result = solve(HARD, stop=FirstOf(criterion, TimeLimit(PATIENCE_S)), workers=1)
    check(HARD, result)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.INTERRUPT)
    assert len(criterion.objectives) == 3
    assert result.objective == min(criterion.objectives)


def test_progress_is_reported_as_it_is_made() -> None:
    recorder = Recorder()

    def third_step(progress: Progress) -> StopReason | None:
        return StopReason.INTERRUPT if len(recorder.steps) >= 3 else None

    stop = FirstOf(third_step, TimeLimit(PATIENCE_S))
    result = solve(HARD, method="cp-sat", stop=stop, on_progress=recorder, workers=1)
    assert result.stop_reason is StopReason.INTERRUPT
    assert tuple(progress.step for progress in recorder.steps) == result.history


def interrupt(step: Progress) -> None:
    if step.objective is not None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("method", ["auto", "cp-sat", "configuration"])
def test_an_interrupt_while_progress_is_reported(method: str) -> None:
    result = solve(HARD, method=method, on_progress=Recorder(then=interrupt), workers=1)
    check(HARD, result)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.INTERRUPT)
    assert result.schedule is not None


def test_an_interrupt_while_a_solver_in_another_thread_reports() -> None:
    def press(step: Progress) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise KeyboardInterrupt

    # Its cards are dealt badly, so CP-SAT will find something better.
    search = badly_started(zipf(tasks=20, cpus=3, fragments=6, seed=1), on_progress=press)
    with pytest.raises(KeyboardInterrupt):
        solve_by_cp_sat(search)


def test_an_interrupt_by_a_criterion() -> None:
    def impatient(progress: Progress) -> None:
        if progress.objective is not None and progress.time_s > 0.2:
            raise KeyboardInterrupt

    result = solve(HARD, method="cp-sat", stop=impatient, workers=1)
    check(HARD, result)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.INTERRUPT)


Noting = Callable[[str, Callable[[], None]], None]
WALK = "dfopt.native.contents.Annealing.walk"
CP_SAT = "ortools.sat.python.cp_model.CpSolver.solve"
PACKING = "dfopt.solvers.parts.packing.Packing.report"


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> Noting:
    """Let something happen whenever a function begins."""

    def note(target: str, then: Callable[[], None]) -> None:
        function = pkgutil.resolve_name(target)

        def noted(*arguments: object) -> object:
            then()
            return function(*arguments)

        monkeypatch.setattr(target, noted)

    return note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instance", "busy", "calls"),
    [
        (HARD, WALK, 2),
        (HARD, CP_SAT, 1),
        (HARD_TABLE, CP_SAT, 1),
        (HARD_TIMED, CP_SAT, 1),
        (HARD_PARTS, PACKING, 2),
    ],
    ids=["walk", "counts", "circuits", "intervals", "parts"],
)
def test_ctrl_c_gives_the_best_schedule_so_far(
    instance: Instance, busy: str, calls: int, noting: Noting
) -> None:
    """The signal comes during the work, which has begun for the second time or takes long."""
    numbers = itertools.count(1)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))

    def press() -> None:
        if next(numbers) == calls:
            timer.start() if busy == CP_SAT else timer.function(*timer.args)

    noting(busy, press)
    before = signal.getsignal(signal.SIGINT)
    method = "auto" if busy == PACKING else "cp-sat"
    try:
        # The limit is for a broken interrupt, which would otherwise never end.
        result = solve(instance, method=method, stop=TimeLimit(PATIENCE_S), workers=1)
    finally:
        timer.cancel()
    check(instance, result)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.INTERRUPT)
    assert signal.getsignal(signal.SIGINT) is before


def test_nothing_goes_on_after_the_result(noting: Noting) -> None:
    """A solver that has been told to stop leaves the processor to others."""
    before, at_work = beside(), threading.Event()
    noting(CP_SAT, at_work.set)

    def stop(progress: Progress) -> StopReason | None:
        return StopReason.TIME_LIMIT if at_work.is_set() else None

    result = solve(HARD, method="cp-sat", stop=stop, workers=1)
    assert (result.status, result.stop_reason) == (Status.FEASIBLE, StopReason.TIME_LIMIT)
    assert all_end(before)


def test_a_model_that_is_built_too_late_is_not_solved(noting: Noting) -> None:
    instance = matrix(tasks=20, cpus=3, types=6, seed=1)
    before, begun, late, solved = beside(), threading.Event(), threading.Event(), threading.Event()
    noting(CP_SAT, solved.set)

    def stop(progress: Progress) -> StopReason | None:
        return StopReason.TIME_LIMIT if begun.is_set() else None

    search = badly_started(instance, stop=stop)

    def build(bounds: tuple[int, int]) -> CircuitModel:
        begun.set()
        late.wait(PATIENCE_S)
        return CircuitModel(search, bounds)

    with pytest.raises(SearchOver):
        minimise(search, build)
    late.set()
    assert all_end(before)
    assert not solved.is_set()


def test_unknown_methods_are_refused_with_the_known_ones() -> None:
    with pytest.raises(MethodError, match=r"unknown method 'magic'; known are auto, exhaustive"):
        solve(HARD, method="magic")


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers_are_refused(workers: int) -> None:
    with pytest.raises(MethodError, match=f"needs at least 1 worker, not {workers}"):
        solve(HARD, workers=workers)


def unsuited() -> Iterator[tuple[str, Instance, str]]:
    yield "dp", HARD_TABLE, "'dp' is for the penalties f and g without releases"
    yield "dp", HARD_TIMED, "'dp' is for the penalties f and g without releases"
    yield "configuration", HARD_TABLE, "configuration is made for the penalties f and g without"
    yield "configuration", HARD_TIMED, "configuration is made for the penalties f and g without"
    yield "exhaustive", HARD, "'exhaustive' is for at most 12 tasks.*use the method 'auto'"
    yield "exhaustive", HARD_TIMED, "'exhaustive' is for at most 8 tasks.*use the method 'auto'"


@pytest.mark.parametrize(("method", "instance", "message"), list(unsuited()))
def test_methods_refuse_what_they_are_not_for(
    method: str, instance: Instance, message: str
) -> None:
    with pytest.raises(MethodError, match=message):
        solve(instance, method=method)


def test_the_dynamic_program_refuses_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.solvers.dp.MOST_STATES", 1000)
    with pytest.raises(MethodError, match=r"'dp' needs more than 1000 states.*'auto'"):
        solve(UNTIMED, method="dp", stop=TimeLimit(PATIENCE_S))


CLOSED_BY_ITS_BOUND = """
import sys
from dfopt import Instance, PenaltyG, Task, solve
tasks = tuple(Task(id=f"t{n}", df=f"D{n % 8}") for n in range(200))
result = solve(Instance(cpus=4, penalty=PenaltyG(fill=3, write_back=1), tasks=tasks))
assert result.status == "optimal", result
print(*(name for name in ("ortools", "pandas", "matplotlib") if name in sys.modules))
print("ortools" in result.versions)
"""


def test_what_the_cheap_bound_closes_needs_no_solver() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLOSED_BY_ITS_BOUND], capture_output=True, text=True, check=True
    )
    assert done.stdout == "\nFalse\n"


@pytest.mark.parametrize("method", ["auto", "cp-sat", "configuration"])
def test_costs_beyond_what_floats_can_tell_apart(method: str) -> None:
    """Solvers give bounds as floats; above 2^53 those are not all integers."""
    unit = 2**54 + 1
    instance = Instance(
        cpus=2,
        penalty=PenaltyF(read_line=unit, write_back=3),
        cold_start=True,
        tasks=tuple(Task(id=f"t{n}", df=f"D{n % 5}", lines=1 + n % 3) for n in range(12)),
    )
    small = replace(instance, penalty=PenaltyF(read_line=1, write_back=0))
    result = solve(instance, method=method, workers=1, stop=TimeLimit(PATIENCE_S))
    check(instance, result)
    assert result.status is Status.OPTIMAL
    assert result.objective == unit * (solve(small, workers=1).objective or 0)
    assert result.lower_bound == result.objective


def test_an_interrupt_that_hits_compiled_code_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def hit(search: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise SystemError("returned a result with an exception set") from interrupt

    monkeypatch.setattr("dfopt.solvers.auto.solve_automatically", hit)
    assert solve(HARD).stop_reason is StopReason.INTERRUPT


def test_other_system_errors_are_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(search: object) -> None:
        raise SystemError("something else")

    monkeypatch.setattr("dfopt.solvers.auto.solve_automatically", fail)
    with pytest.raises(SystemError, match="something else"):
        solve(HARD)


@pytest.mark.parametrize(
    ("instance", "stop", "message"),
    [
        ("a.json", None, "instance: must be an Instance, not 'a.json'; read_instance(path) reads"),
        (HARD, 10, "stop: must be a criterion such as TimeLimit(10), not 10"),
    ],
)
def test_what_is_no_instance_or_limit_is_refused(instance: Any, stop: Any, message: str) -> None:
    with pytest.raises(DfoptError) as caught:
        solve(instance, stop=stop)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("reason", [True, False, "time-limit", StopReason.PROOF])
def test_a_criterion_that_gives_no_reason_is_refused(reason: Any) -> None:
    with pytest.raises(DfoptError) as caught:
        solve(HARD, stop=lambda progress: reason)
    assert str(caught.value).startswith("stop: must return a reason such as StopReason.TIME_LIMIT")


@pytest.mark.parametrize("seed", [1.5, True, "x", 2**70])
def test_a_seed_that_no_result_can_have_is_refused(seed: Any) -> None:
    with pytest.raises(DfoptError, match=r"^seed: "):
        solve(HARD, seed=seed)


@pytest.mark.parametrize("asked", [0, 1, 4])
@pytest.mark.parametrize("reason", sorted({*StopReason} - {StopReason.PROOF}))
def test_whatever_ends_a_search_its_result_can_be_read(reason: StopReason, asked: int) -> None:
    for instance in drawn_instances(20, seed=asked, most_tasks=5):
        times = itertools.count()
        result = solve(
            instance,
            stop=lambda progress, times=times: reason if next(times) >= asked else None,
            workers=1,
        )
        text = document_text(result_to_document(result))
        assert result_from_document(json.loads(text)) == result
