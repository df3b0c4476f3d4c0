"""From switches to dispatches: chains, gaps and clocks."""

import numpy as np
import pytest

from dfopt.errors import FileError
from dfopt.trace import trace_of
from dfopt.trace.events import (
    ANY_CPU,
    Forks,
    KernelEvents,
    Loss,
    Marks,
    Switches,
    ThreadGroups,
    Wakeups,
)
from dfopt.trace.trace import BROKEN_CHAIN, CLOCK_WENT_BACK, LOST_EVENTS

COMMS = ("swapper", "a", "b", "c")


def events(*rows, priorities=None, **others):
    """Return events with switches from rows (cpu, time, previous, next).

    ``priorities`` has one for each row: that of the thread that runs next.
    """
    cpu, time, previous, following = zip(*rows, strict=True)
    return KernelEvents(
        switches=Switches(
            cpu=np.array(cpu, np.int32),
            time=np.array(time, np.int64),
            previous=np.array(previous, np.int32),
            previous_comm=np.array([pid % len(COMMS) for pid in previous], np.int32),
            previous_stop=np.zeros(len(rows), np.int8),
            next=np.array(following, np.int32),
            next_priority=np.array(priorities or [120] * len(rows), np.int32),
        ),
        comms=COMMS,
        **others,
    )


def dispatches(trace):
    return [
        (cpu, start, end, trace.tasks[task].name, trace.comms[comm])
        for cpu, start, end, task, comm in zip(
            trace.cpu, trace.start, trace.end, trace.task, trace.comm, strict=True
        )
    ]


def gaps(trace):
    reasons = [trace.gaps.reasons[number] for number in trace.gaps.reason]
    return list(zip(trace.gaps.cpu, trace.gaps.start, trace.gaps.end, reasons, strict=True))


CHAIN = (0, 10, 0, 1), (1, 12, 2, 3), (0, 20, 1, 2), (1, 25, 3, 0), (0, 40, 2, 0), (1, 50, 0, 1)


def test_dispatches_lie_between_switches_and_idle_time_does_not_count():
    trace = trace_of(events(*CHAIN), name="it")
    assert dispatches(trace) == [
        (0, 10, 20, "1", "a"),
        (1, 12, 25, "3", "c"),
        (0, 20, 40, "2", "b"),
    ]
    assert trace.cpus == 2
    assert trace.header.name == "it"
    assert not len(trace.gaps)


def test_a_missing_switch_is_a_gap():
    trace = trace_of(events((0, 10, 0, 1), (0, 20, 2, 3), (0, 30, 3, 0)))
    assert dispatches(trace) == [(0, 20, 30, "3", "c")]
    assert gaps(trace) == [(0, 10, 20, BROKEN_CHAIN)]
    assert trace.quality.breaks == 1
    assert trace.gaps.task is None


def test_the_switch_after_a_gap_says_which_task_ran_last_in_it():
    trace = trace_of(
        events((0, 10, 0, 1), (0, 20, 2, 0), (0, 30, 0, 2), (0, 40, 2, 3), (0, 50, 0, 3))
    )
    assert gaps(trace) == [(0, 10, 20, BROKEN_CHAIN), (0, 40, 50, BROKEN_CHAIN)]
    assert [trace.tasks[task].name for task in trace.gaps.task[:1]] == ["2"]
    assert trace.gaps.task[1] == -1


@pytest.mark.parametrize(("cpu", "lost_on"), [(0, [0]), (1, [1]), (ANY_CPU, [0, 1]), (7, [])])
def test_lost_events_are_a_gap_even_where_the_chain_holds(cpu, lost_on):
    trace = trace_of(events(*CHAIN, losses=(Loss(cpu=cpu, switches_before=2, events=3),)))
    assert gaps(trace) == [
        gap for gap in [(0, 10, 20, LOST_EVENTS), (1, 12, 25, LOST_EVENTS)] if gap[0] in lost_on
    ]
    assert len(trace) == 3 - len(lost_on)
    assert (trace.quality.losses, trace.quality.lost_events) == (1, 3)


def test_losses_before_the_first_and_after_the_last_switch_are_no_gaps():
    losses = (
        Loss(cpu=0, switches_before=0, events=1),
        Loss(cpu=0, switches_before=6, events=1),
    )
    trace = trace_of(events(*CHAIN, losses=losses))
    assert not len(trace.gaps)
    assert trace.quality.lost_events == 2


def test_a_clock_that_goes_back_is_a_gap():
    trace = trace_of(events((0, 10, 0, 1), (0, 30, 1, 2), (0, 20, 2, 3), (0, 40, 3, 0)))
    assert dispatches(trace) == [(0, 10, 30, "1", "a"), (0, 30, 40, "3", "c")]
    assert gaps(trace) == [(0, 30, 30, CLOCK_WENT_BACK)]
    assert trace.quality.clock_steps == 1


def test_a_clock_that_keeps_going_back_is_none():
    with pytest.raises(FileError, match="goes back"):
        trace_of(events(*((0, 1000 - time, 1, 1) for time in range(20))))


def test_cpus_that_are_declared():
    trace = trace_of(events(*CHAIN, cpus=4))
    assert trace.cpus == 4
    assert trace.quality.silent_cpus == (2, 3)
    with pytest.raises(FileError, match="declares 1 CPUs"):
        trace_of(events(*CHAIN, cpus=1))


def test_many_silent_cpus_fit_a_line():
    chain = [(7 if cpu else 2, *rest) for cpu, *rest in CHAIN]
    warnings = trace_of(events(*chain, cpus=9)).quality.warnings
    assert warnings[-1] == "no event on CPU 0-1, 3-6, 8: idle all the time, or not recorded"


def test_no_switch():
    with pytest.raises(FileError, match="sched_switch"):
        trace_of(KernelEvents())


def test_the_last_nice_value_of_a_life_gives_its_weight():
    rows = (0, 10, 0, 1), (0, 20, 1, 2), (0, 30, 2, 1), (0, 40, 1, 2), (0, 50, 2, 1), (0, 60, 1, 0)
    fork = Forks(time=np.array([45]), parent=np.array([2], np.int32), child=np.array([1], np.int32))
    trace = trace_of(events(*rows, priorities=[139, 100, 125, 120, 115, 120], forks=fork))
    # Thread 2 was made less urgent again, so it has the weight of every thread.
    assert [(task.name, task.weight) for task in trace.tasks] == [
        ("1", 336),
        ("1.2", 3125),
        ("2", None),
    ]


def test_a_number_used_again_is_another_task():
    fork = Forks(time=np.array([22]), parent=np.array([2], np.int32), child=np.array([1], np.int32))
    groups = ThreadGroups(
        time=np.array([12, 45]),
        pid=np.array([1, 1], np.int32),
        tgid=np.array([100, 200], np.int32),
    )
    trace = trace_of(
        events(
            (0, 10, 0, 1), (0, 20, 1, 2), (0, 30, 2, 1), (0, 40, 1, 0), forks=fork, groups=groups
        )
    )
    assert [row[3] for row in dispatches(trace)] == ["1", "2", "1.2"]
    assert {task.name: task.tgid for task in trace.tasks} == {"1": 100, "1.2": 200, "2": None}
    assert trace.tasks[trace.forks.child[0]].name == "1.2"


def test_wakeups_and_marks_are_those_of_tasks_and_by_time():
    wakeups = Wakeups(
        time=np.array([15, 11]),
        waker=np.array([0, 1], np.int32),
        woken=np.array([2, 77], np.int32),
    )
    marks = Marks(
        time=np.array([35, 13]),
        task=np.array([2, 1], np.int32),
        df=np.array([0, 1], np.int32),
        names=("x", "y"),
    )
    trace = trace_of(events(*CHAIN, wakeups=wakeups, marks=marks))
    names = [*(task.name for task in trace.tasks), None]
    assert trace.wakeups.time.tolist() == [11, 15]
    assert [names[task] for task in trace.wakeups.waker] == ["1", None]
    assert [names[task] for task in trace.wakeups.woken] == ["77", "2"]
    assert trace.marks.time.tolist() == [13, 35]
    assert [names[task] for task in trace.marks.task] == ["1", "2"]
    assert trace.marks.df.tolist() == [1, 0]
    assert trace.marks.names == ("x", "y")
