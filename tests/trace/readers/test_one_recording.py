"""One stretch of a machine's life, recorded at once by three recorders: the same in every form."""

from pathlib import Path

import numpy as np
import pytest

from dfopt.trace import read_trace

FOLDER = Path(__file__).parent / "recorded"
FTRACE = (
    *("tracefs.txt", "tracefs-bare.txt", "report.txt", "report-N.txt", "report-R.txt"),
    *("report-l.txt", "report-t.txt", "report-ts-diff.txt"),
)
PERF = ("perf-script.txt", "perf-sched-script.txt")
PERFETTO = "perfetto.pftrace"
WITH_PROCESSES = ("tracefs.txt", "perf-script.txt")

BETWEEN_RECORDERS = 5_000
"""Nanoseconds between the moments at which recorders take notice of an event."""

DISPATCHES = [
    (0, 3807, "clean"),
    (0, 3808, "clean"),
    (0, 18, "migration/0"),
    (0, 3807, "été"),
]
"""How CPU 0 begins."""


def read(name):
    if name == PERFETTO:
        pytest.importorskip("perfetto")
    return read_trace(FOLDER / name)


def threads(trace, numbers):
    return [trace.tasks[number].tid if number >= 0 else None for number in numbers]


def facts(trace):
    """Return what happened in which order, without the times."""
    by_cpu = np.argsort(trace.cpu, kind="stable")
    return {
        "dispatches": list(
            zip(trace.cpu[by_cpu].tolist(), threads(trace, trace.task[by_cpu]), strict=True)
        ),
        "stops": trace.stop[by_cpu].tolist(),
        "first_wakeups": [
            threads(trace, trace.first_wakeups.waker),
            threads(trace, trace.first_wakeups.woken),
        ],
        "wakeups": [threads(trace, trace.wakeups.waker), threads(trace, trace.wakeups.woken)],
        "forks": [threads(trace, trace.forks.parent), threads(trace, trace.forks.child)],
    }


def marks(trace):
    names = [trace.marks.names[number] for number in trace.marks.df]
    return list(zip(threads(trace, trace.marks.task), names, strict=True))


@pytest.mark.parametrize("name", [*FTRACE, *PERF, PERFETTO])
def test_the_same_in_every_form(name):
    trace, expected = read(name), read("tracefs.txt")
    assert trace.cpus == 2
    assert trace.quality.events == 13
    assert trace.quality.warnings == ()
    assert facts(trace) == facts(expected)
    for column in ("start", "end"):
        apart = getattr(trace, column) - getattr(expected, column)
        assert np.abs(apart).max() <= (500 if name in FTRACE else BETWEEN_RECORDERS)


@pytest.mark.parametrize("name", [*FTRACE, *PERF])
def test_comms(name):
    trace = read(name)
    by_cpu = np.argsort(trace.cpu, kind="stable")
    comms = [trace.comms[number] for number in trace.comm[by_cpu]]
    found = [(*row, comm) for row, comm in zip(facts(trace)["dispatches"], comms, strict=True)]
    assert found[: len(DISPATCHES)] == DISPATCHES
    assert {comm for _, thread, comm in found if thread == 3808} == {"clean", "[000]"}


@pytest.mark.parametrize("name", [*FTRACE, PERFETTO])
def test_marks(name):
    assert marks(read(name)) == [(3807, "été"), (3808, "[000]")]


@pytest.mark.parametrize("name", WITH_PROCESSES)
def test_processes(name):
    assert all(task.tgid == task.tid for task in read(name).tasks)
