"""Arrivals for tests of the patient rule: written by hand, or drawn at random."""

from itertools import pairwise
from random import Random

import numpy as np

from dfopt.compare.attainable.arrivals import NONE, Arrivals, Blocks, SwitchCosts
from dfopt.compare.attainable.patience import run_patiently

NO_LIMIT = np.iinfo(np.int64).max


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
    none, ones = np.zeros(count, np.int64), np.ones(count, np.int64)
    cpu, start = np.array(places or list(zip(none, ready, strict=True))).reshape(-1, 2).T
    task = np.arange(count)
    for dispatch in range(count):
        if previous[dispatch] != NONE:
            task[dispatch] = task[previous[dispatch]]
    block_cpu, block_start, block_end, evicts = np.array(sorted(blocks), np.int64).reshape(-1, 4).T
    of_blocks = np.zeros(len(blocks), np.int64)
    cut_cpu, cut_time = np.array(sorted(cuts), np.int64).reshape(-1, 2).T
    ends = np.where(previous == NONE, -NO_LIMIT, (start + length)[previous])
    return Arrivals(
        cpus=cpus,
        cpu_number=np.arange(cpus, dtype=np.int32),
        row=np.arange(count),
        fragment=fragment.astype(np.int32),
        task=task.astype(np.int32),
        cpu=cpu.astype(np.int32),
        start=start,
        length=length,
        ready_from=ready,
        ready_by=ready,
        previous=previous,
        previous_end=ends,
        waker=waker,
        waker_offset=offset,
        continues=np.zeros(count, bool),
        latest=np.array(latest or [NO_LIMIT] * count, np.int64),
        costs=SwitchCosts(
            entry=ones, exit=none, always=none, first=none, last=none,
            matrix=np.zeros((0, 0), np.int64),
        ),
        blocks=Blocks(
            row=np.full(len(blocks), NONE),
            cpu=block_cpu.astype(np.int32), start=block_start, end=block_end,
            evicts=evicts.astype(bool), entry=of_blocks, exit=of_blocks,
            first=of_blocks, last=of_blocks,
        ),
        cut_cpu=cut_cpu.astype(np.int32),
        cut_time=cut_time,
    )  # fmt: skip


def drawn_arrivals(seed, *, count=12, limits=False):
    """Return random arrivals of some tasks that wake each other, with blocks and cuts."""
    random = Random(seed)
    cpus = random.randint(1, 3)
    tasks, fragments = random.randint(1, 6), random.randint(1, 4)
    last = [NONE] * tasks
    ready, dispatches = 0, []
    for row in range(random.randint(1, count)):
        task = random.randrange(tasks)
        waker = random.randrange(row) if row and random.random() < 0.4 else NONE
        length = random.choice((0, 1, 3, 8, 20))
        ready += random.choice((0, 1, 5, 12))
        offset = 0
        if waker != NONE and dispatches[waker][2]:
            offset = random.randint(1, dispatches[waker][2])
        fragment = random.randrange(fragments)
        dispatches.append((fragment, ready, length, last[task], waker, offset))
        last[task] = row
    blocks = []
    for cpu in range(cpus):
        time = random.randint(-5, 30)
        while random.random() < 0.6:
            end = time + random.randint(1, 15)
            blocks.append((cpu, time, end, random.random() < 0.3))
            time = end + random.randint(0, 40)
    cuts = [(cpu, random.randint(0, 80)) for cpu in range(cpus) if random.random() < 0.3]
    given = arrivals_with(dispatches, cpus=cpus, blocks=blocks, cuts=cuts)
    if not limits:
        return given
    # Whatever the rule makes of them is a possible recording.
    recorded = run_patiently(given, random.choice((0, 5, 30)))
    order = np.lexsort((np.arange(len(given)), given.length > 0, recorded.start))
    rank = np.append(np.argsort(order), NONE)
    latest = [
        int(start) + random.choice((0, 2, 10)) if random.random() < 0.4 else NO_LIMIT
        for start in recorded.start[order]
    ]
    again = [
        (*dispatches[row][:3], *rank[list(dispatches[row][3:5])], dispatches[row][5])
        for row in order
    ]
    places = [(recorded.cpu[row], recorded.start[row]) for row in order]
    return arrivals_with(again, cpus=cpus, blocks=blocks, cuts=cuts, latest=latest, places=places)


def faults(arrivals, schedule):
    """Return what a schedule does that no schedule of these arrivals may do."""
    found = []
    spans = [[] for _ in range(arrivals.cpus)]
    blocks = arrivals.blocks
    for cpu, start, end in zip(blocks.cpu, blocks.start, blocks.end, strict=True):
        spans[cpu].append((start, end))
    for row, (cpu, start) in enumerate(zip(schedule.cpu, schedule.start, strict=True)):
        spans[cpu].append((start, start + arrivals.length[row]))
        previous, waker = arrivals.previous[row], arrivals.waker[row]
        if start < arrivals.ready_by[row]:
            found.append(f"{row} starts before it is ready")
        if previous != NONE and start < schedule.start[previous] + arrivals.length[previous]:
            found.append(f"{row} starts before {previous} ends")
        if waker != NONE and start < schedule.start[waker] + arrivals.waker_offset[row]:
            found.append(f"{row} starts before {waker} wakes it")
        if start > arrivals.latest[row]:
            found.append(f"{row} is late")
    for cpu, runs in enumerate(spans):
        runs.sort()
        for (_, end), (start, _) in pairwise(runs):
            if start < end:
                found.append(f"two overlap on CPU {cpu} at {start}")
    return found
