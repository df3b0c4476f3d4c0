"""Hypothesis strategies: short traces with labels, the costs for them, and windows."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from dfopt.compare import CostModel, Window
from dfopt.compare.window_length import WHOLE, WindowKind
from dfopt.compare.windows.window import (
    CLEAN,
    DIRTY,
    EMPTY,
    FOREIGN,
    INVALIDATED,
    UNKNOWN,
    Cache,
    DispatchClass,
    WindowProblem,
)
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Objective
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


def classes(dispatches: Iterable[tuple[int, int]]) -> tuple[DispatchClass, ...]:
    """Return classes of dispatches, given as entry and leave state."""
    counts = sorted(Counter(dispatches).items())
    return tuple(DispatchClass(entry, leaves, count) for (entry, leaves), count in counts)


@st.composite
def window_problems(
    draw: st.DrawFn, *, most: int = 5, uniform: bool, evicts: bool = True
) -> WindowProblem:
    """Draw a window with at most ``most`` dispatches, evicting ones included.

    Parameters
    ----------
    most
        Limit on the number of dispatches.
    uniform
        Whether all dispatches leave their fragments in the same state.
    evicts
        Whether something may evict, which no instance can say.
    """
    cpus = draw(st.integers(1, 3))
    count = draw(st.integers(1, most))
    write_back = draw(st.sampled_from((0, 1, 3, 5) if uniform else (1, 3, 5)))
    states = st.sampled_from((CLEAN, DIRTY, INVALIDATED))
    if uniform:
        states = st.just(DIRTY if write_back else CLEAN)
    entries = st.just(draw(st.integers(0, 4))) if draw(st.booleans()) else st.integers(0, 4)
    dispatch = st.tuples(entries, states)
    fragments: list[list[tuple[int, int]]] = [[], [], []]
    evicting: list[list[tuple[int, int]]] = [[] for _ in range(cpus)]
    homes = fragments if not evicts or draw(st.booleans()) else [*fragments, *evicting]
    fragments[0].append(draw(dispatch))
    for _ in range(count - 1):
        draw(st.sampled_from(homes)).append(draw(dispatch))
    used = [own for own in fragments if own]
    managed = sum(map(len, used))
    final = draw(st.booleans())
    held = st.builds(Cache, st.sampled_from((FOREIGN, *range(len(used)))), states)
    caches = st.sampled_from([UNKNOWN, EMPTY]) | held
    return WindowProblem(
        capacity=draw(st.integers(-(-managed // cpus), managed)),
        fragments=tuple(map(classes, used)),
        states=tuple(draw(caches) for _ in range(cpus)),
        write_back=write_back,
        evicting=tuple(map(classes, evicting)) if any(evicting) else (),
        final=final,
        by_worst=draw(st.booleans()),
    )
