"""How the dynamic program grows with the number of tasks, for fixed numbers of CPUs.

The start is the worst schedule that is easily written down, every switch between fragments, so
that next to no state is dropped because of a good incumbent: what is shown is the program's own
growth, not the luck of its first schedule.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest

import numpy as np
import pytest

from dfopt import Instance, PenaltyF, PenaltyG
from dfopt.generate import uniform
from dfopt.solvers.dp.program import DynamicProgram, States
from dfopt.solvers.search import Search
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

FRAGMENTS = 4
F = PenaltyF(read_line=1, write_back=2)
G = PenaltyG(fill=2, write_back=1)
CASES = [
    ("g", G, 2, (16, 32, 64, 128, 256)),
    ("g", G, 3, (12, 18, 27, 40, 60)),
    ("f", F, 2, (12, 18, 27, 40, 60)),
    ("f", F, 3, (6, 9, 12, 15)),
]
SEEDS = range(3)


class CountingProgram(DynamicProgram):
    """The program, counting the states that it keeps."""

    kept = 0
    widest = 0

    def _added(self, states: States, kind: int, to_come: int, *, ends_fragment: bool) -> States:
        added = super()._added(states, kind, to_come, ends_fragment=ends_fragment)
        self.kept += len(added)
        self.widest = max(self.widest, len(added))
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


@pytest.mark.parametrize(
    ("kind", "penalty", "cpus", "sizes"), CASES, ids=[f"{case[0]}-m{case[2]}" for case in CASES]
)
def test_growth(
    kind: str,
    penalty: PenaltyF | PenaltyG,
    cpus: int,
    sizes: tuple[int, ...],
    report: Callable[[Table], None],
) -> None:
    rows = []
    for tasks in sizes:
        runs = [
            measured(
                uniform(
                    tasks=tasks, cpus=cpus, fragments=FRAGMENTS, penalty=penalty, lines=4, seed=seed
                )
            )
            for seed in SEEDS
        ]
        seconds, kept, widest = (float(np.median(column)) for column in zip(*runs, strict=True))
        # The paper counts loads alone, for its own penalty g.
        paper = FRAGMENTS * tasks**cpus / cpus ** (cpus - 1)
        rows.append([tasks, int(kept), int(widest), seconds, kept / paper])
    states = exponent(sizes, [row[1] for row in rows])
    time = exponent(sizes, [row[3] for row in rows])
    bound = cpus if kind == "g" else 2 * cpus - 1
    report(
        Table(
            name=f"dp-{kind}-m{cpus}",
            title=f"Dynamic program: {kind}, m = {cpus}, d = {FRAGMENTS}",
            command=f"python -m pytest tests/benchmarks/test_dp_growth.py -k {kind}-m{cpus}",
            columns=["n", "states", "largest layer", "time, s", "states / (d·n^m/m^(m−1))"],
            rows=rows,
            notes=[
                f"fitted exponents in n: states {states:.2f}, time {time:.2f}",
                f"our bound, O(m·n^m·C^(m−1)): exponent {bound} at most for fixed d"
                + (
                    ", since C ≤ d + 1"
                    if kind == "g"
                    else f", {cpus} from the loads and {cpus - 1} from costs C that grow with n"
                ),
                f"the paper's O(d·n^m/m^(m−1)), loads alone: exponent {cpus}",
                f"medians of {len(SEEDS)} seeds of the family uniform, from a start that changes "
                "fragments as often as it can, so that the incumbent prunes next to nothing",
            ],
        )
    )
    assert states <= bound + 0.3
