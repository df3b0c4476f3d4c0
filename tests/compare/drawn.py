"""Hypothesis strategies: short traces with labels, the costs for them, and windows."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from dfopt.compare import CostModel, Window
from dfopt.compare.written_times import WHOLE, WindowKind
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.trace import Trace
from dfopt.trace.trace import BROKEN_CHAIN, LOST_EVENTS
from tests.strategies import FRAGMENTS, penalties
from tests.trace.traces import trace_from_rows

TASKS = ("t", "u", "v")

windows = (
    st.just(WHOLE)
    | st.integers(1, 4).map(
        lambda length: Window(kind=WindowKind.DISPATCHES, length=length, label=str(length))
    )
    | st.integers(1, 6).map(
        lambda length: Window(kind=WindowKind.TIME, length=length, label=f"{length}ns")
    )
)


@st.composite
def labelled_traces(
    draw: st.DrawFn, *, most: int = 8, cpus: int = 3, mixed: bool = True, gaps: bool = True
) -> Trace:
    """Draw a trace with at least one managed dispatch, and at most ``most`` of all kinds.

    Parameters
    ----------
    most, cpus
        Limits on the numbers of dispatches and CPUs.
    mixed
        Whether dispatches may say how they leave their fragments.
    gaps
        Whether something may be missing.
    """
    number = draw(st.integers(1, cpus))
    clocks = [draw(st.integers(0, 3)) for _ in range(number)]
    rows: list[tuple[Any, ...]] = []
    stretches = []
    leaves = st.none() | st.sampled_from(Leaves) if mixed else st.none()
    for place in range(draw(st.integers(1, most))):
        cpu = draw(st.integers(0, number - 1))
        begin = clocks[cpu]
        if gaps and draw(st.integers(0, 5)) == 0:
            begin += draw(st.integers(1, 3))
            reason = draw(st.sampled_from((LOST_EVENTS, BROKEN_CHAIN)))
            stretches.append((cpu, clocks[cpu], begin, reason))
        end = begin + draw(st.integers(0, 3))
        df = draw(st.sampled_from((*FRAGMENTS, None)) if place else st.sampled_from(FRAGMENTS))
        task = draw(st.sampled_from(TASKS))
        rows.append((cpu, begin, end, task, df, draw(st.integers(0, 4)), draw(leaves)))
        clocks[cpu] = end + draw(st.integers(0, 2))
    rows.sort(key=lambda row: row[1])
    return trace_from_rows(rows, cpus=number, gaps=stretches)


def models(
    *, unmanaged: tuple[str, ...] = ("transparent", "evict"), **fixed: Any
) -> st.SearchStrategy[CostModel]:
    """Draw costs; ``fixed`` are parameters of the model that are given."""
    given: dict[str, Any] = {
        "penalty": penalties(("f", "g")),
        "leaves": st.sampled_from(Leaves),
        "objective": st.sampled_from((Objective.TOTAL_PENALTY, Objective.MAX_PENALTY)),
        "cold_start": st.booleans(),
        "final_write_back": st.booleans(),
        "unmanaged": st.sampled_from(unmanaged),
        "broken_chains": st.sampled_from(("bridge", "cut")),
    }
    given.update((name, st.just(value)) for name, value in fixed.items())
    return st.builds(CostModel, **given)


@st.composite
def matrix_models(draw: st.DrawFn, types: Sequence[str] = FRAGMENTS) -> CostModel:
    """Draw costs under a matrix of all fragments, with costs at its ends."""
    row = st.tuples(*(st.integers(0, 6) for _ in types))
    matrix = PenaltyMatrix(
        types=tuple(types),
        switch=tuple(draw(row) for _ in types),
        start=draw(st.none() | row),
        finish=draw(st.none() | row),
    )
    return draw(models(unmanaged=("transparent",), penalty=matrix))
