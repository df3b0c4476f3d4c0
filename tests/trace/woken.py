"""Traces that say when tasks were woken, hand-made and drawn."""

import numpy as np
from hypothesis import strategies as st

from dfopt.trace import Gaps, Trace, TraceHeader, TraceTask
from dfopt.trace.events import Forks, Stop, Wakeups
from dfopt.trace.trace import LOST_EVENTS, UNMANAGED
from tests.trace.traces import randoms

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
        return Wakeups(
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
        forks=Forks(
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
    random = draw(randoms)
    cpus = random.randint(1, 3)
    clocks, ends = [0] * cpus, dict.fromkeys(TASKS, 0)
    rows, stretches = [], []
    for place in range(random.randint(1, most)):
        cpu, task = random.randrange(cpus), random.choice(TASKS)
        if not plain and not random.randint(0, 7):
            begin, clocks[cpu] = clocks[cpu], clocks[cpu] + random.randint(0, 3)
            ran_last = random.choice([None, *(name for name in TASKS if ends[name] <= clocks[cpu])])
            stretches.append((cpu, begin, clocks[cpu], ran_last))
            if ran_last is not None:
                ends[ran_last] = clocks[cpu]
        start = max(clocks[cpu], ends[task]) + random.randint(0, 3)
        end = start + random.randint(int(plain), 4)
        stops = (SLEEPS, PREEMPTED) if plain else (SLEEPS, SLEEPS, PREEMPTED, ENDS, NOT_GIVEN)
        managed = FRAGMENTS if plain or not place else (*FRAGMENTS, *FRAGMENTS, None)
        rows.append((cpu, start, end, task, random.choice(stops), random.choice(managed)))
        clocks[cpu] = ends[task] = end
    end = max(ends.values())

    def events(least, most, causes):
        return [
            (random.randint(0, end), random.choice(causes), random.choice(TASKS))
            for _ in range(random.randint(least, most))
        ]

    return woken_trace(
        *rows,
        wakeups=events(int(plain), 2 * most, [None, *TASKS]),
        first_wakeups=events(0, 3, TASKS),
        forks=events(0, 3, TASKS),
        gaps=stretches,
        cpus=cpus + random.randint(0, 1),
    )
