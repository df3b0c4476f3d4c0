"""Traces that say when tasks were woken, hand-made and drawn."""

import numpy as np
from hypothesis import strategies as st

from dfopt.trace import Gaps, Trace, TraceHeader, TraceTask
from dfopt.trace.events import Stop
from dfopt.trace.trace import LOST_EVENTS, UNMANAGED, TaskForks, TaskWakeups

SLEEPS, PREEMPTED, ENDS, NOT_GIVEN = Stop.SLEEPS, Stop.PREEMPTED, Stop.ENDS, Stop.NOT_GIVEN
TASKS = "abcde"
FRAGMENTS = ("p", "q", "r")


def woken_trace(  # noqa: PLR0913 -- each is a kind of event
    *rows, wakeups=(), first_wakeups=(), forks=(), gaps=(), cpus=4, comms=None
):
    """Return a trace of rows (cpu, start, end, task, stop) or (…, stop, fragment).

    Events are tuples of time, task that does it or None, and task to which it is done. Gaps are
    tuples of CPU, start and end, or (…, end, task that ran last or None). The comm of each task is
    its name, or that in ``comms``.
    """
    rows = sorted(rows, key=lambda row: row[1])

    def column(place, kind, of=rows):
        return np.array([row[place] for row in of], kind)

    def numbers(events, place):
        return np.array(
            [-1 if event[place] is None else TASKS.index(event[place]) for event in events],
            np.int32,
        )

    def woken(events):
        events = sorted(events, key=lambda event: event[0])
        return TaskWakeups(
            time=column(0, np.int64, events), waker=numbers(events, 1), woken=numbers(events, 2)
        )

    fragments = [row[5] if len(row) > 5 else FRAGMENTS[0] for row in rows]
    gaps = sorted(gaps, key=lambda gap: (gap[1], gap[0]))
    forks = sorted(forks)
    ran_last = [gap[3] if len(gap) > 3 else None for gap in gaps]
    return Trace(
        cpus=cpus,
        cpu=column(0, np.int32),
        start=column(1, np.int64),
        end=column(2, np.int64),
        task=np.array([TASKS.index(row[3]) for row in rows], np.int32),
        fragment=np.array(
            [UNMANAGED if df is None else FRAGMENTS.index(df) for df in fragments], np.int32
        ),
        comm=np.array([TASKS.index(row[3]) for row in rows], np.int32),
        comms=tuple((comms or {}).get(task, task) for task in TASKS),
        tasks=tuple(TraceTask(name=task) for task in TASKS),
        fragments=FRAGMENTS,
        stop=column(4, np.int8),
        gaps=Gaps(
            cpu=column(0, np.int32, gaps),
            start=column(1, np.int64, gaps),
            end=column(2, np.int64, gaps),
            reason=np.zeros(len(gaps), np.int32),
            reasons=(LOST_EVENTS,) if gaps else (),
            task=None if {*ran_last} <= {None} else numbers([(ran,) for ran in ran_last], 0),
        ),
        wakeups=woken(wakeups),
        first_wakeups=woken(first_wakeups),
        forks=TaskForks(
            time=column(0, np.int64, forks), parent=numbers(forks, 1), child=numbers(forks, 2)
        ),
        header=TraceHeader(time_unit="ns"),
    )


@st.composite
def woken_traces(draw, *, most=12, plain=False):
    """Draw a trace in which no task runs twice at once, with any wake-ups and forks.

    If it is plain, there are wake-ups and no gaps, all dispatches have a length and a fragment, and
    it is known why they stopped.
    """
    cpus = draw(st.integers(1, 3))
    clocks, ends = [0] * cpus, dict.fromkeys(TASKS, 0)
    rows, stretches = [], []
    for place in range(draw(st.integers(1, most))):
        cpu, task = draw(st.integers(0, cpus - 1)), draw(st.sampled_from(TASKS))
        if not plain and draw(st.integers(0, 7)) == 0:
            begin, clocks[cpu] = clocks[cpu], clocks[cpu] + draw(st.integers(0, 3))
            can_run = [name for name in TASKS if ends[name] <= clocks[cpu]]
            ran_last = draw(st.none() | st.sampled_from(can_run)) if can_run else None
            stretches.append((cpu, begin, clocks[cpu], ran_last))
            if ran_last is not None:
                ends[ran_last] = clocks[cpu]
        start = max(clocks[cpu], ends[task]) + draw(st.integers(0, 3))
        end = start + draw(st.integers(int(plain), 4))
        stops = (SLEEPS, PREEMPTED) if plain else (SLEEPS, SLEEPS, PREEMPTED, ENDS, NOT_GIVEN)
        stop = draw(st.sampled_from(stops))
        managed = FRAGMENTS if plain or not place else (*FRAGMENTS, *FRAGMENTS, None)
        df = draw(st.sampled_from(managed))
        rows.append((cpu, start, end, task, stop, df))
        clocks[cpu] = ends[task] = end
    end = max(ends.values())
    times, tasks = st.integers(0, end), st.sampled_from(TASKS)
    events = st.lists(
        st.tuples(times, st.none() | tasks, tasks), min_size=int(plain), max_size=2 * most
    )
    few = st.lists(st.tuples(times, tasks, tasks), max_size=3)
    return woken_trace(
        *rows,
        wakeups=draw(events),
        first_wakeups=draw(few),
        forks=draw(few),
        gaps=stretches,
        cpus=cpus + draw(st.integers(0, 1)),
    )
