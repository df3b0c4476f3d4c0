"""Growth of the dynamic program with the number of tasks, for fixed numbers of CPUs.

The start is the worst schedule that is easily written down, every switch between fragments, so
that next to no state is dropped because of a good incumbent: what is shown is the program's own
growth, not the luck of its first schedule.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import pytest

from dfopt import Instance, Leaves, PenaltyF, PenaltyG, Task
from dfopt.solvers.dp import DynamicProgram, States
from dfopt.solvers.search import Search
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

G = PenaltyG(fill=2, write_back=1)
F = PenaltyF(read_line=1, write_back=1)
THREE_KINDS = ((1, Leaves.CLEAN), (2, Leaves.DIRTY), (1, Leaves.INVALIDATED))
TWO_KINDS = ((1, Leaves.CLEAN), (1, Leaves.INVALIDATED))


class Case(NamedTuple):
    """A sequence of instances: tasks in turn of each fragment, and of each kind in a fragment."""

    penalty: PenaltyF | PenaltyG
    cpus: int
    fragments: int
    kinds: tuple[tuple[int, Leaves], ...]
    sizes: tuple[int, ...]
    exponent: int | None
    """Ours in n; None where the sizes within reach are too small for a fit to mean anything."""

    def instance(self, tasks: int) -> Instance:
        kinds = [self.kinds[i // self.fragments % len(self.kinds)] for i in range(tasks)]
        return Instance(
            cpus=self.cpus,
            penalty=self.penalty,
            tasks=tuple(
                Task(id=f"t{i}", df=f"DF{i % self.fragments}", lines=lines, leaves=leaves)
                for i, (lines, leaves) in enumerate(kinds)
            ),
        )


CASES = {
    "g-m2": Case(G, 2, 4, TWO_KINDS, (32, 64, 128, 256, 512), 2),
    "g-m3": Case(G, 3, 4, TWO_KINDS, (24, 36, 54, 80), 3),
    "f-m2": Case(F, 2, 2, THREE_KINDS, (12, 18, 27, 40), 3),
    "f-m3": Case(F, 3, 2, TWO_KINDS, (6, 8, 10, 12), None),
}


class CountingProgram(DynamicProgram):
    """The program, counting the states that it keeps."""

    kept = 0
    widest = 0

    def _added(self, states: States, position: int) -> States:
        added = super()._added(states, position)
        self.kept += added.shape[1]
        self.widest = max(self.widest, added.shape[1])
        return added


def badly_started(instance: Instance) -> Search:
    """Return a search whose schedule changes fragments as often as it can."""
    search = Search(instance)
    by_fragment: dict[str | None, list[int]] = {}
    for kind, one in enumerate(search.types):
        by_fragment.setdefault(one.example.df, []).extend([kind] * one.count)
    dealt = [k for turn in zip_longest(*by_fragment.values()) for k in turn if k is not None]
    size = instance.tasks_per_cpu
    search.found([dealt[cpu * size : (cpu + 1) * size] for cpu in range(instance.cpus)])
    return search


def measured(instance: Instance) -> tuple[float, int, int]:
    """Return the seconds, and how many states were kept in all and at most at a time."""
    search = badly_started(instance)
    program = CountingProgram(search)
    seconds, _ = timed(program.run)
    assert search.is_closed
    return seconds, program.kept, program.widest


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the slope of the least-squares line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


@pytest.mark.parametrize("name", CASES)
def test_growth(name: str, report: Callable[[Table], None]) -> None:
    case = CASES[name]
    rows = []
    for tasks in case.sizes:
        seconds, kept, widest = measured(case.instance(tasks))
        # The paper counts loads alone, for its own penalty g.
        paper = case.fragments * tasks**case.cpus / case.cpus ** (case.cpus - 1)
        rows.append([tasks, kept, widest, seconds, kept / paper])
    states = exponent(case.sizes, [row[1] for row in rows])
    time = exponent(case.sizes, [row[3] for row in rows])
    if isinstance(case.penalty, PenaltyG):
        ours = f"n^{case.cpus}, since C ≤ d + 1"
    else:
        ours = f"n^{2 * case.cpus - 1}, {case.cpus - 1} of it from costs C that grow with n"
    notes = [
        f"least-squares exponents in n: states {states:.2f}, time {time:.2f}",
        f"our bound O(n·k^(m−1)·C^(m−1)) for fixed d: {ours}; "
        f"the paper's O(d·n^m/m^(m−1)), loads alone: n^{case.cpus}",
        f"tasks of (lines, leaves) {', '.join(f'({n}, {state})' for n, state in case.kinds)} in "
        "turn, from a start that changes fragments as often as it can, so that the incumbent "
        "prunes next to nothing",
    ]
    if case.exponent is None:
        notes.append(
            "sizes within reach are far from the asymptotic range (CPUs of 2 to 4 tasks, whose "
            "ends are most of their state): the fit says nothing about it"
        )
    report(
        Table(
            name=f"dp-{name}",
            title=f"Dynamic program: {name[0]}, m = {case.cpus}, d = {case.fragments}",
            command=f"python -m pytest tests/benchmarks/test_dp_growth.py -k {name}",
            columns=["n", "states", "largest layer", "time, s", "states / (d·n^m/m^(m−1))"],
            rows=rows,
            notes=notes,
        )
    )
    if case.exponent is not None:
        assert states <= case.exponent + 0.4
