"""Tiny recordings of managed dispatches, built around a random schedule that keeps all rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare.attainable.check import WaitingLimit
from dfopt.compare.dispatches import NONE, TRANSPARENT, Dispatches
from dfopt.trace.trace import UNMANAGED
from tests.compare.attainable.tables import ALWAYS, NEVER, table

COST_KINDS = ("counting", "g", "f", "matrix")

seeds = st.integers(0, 2**32)
"""Seeds of small numbers do not give smaller recordings, so Hypothesis names any that fails."""


@dataclass(slots=True)
class DrawnDispatch:
    task: int
    fragment: int
    cpu: int
    start: int
    length: int
    ready_from: int
    ready_by: int
    previous: int
    previous_end: int
    waker: int
    waker_offset: int
    continues: bool
    latest: int = ALWAYS


@dataclass(slots=True)
class DrawnBlock:
    cpu: int
    start: int
    end: int
    evicts: bool
    cut: int | None


@dataclass(slots=True)
class Recording:
    """What has been recorded; dispatches in the order in which they were drawn."""

    free: list[int]
    dispatches: list[DrawnDispatch] = field(default_factory=list)
    blocks: list[DrawnBlock] = field(default_factory=list)
    last: dict[int, int] = field(default_factory=dict)
    """The last dispatch of each task."""
    free_task: dict[int, int] = field(default_factory=dict)
    """When the last dispatch of each task ended, managed or not."""


def random_arrivals(  # noqa: PLR0913
    random: Random,
    *,
    most: int = 7,
    most_cpus: int = 3,
    costs: str | None = None,
    blocks: bool = True,
    zero_lengths: bool = True,
) -> Dispatches:
    """Draw 3 to ``most`` dispatches on 1 to ``most_cpus`` CPUs; their recorded schedule is valid.

    Parameters
    ----------
    random
        Where the numbers come from.
    costs
        One of ``COST_KINDS``; None: draw that, too.
    blocks
        Whether there may be blocks and cuts.
    zero_lengths
        Whether dispatches may take no time.
    """
    cpus, fragments = random.randint(1, most_cpus), random.randint(2, 5)
    dispatches = random.randint(3, most)
    tasks = random.randint(1, dispatches)
    costs = costs or random.choice(COST_KINDS)
    own_fragment = [random.randrange(fragments) for _ in range(tasks)]
    shortest = 0 if zero_lengths and random.random() < 0.1 else 1
    block_share = 0.2 if blocks and random.random() < 0.5 else 0.0
    recording = Recording(free=[random.randint(0, 2) for _ in range(cpus)])
    while len(recording.dispatches) < dispatches:
        if random.random() < block_share:
            _add_block(random, recording, evicts=costs != "matrix" and random.random() < 0.4)
        else:
            task = random.randrange(tasks)
            fragment = own_fragment[task]
            if random.random() < 0.15:
                fragment = random.randrange(fragments)
            _add_dispatch(random, recording, task, fragment, random.randint(shortest, 6))
    return _arrivals(random, recording, fragments, costs)


def _add_block(random: Random, recording: Recording, *, evicts: bool) -> None:
    """Add something that keeps its place; sometimes it is a dispatch of a task without fragment."""
    cpu = random.randrange(len(recording.free))
    start = recording.free[cpu] + random.choice((0, 0, 1, 3))
    cut = None
    if recording.free_task and random.random() < 0.3:
        task = random.choice(sorted(recording.free_task))
        start = max(start, recording.free_task[task])
        before = recording.dispatches[recording.last[task]]
        before.latest = min(before.latest, start - before.length)
        end = start + random.randint(1, 5)
        recording.free_task[task] = end
    else:
        end = start + random.randint(1, 5)
        if random.random() < 0.3:
            cut = random.randint(start + 1, end)
    recording.blocks.append(DrawnBlock(cpu, start, end, evicts, cut))
    recording.free[cpu] = end


def _add_dispatch(
    random: Random, recording: Recording, task: int, fragment: int, length: int
) -> None:
    """Add a dispatch of a task to the recording."""
    earlier = recording.dispatches
    cpu = random.randrange(len(recording.free))
    previous = recording.last.get(task, NONE)
    task_end = recording.free_task.get(task, 0)
    ready_from = ready_by = task_end
    waker, offset, continues = NONE, 0, False
    wakers = [
        number
        for number, other in enumerate(earlier)
        if other.task != task and other.start + other.length >= task_end
    ]
    how = random.random()
    missing = False
    if previous != NONE and earlier[previous].start + earlier[previous].length == task_end:
        continues = how < 0.2
    if continues:
        ready_from, ready_by = earlier[previous].ready_from, earlier[previous].ready_by
        fragment = earlier[previous].fragment
    elif how < 0.5 and wakers:
        waker = random.choice(wakers)
        woken = earlier[waker]
        offset = random.randint(max(0, task_end - woken.start), woken.length)
        # A dispatch of no length stands before one that starts with it; it is not woken by that.
        offset = max(offset, min(1, woken.length)) if length == 0 else offset
        ready_from = ready_by = woken.start + offset
    elif how < 0.6:
        missing = True
    else:
        ready_from = ready_by = task_end + random.choice((0, 0, 1, 2, 5))
    start = max(ready_by, task_end, recording.free[cpu]) + random.choice((0, 0, 0, 1, 4))
    if missing:
        ready_by = start
    recording.last[task] = len(earlier)
    recording.free[cpu] = recording.free_task[task] = start + length
    earlier.append(
        DrawnDispatch(
            task=task,
            fragment=fragment,
            cpu=cpu,
            start=start,
            length=length,
            ready_from=ready_from,
            ready_by=ready_by,
            previous=previous,
            previous_end=task_end if previous != NONE else NEVER,
            waker=waker,
            waker_offset=offset,
            continues=continues,
        )
    )
    if random.random() < 0.05:
        earlier[-1].latest = start + random.randint(0, 8)


def _arrivals(random: Random, recording: Recording, fragments: int, costs: str) -> Dispatches:
    """Return the recording as columns, ordered by start."""
    drawn = recording.dispatches
    order = sorted(
        range(len(drawn)),
        key=lambda number: (drawn[number].start, drawn[number].length > 0),
    )
    row_of = {number: row for row, number in enumerate(order)} | {NONE: NONE}
    ordered = [drawn[number] for number in order]
    blocks = sorted(recording.blocks, key=lambda block: (block.cpu, block.start))
    cuts = [(block.cpu, block.cut) for block in blocks if block.cut is not None]
    cpus = len(recording.free)
    names = (
        "task", "fragment", "cpu", "start", "length", "ready_from", "ready_by", "previous_end",
        "waker_offset", "continues", "latest",
    )  # fmt: skip
    of_costs, matrix = _costs(random, [one.fragment for one in ordered], fragments, costs)
    evicts = [block.evicts for block in blocks]
    around = table(
        start=[block.start for block in blocks],
        length=[block.end - block.start for block in blocks],
        row=np.arange(len(blocks)) * 2,
        cpu=[block.cpu for block in blocks],
        fragment=np.where(evicts, UNMANAGED, TRANSPARENT),
        entry=[random.randint(0, 1) * one for one in evicts],
        exit=[random.randint(0, 2) * one for one in evicts],
        first=[random.randint(0, 1) * one for one in evicts],
        last=[random.randint(0, 1) * one for one in evicts],
    )
    found = table(
        cpus=cpus,
        row=np.arange(len(ordered)) * 2 + 1,
        previous=[row_of[one.previous] for one in ordered],
        waker=[row_of[one.waker] for one in ordered],
        **{name: [getattr(one, name) for one in ordered] for name in names},
        **of_costs,
        matrix=matrix,
        cuts=cuts,
        around=around,
    )
    return replace(found, cpu_number=tuple(2 * cpu + 1 for cpu in range(cpus)))


def _costs(
    random: Random, of: list[int], fragments: int, costs: str
) -> tuple[dict[str, list[int]], np.ndarray]:
    """Draw costs and a matrix; ``of`` has the fragment of each dispatch."""
    entry, leaving, always = ([0] * len(of) for _ in range(3))
    matrix = np.zeros((0, 0), np.int64)
    if costs == "counting":
        entry = [1] * len(of)
    elif costs == "g":
        weights = [random.randint(1, 5) for _ in range(fragments)]
        entry = [weights[fragment] for fragment in of]
    elif costs == "f":
        read, write = random.randint(1, 3), random.randint(1, 3)
        entry = [read * random.randint(0, 3) for _ in of]
        for row in range(len(of)):
            state = random.choice(("clean", "dirty", "invalidated"))
            leaving[row] = write if state == "dirty" else 0
            always[row] = write if state == "invalidated" else 0
    else:
        cells = [[random.randint(0, 4) for _ in range(fragments)] for _ in range(fragments)]
        matrix = np.array(cells, np.int64)
        if random.random() < 0.7:
            np.fill_diagonal(matrix, 0)
    cold = random.random() < 0.3 and costs != "matrix"
    final = random.random() < 0.3
    zero = [0] * len(of)
    last = [one + other for one, other in zip(leaving, always, strict=True)]
    return {
        "entry": entry,
        "exit": leaving,
        "always": always,
        "first": entry if cold else zero,
        "last": last if final else zero,
    }, matrix


def random_limit(random: Random, arrivals: Dispatches, *, budgets: bool = False) -> WaitingLimit:
    """Draw a limit that the recorded schedule keeps.

    Parameters
    ----------
    random
        Where the numbers come from.
    arrivals
        What was recorded.
    budgets
        Whether the limit may concern all waits together.
    """
    each = random.choice((0, 0, 2, 5, 10, 30))
    if not budgets:
        return WaitingLimit(each=each)
    waits = arrivals.waits
    long = int(random.choice((0, 1, 3, int(waits.max()))))
    counts = random.random() < 0.5
    return WaitingLimit(
        each=random.choice((each, None)),
        total=int(waits.sum()) + random.choice((0, 0, 3)) if random.random() < 0.7 else None,
        long=long if counts else None,
        most_long=int((waits > long).sum()) if counts else None,
    )


def drawn_arrivals(**options: object) -> st.SearchStrategy[Dispatches]:
    """Draw arrivals; options as in :func:`random_arrivals`."""
    return seeds.map(lambda seed: random_arrivals(Random(seed), **options))  # type: ignore[arg-type]


def drawn_cases(
    *, budgets: bool = False, **options: object
) -> st.SearchStrategy[tuple[Dispatches, WaitingLimit]]:
    """Draw arrivals, and a limit that their recorded schedule keeps."""
    return seeds.map(lambda seed: random_case(seed, budgets=budgets, **options))


def random_case(
    seed: int, *, budgets: bool = False, **options: object
) -> tuple[Dispatches, WaitingLimit]:
    """Return the arrivals that belong to a seed, and a limit that their recorded schedule keeps."""
    random = Random(seed)
    arrivals = random_arrivals(random, **options)  # type: ignore[arg-type]
    return arrivals, random_limit(random, arrivals, budgets=budgets)
