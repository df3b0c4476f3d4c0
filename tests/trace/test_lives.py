"""Lives of threads: numbers are used again."""

import numpy as np

from dfopt.trace.dispatches import lives_of
from dfopt.trace.events import Exits, Forks, KernelEvents, Stop, Switches


def switches(*rows):
    """Return switches of CPU 0 from rows (time, previous, whether it ended, next)."""
    time, previous, ended, following = zip(*rows, strict=True)
    return Switches(
        cpu=np.zeros(len(rows), np.int32),
        time=np.array(time, np.int64),
        previous=np.array(previous, np.int32),
        previous_comm=np.zeros(len(rows), np.int32),
        previous_stop=np.where(ended, np.int8(Stop.ENDS), np.int8(Stop.SLEEPS)),
        next=np.array(following, np.int32),
        next_priority=np.full(len(rows), 120, np.int32),
    )


def forks(*rows):
    time, parent, child = zip(*rows, strict=True)
    return Forks(
        time=np.array(time, np.int64),
        parent=np.array(parent, np.int32),
        child=np.array(child, np.int32),
    )


def exits(*rows):
    time, pid = zip(*rows, strict=True)
    return Exits(time=np.array(time, np.int64), pid=np.array(pid, np.int32))


def beginnings(lives):
    return list(zip(lives.task.tolist(), lives.time.tolist(), strict=True))


def test_a_fork_begins_a_life():
    events = KernelEvents(switches=switches((9, 5, False, 0)), forks=forks((3, 4, 5), (7, 4, 6)))
    assert beginnings(lives_of(events)) == [(5, 3), (6, 7)]


def test_a_life_begins_after_the_switch_in_which_the_last_one_ended():
    events = KernelEvents(switches=switches((9, 5, True, 0), (12, 0, False, 5)))
    lives = lives_of(events)
    assert beginnings(lives) == [(5, 10)]
    pid, time = np.array([5, 5, 5, 6], np.int32), np.array([8, 9, 10, 10])
    assert lives.count(pid, time).tolist() == [0, 0, 1, 0]


def test_a_thread_that_exits_may_still_be_switched_from():
    rows = (9, 5, False, 0), (12, 5, False, 0), (15, 5, True, 0), (30, 5, False, 0)
    events = KernelEvents(switches=switches(*rows), exits=exits((8, 5)))
    assert beginnings(lives_of(events)) == [(5, 16)]


def test_where_the_last_switch_is_missing_the_next_one_has_to_do():
    rows = (6, 5, False, 0), (9, 5, False, 0), (30, 5, False, 0), (40, 5, True, 0)
    events = KernelEvents(
        switches=switches(*rows), exits=exits((8, 5), (99, 5), (7, 77)), forks=forks((20, 4, 5))
    )
    assert beginnings(lives_of(events)) == [(5, 10), (5, 20), (5, 41)]
