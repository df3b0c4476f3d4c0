"""The patient rule: by hand, what holds for every run, and that it knows no future."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare.attainable import patience as patience_file
from dfopt.compare.attainable.check import WaitingLimit, check_schedule
from dfopt.compare.attainable.patience import run_patiently, usual_patiences
from dfopt.compare.dispatches import NONE, TRANSPARENT
from dfopt.compare.paid import cost_of
from dfopt.errors import DfoptError
from dfopt.trace.trace import UNMANAGED
from tests.compare.attainable.drawn import ALWAYS, drawn_arrivals
from tests.compare.attainable.tables import fixed, table

A, B, C = range(3)
PATIENCE = st.sampled_from((0, 1, 3, 10, 100))
DRAWN = drawn_arrivals(most=12)


def arrivals_with(  # noqa: PLR0913 - most of them have a default
    dispatches, *, cpus=1, blocks=(), cuts=(), latest=(), places=()
):
    """Return arrivals of dispatches with a unit cost for each change of fragment.

    Parameters
    ----------
    dispatches
        (fragment, ready, length), or with (previous, waker, offset) behind, for each.
    blocks
        (cpu, start, end, evicts) of each.
    cuts
        (cpu, time) of each.
    latest
        By dispatch: when it starts at the latest.
    places
        By dispatch: CPU and start in the recording; by default CPU 0 as soon as it was ready.
    """
    rows = [(*dispatch, *(NONE, NONE, 0)[len(dispatch) - 3 :]) for dispatch in dispatches]
    fragment, ready, length, previous, waker, offset = np.array(rows, np.int64).reshape(-1, 6).T
    count = len(rows)
    cpu, start = np.array(places or list(zip([0] * count, ready, strict=True))).reshape(-1, 2).T
    task = np.arange(count)
    for dispatch in range(count):
        if previous[dispatch] != NONE:
            task[dispatch] = task[previous[dispatch]]
    ends = np.where(previous == NONE, -ALWAYS, (start + length)[previous])
    return table(
        cpus=cpus,
        fragment=fragment,
        task=task,
        cpu=cpu,
        start=start,
        length=length,
        ready_from=ready,
        ready_by=ready,
        previous=previous,
        previous_end=ends,
        waker=waker,
        waker_offset=offset,
        latest=latest or ALWAYS,
        entry=1,
        cuts=cuts,
        around=fixed(blocks),
    )


def problems(arrivals, schedule):
    return check_schedule(schedule, WaitingLimit())


def starts(arrivals, patience):
    """Return CPU and start of each dispatch."""
    schedule = run_patiently(arrivals, patience)
    assert problems(arrivals, schedule) == []
    return list(zip(schedule.cpu.tolist(), schedule.start.tolist(), strict=True))


# By hand.


def test_what_a_cpu_holds_comes_first():
    """At 10 both wait; A is held, although B has waited longer."""
    arrivals = arrivals_with([(A, 0, 10), (B, 1, 10), (A, 2, 10)])
    assert starts(arrivals, 0) == [(0, 0), (0, 20), (0, 10)]


def test_another_fragment_waits_for_the_patience_to_end():
    """B is ready at 1, and the CPU is idle from 10 on."""
    arrivals = arrivals_with([(A, 0, 10), (B, 1, 10)])
    assert starts(arrivals, 5) == [(0, 0), (0, 10)]
    assert starts(arrivals, 30) == [(0, 0), (0, 31)]


def test_patience_saves_a_change():
    """At 10 only B is ready, at 15 another A."""
    arrivals = arrivals_with([(A, 0, 10), (B, 9, 10), (A, 15, 10)])
    assert starts(arrivals, 0) == [(0, 0), (0, 10), (0, 20)]
    assert starts(arrivals, 10) == [(0, 0), (0, 25), (0, 15)]
    costs = [cost_of(run_patiently(arrivals, patience)) for patience in (0, 10)]
    assert costs == [2, 1]


def test_empty_caches_have_no_patience():
    """Two CPUs hold nothing; the third dispatch waits for one that does."""
    arrivals = arrivals_with([(A, 0, 10), (B, 0, 20), (A, 1, 10)], cpus=2)
    assert starts(arrivals, 1000) == [(0, 0), (1, 0), (0, 10)]


def test_of_two_caches_with_the_fragment_the_one_used_last_is_taken():
    arrivals = arrivals_with([(A, 0, 10), (A, 0, 20), (A, 30, 10)], cpus=2)
    assert starts(arrivals, 0)[2] == (1, 30)


def test_the_cache_that_was_not_used_for_longest_is_given_up():
    arrivals = arrivals_with([(A, 0, 10), (B, 0, 20), (C, 30, 10)], cpus=2)
    assert starts(arrivals, 0)[2] == (0, 30)


def test_wakers_and_the_dispatch_before_come_first():
    """The second one is woken 4 after the first began; the third one follows it."""
    arrivals = arrivals_with(
        [(A, 5, 10, NONE, NONE, 0), (A, 0, 10, NONE, 0, 4), (A, 0, 10, 1, NONE, 0)], cpus=2
    )
    assert starts(arrivals, 0) == [(0, 5), (1, 9), (1, 19)]


def test_a_block_takes_its_cpu_and_is_no_change():
    """The second dispatch would not end before the block begins; what is held stays."""
    arrivals = arrivals_with([(A, 0, 10), (A, 1, 10), (A, 2, 5)], blocks=[(0, 15, 30, False)])
    assert starts(arrivals, 0) == [(0, 0), (0, 30), (0, 10)]
    assert cost_of(run_patiently(arrivals, 0)) == 0


def test_after_a_block_that_evicts_nothing_is_held():
    """B comes first, since it has waited longest."""
    arrivals = arrivals_with([(A, 0, 10), (B, 1, 10), (A, 2, 10)], blocks=[(0, 10, 30, True)])
    assert starts(arrivals, 1000) == [(0, 0), (0, 30), (0, 40 + 1000 - 38)]


def test_after_a_cut_nothing_is_held():
    arrivals = arrivals_with([(A, 0, 10), (B, 1, 10)], cuts=[(0, 10)])
    assert starts(arrivals, 1000) == [(0, 0), (0, 10)]


def test_what_must_not_be_late_has_its_recorded_place_reserved():
    """The first B must start at 12, when the second A would run."""
    arrivals = arrivals_with(
        [(A, 0, 10), (A, 1, 10), (B, 12, 10)],
        latest=[ALWAYS, ALWAYS, 12],
        places=[(0, 0), (0, 22), (0, 12)],
    )
    assert starts(arrivals, 0) == [(0, 0), (0, 22), (0, 12)]


def test_what_wakes_it_has_its_recorded_place_reserved_too():
    """The last one must start at 12; with this patience its waker would come at 101."""
    arrivals = arrivals_with(
        [(A, 0, 10), (B, 1, 2), (C, 1, 2, NONE, 1, 1)],
        latest=[ALWAYS, ALWAYS, 12],
        places=[(0, 0), (0, 10), (0, 12)],
    )
    assert starts(arrivals, 100) == [(0, 0), (0, 10), (0, 12)]


# Laws.


def without_limits(arrivals):
    """Return the arrivals with nothing behind them that keeps its time."""
    return replace(arrivals, latest=np.full(len(arrivals), ALWAYS))


@given(arrivals=DRAWN, patience=PATIENCE)
def test_every_run_is_a_possible_schedule(arrivals, patience):
    assert problems(arrivals, run_patiently(arrivals, patience)) == []


@given(arrivals=DRAWN, patience=PATIENCE)
def test_places_for_all_are_a_possible_schedule(arrivals, patience):
    """Without any other replay, all places that may be needed are reserved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience_file, "HASTES", 1)
        patch.setattr(patience_file, "REPLAYS", 1)
        schedule = run_patiently(arrivals, patience)
    assert problems(arrivals, schedule) == []


@given(arrivals=DRAWN, patience=PATIENCE, data=st.data())
def test_it_knows_no_future(arrivals, patience, data):
    """Whatever is not ready before some time may be quite another: what started before stays.

    A dispatch looks ahead for its own length, to see whether a block comes in its way; so blocks
    stay if they begin before that.
    """
    arrivals = without_limits(arrivals)
    before = run_patiently(arrivals, patience)
    now = data.draw(st.sampled_from(sorted({0, *before.start.tolist()})), label="now")
    ready = before.start - before.waits
    woken = arrivals.waker != NONE
    ready[woken] = np.maximum(
        ready[woken], before.start[arrivals.waker[woken]] + arrivals.waker_offset[woken]
    )
    to_come = np.flatnonzero(ready >= now)
    numbers = st.integers(0, 20)
    length, fragment, ready_by = (
        column.copy() for column in (arrivals.length, arrivals.fragment, arrivals.ready_by)
    )
    for row in to_come:
        length[row] = data.draw(numbers)
        fragment[row] = data.draw(st.integers(0, 4))
        ready_by[row] = now + data.draw(numbers)
    blocks, cuts = arrivals.fixed, arrivals.cuts
    horizon = now + int(arrivals.length.max())
    shift = data.draw(numbers)
    later = blocks.start >= horizon
    other = replace(
        arrivals,
        length=length,
        fragment=fragment,
        ready_by=ready_by,
        around=replace(
            blocks,
            start=blocks.start + shift * later,
            fragment=np.where(later, UNMANAGED + TRANSPARENT - blocks.fragment, blocks.fragment),
        ),
        cuts=replace(cuts, time=cuts.time + shift * (cuts.time >= now)),
    )
    after = run_patiently(other, patience)
    past = before.start < now
    assert ((after.start < now) == past).all()
    assert (after.start[past] == before.start[past]).all()
    assert (after.cpu[past] == before.cpu[past]).all()


@given(arrivals=DRAWN)
def test_without_patience_no_cpu_is_idle_that_has_work(arrivals):
    """A dispatch that waits fits on no idle CPU, at any time while it waits."""
    arrivals = without_limits(arrivals)
    schedule = run_patiently(arrivals, 0)
    spans = [
        *zip(schedule.cpu, schedule.start, schedule.start + arrivals.length, strict=True),
        *zip(arrivals.fixed.cpu, arrivals.fixed.start, arrivals.fixed.end, strict=True),
    ]
    times = sorted({int(time) for _, start, end in spans for time in (start, end)})
    blocks = arrivals.fixed
    for row, wait in enumerate(schedule.waits):
        start, waker = int(schedule.start[row]), arrivals.waker[row]
        ready = start - int(wait)
        if waker != NONE:
            ready = max(ready, int(schedule.start[waker] + arrivals.waker_offset[row]))
        for time in times:
            if not ready <= time < start:
                continue
            for cpu in range(arrivals.cpus):
                is_busy = any(where == cpu and a <= time < b for where, a, b in spans)
                end = time + arrivals.length[row]
                meets = (blocks.cpu == cpu) & (blocks.start >= time) & (blocks.start < end)
                assert is_busy or meets.any(), (row, time, cpu)


# The curve, and what is refused.


def test_patience_goes_from_short_to_long_but_no_further_than_the_trace():
    """A dispatch has a length of 1,000 on average."""
    arrivals = arrivals_with([(A, 0, 500), (B, 20_000, 1_500)])
    assert usual_patiences(arrivals) == [0, 100, 300, 1_000, 3_000, 10_000]


def test_nothing_is_run_without_dispatches():
    arrivals = arrivals_with([])
    assert len(run_patiently(arrivals, 5).start) == 0
    assert usual_patiences(arrivals) == [0]


@pytest.mark.parametrize(
    ("patience", "message"),
    [
        (-1, "patience: must be at least 0, not -1"),
        (0.5, "patience: must be an integer, not 0.5"),
        (1 << 61, "patience: is 2305843009213693952, but for 2 dispatches it must be at most "),
    ],
)
def test_wrong_patience_is_refused(patience, message):
    arrivals = arrivals_with([(A, 0, 10), (B, 1, 10)])
    with pytest.raises(DfoptError, match=re.escape(message)):
        run_patiently(arrivals, patience)
