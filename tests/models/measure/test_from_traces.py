"""Measurements of jobs in traces, against the simulator's own figures and a known recording."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from dfopt.errors import FileError
from dfopt.trace import Trace, TraceHeader, TraceTask, read_trace
from dfopt_models.errors import ModelError
from dfopt_models.measure import (
    NO_PENALTIES,
    JobPenalties,
    JobRun,
    MeasuredPenalties,
    model_from_runs,
    runs_from_dispatches,
    runs_from_stays,
)
from dfopt_models.response_time import RESPONSE_TIME, PenaltiesOfQuantum, response_time
from dfopt_models.space_sharing import POLICIES, Mix, Structure
from dfopt_models.space_sharing.simulation import Replication, Stays, replicate
from tests.models.space_sharing.small import COSTLY, FREE, graph, mix

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"

COSTS = MeasuredPenalties(
    reallocation_time=0.0625,
    job=(
        JobPenalties(
            name="*",
            penalties=(PenaltiesOfQuantum(quantum=1.0, affinity=0.125, no_affinity=0.25),),
        ),
    ),
)


def simulated(subject: Mix, policy: str) -> tuple[Replication, Trace]:
    stays = Stays()
    done = replicate(subject, POLICIES[policy], seed=3, stays=stays)
    processors = subject.machine.processors
    return done, stays.trace(name="small", policy=policy, processors=processors)


def phases(number: int) -> Structure:
    """Twelve phases of threads, each of which waits for all of the phase before."""
    work: dict[str, float] = {}
    edges = []
    for phase in range(12):
        threads = [f"{phase}.{thread}" for thread in range(1 + (phase + number) % 3 * 2)]
        edges += [
            (before, thread)
            for before in work
            if before.startswith(f"{phase - 1}.")
            for thread in threads
        ]
        work |= dict.fromkeys(threads, 0.5 + 0.25 * number)
    return graph(work, edges)


@pytest.mark.parametrize("policy", ["equipartition", "dynamic", "dyn-aff"])
@pytest.mark.parametrize("costly", [False, True], ids=["free", "costly"])
def test_a_simulated_trace_has_the_figures_of_the_simulator(policy: str, costly: bool) -> None:
    subject = mix(
        *(phases(number) for number in range(3)),
        penalties=COSTLY if costly else FREE,
        path_length=0.0625 if costly else 0.0,
    )
    done, trace = simulated(subject, policy)
    runs = {run.job: run for run in runs_from_stays(trace, COSTS if costly else NO_PENALTIES)}
    assert len(runs) == len(done.jobs) == 3
    assert sum(job.reallocations for job in done.jobs) > (20 if policy != "equipartition" else 3)
    for job in done.jobs:
        run, figures = runs[job.application], job
        assert run.reallocations == figures.reallocations
        assert run.affinity == figures.affinity
        # The trace has whole nanoseconds; all times here are multiples of 1/16 s.
        assert run.response_time == pytest.approx(figures.response_time, abs=1e-9)
        assert run.allocation == pytest.approx(figures.allocation, rel=1e-9)


@pytest.fixture(scope="module")
def hackbench() -> Trace:
    from dfopt import replace

    trace = read_trace(EXAMPLES / "hackbench-4.txt.gz")
    # hackbench makes one group of 40 processes after the other.
    parent = np.bincount(trace.forks.parent).argmax()
    children = trace.forks.child[trace.forks.parent == parent]
    groups = np.full(len(trace.tasks), -1, np.int32)
    groups[children] = np.arange(len(children)) // 40
    names = tuple(f"g{group}" for group in range(4))
    return replace(trace, fragment=groups[trace.task], fragments=names)


def test_the_groups_of_hackbench(hackbench: Trace) -> None:
    runs = {run.job: run for run in runs_from_dispatches(hackbench)}
    shown = {
        name: (
            round(run.response_time * 1e3, 1),
            round(run.allocation, 3),
            run.reallocations,
            round((run.interval or 0) * 1e3, 2),
            # Of those whose thread had run before; the first run of a thread is nowhere at home.
            round(100 * run.returning / (run.reallocations - run.first)),
        )
        for name, run in runs.items()
    }
    assert shown["g1"] == (125.8, 0.484, 69, 0.88, 85)
    assert shown["g2"] == (101.8, 0.534, 57, 0.95, 75)
    assert shown["g3"] == (114.4, 0.523, 59, 1.01, 79)
    assert [round(100 * runs[f"g{group}"].affinity) for group in (1, 2, 3)] == [83, 74, 78]


def trace_of(*rows: tuple[int, int, int, int, int], unit: str = "us") -> Trace:
    """A trace of rows (cpu, task, job, start, end); the jobs are a, b, …"""
    columns = np.array(rows).T
    tasks, jobs = max(columns[1]) + 1, max(columns[2]) + 1
    return Trace(
        cpus=2,
        cpu=columns[0].astype(np.int32),
        start=columns[3].astype(np.int64),
        end=columns[4].astype(np.int64),
        task=columns[1].astype(np.int32),
        fragment=columns[2].astype(np.int32),
        tasks=tuple(TraceTask(name=str(number)) for number in range(tasks)),
        fragments=tuple("abcdef"[:jobs]),
        header=TraceHeader(time_unit=unit),
    )


def test_what_a_reallocation_is() -> None:
    trace = trace_of(
        (0, 0, 0, 0, 10),  # first on its CPU: a reallocation
        (1, 1, 1, 0, 5),
        (0, 2, -1, 10, 11),  # belongs to no job, and parts none
        (0, 0, 0, 12, 20),  # so this is none
        (0, 1, 1, 20, 30),  # b comes from the other CPU
        (0, 0, 0, 30, 40),  # a returns
        (0, 0, 0, 45, 50),  # and stays
    )
    first, second = runs_from_dispatches(trace)
    assert (first.job, first.reallocations, first.returning, first.first) == ("a", 2, 1, 1)
    assert first.response_time == pytest.approx(50e-6)
    assert first.processor_time == pytest.approx(33e-6)
    assert (second.reallocations, second.returning, second.first) == (2, 0, 1)
    assert (first.affinity, second.affinity) == (0.5, 0.0)


def test_the_last_of_several_runs_may_not_have_ended() -> None:
    from dfopt import replace

    trace = trace_of((0, 0, 0, 0, 10), (1, 1, 1, 0, 30), (0, 0, 2, 10, 30))
    trace = replace(trace, fragments=("x#1", "y#1", "x#2"))
    assert [run.job for run in runs_from_stays(trace, NO_PENALTIES)] == ["x", "y"]


def test_units_must_be_times() -> None:
    with pytest.raises(FileError, match="'cycles', which is no part of a second"):
        runs_from_dispatches(trace_of((0, 0, 0, 0, 10), unit="cycles"))
    with pytest.raises(FileError, match="no dispatch belongs to a job"):
        runs_from_dispatches(trace_of((0, 0, -1, 0, 10)))


def run_of(job: str, **more: float) -> JobRun:
    numbers: Mapping[str, float] = {"response_time": 2.0, "processor_time": 3.0} | more
    return JobRun(job=job, reallocations=10, returning=4, first=1, **numbers)


def test_the_model_gives_back_the_measured_response_times() -> None:
    runs = {"fast": [run_of("a"), run_of("a", response_time=3.0)], "slow": [run_of("a")]}
    model = model_from_runs(runs, baseline="slow", penalties=COSTS_OF_TEN, name="two", processors=4)
    assert response_time(model.case("a", "fast")) == pytest.approx(2.5)
    assert model.jobs[0].policies["fast"].ranges == {"response_time": (2.0, 3.0)}
    assert not model.jobs[0].policies["slow"].ranges
    assert RESPONSE_TIME.parse(RESPONSE_TIME.text(model)) == model


COSTS_OF_TEN = MeasuredPenalties(
    reallocation_time=0.01,
    job=(
        JobPenalties(
            name="a",
            penalties=(
                PenaltiesOfQuantum(quantum=0.1, affinity=0.01, no_affinity=0.02),
                PenaltiesOfQuantum(quantum=0.4, affinity=0.03, no_affinity=0.05),
            ),
        ),
    ),
)


def test_a_job_that_never_changes_places_has_no_interval() -> None:
    still = JobRun(
        job="a", response_time=2.0, processor_time=3.0, reallocations=0, returning=0, first=0
    )
    model = model_from_runs(
        {"fast": [run_of("a")], "slow": [still]},
        baseline="slow",
        penalties=NO_PENALTIES,
        name="two",
    )
    policy = model.jobs[0].policies["slow"]
    assert (policy.work, policy.reallocations, policy.allocation) == (3.0, 0.0, 1.5)
    assert "assumed" in model.jobs[0].sources["penalty_affinity"]


def test_models_that_cannot_be() -> None:
    runs = {"fast": [run_of("a"), run_of("b")], "slow": [run_of("a")]}
    with pytest.raises(ModelError, match="job 'b' does not run under 'slow'"):
        model_from_runs(runs, baseline="slow", penalties=NO_PENALTIES, name="two")
    with pytest.raises(ModelError, match="the traces have fast, slow"):
        model_from_runs(runs, baseline="other", penalties=NO_PENALTIES, name="two")
    with pytest.raises(ModelError, match="has no job 'b'; add a table"):
        COSTS_OF_TEN.of("b")
