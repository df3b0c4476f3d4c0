"""The costs that traces paid, against a simulator of every dispatch in turn."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from dfopt.compare import Cause, CostModel
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.paid import (
    CAUSES,
    causes_of,
    charges_of,
    cpu_results,
    fragment_results,
    realised_of,
    switches_of,
)
from dfopt.errors import DfoptError, InstanceError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace import Trace
from dfopt.trace.trace import BROKEN_CHAIN, LOST_EVENTS, UNMANAGED
from tests.compare.drawn import labelled_traces, matrix_models, models
from tests.compare.naive import costs_by_row, switches
from tests.trace.traces import trace_from_rows

F = PenaltyF(read_line=1, write_back=10)
G = PenaltyG(fill=100, write_back=10)


@given(labelled_traces(), models() | matrix_models())
def test_realised_is_what_the_caches_of_its_cpus_charge(trace: Trace, model: CostModel) -> None:
    dispatches = dispatches_of(trace, model)
    charges = charges_of(dispatches, model)
    paid: Counter[int] = Counter()
    for dispatch, cost in zip(charges.dispatch.tolist(), charges.cost.tolist(), strict=True):
        paid[int(dispatches.row[dispatch])] += cost
    expected = costs_by_row(trace, model)
    assert paid == Counter({row: cost for row, cost in expected.items() if cost})
    by_cpu = [0] * trace.cpus
    for row, cost in expected.items():
        by_cpu[trace.cpu[row]] += cost
    realised = realised_of(dispatches, charges)
    assert (realised.total, realised.worst) == (sum(by_cpu), max(by_cpu))
    assert realised.switches == switches(trace, model)
    cpus = cpu_results(trace, dispatches, charges)
    assert [cpu.cost for cpu in cpus] == by_cpu
    assert sum(cpu.switches for cpu in cpus) == realised.switches
    assert sum(cpu.dispatches for cpu in cpus) == len(trace)
    assert sum(cpu.run_time for cpu in cpus) == trace.run_time


@given(labelled_traces(), models())
def test_causes_add_up(trace: Trace, model: CostModel) -> None:
    dispatches = dispatches_of(trace, model)
    charges = charges_of(dispatches, model)
    causes = causes_of(charges)
    assert sum(causes.values()) == realised_of(dispatches, charges).total
    cpus = cpu_results(trace, dispatches, charges)
    fragments = fragment_results(trace, dispatches, charges)
    unmanaged = causes_of(charges, charges.fragment < 0)
    for cause in Cause:
        assert causes[cause] == sum(cpu.causes[cause] for cpu in cpus)
        of_fragments = sum(fragment.causes[cause] for fragment in fragments)
        assert causes[cause] == of_fragments + unmanaged[cause]
    assert all(one.cost == sum(one.causes.values()) for one in (*cpus, *fragments))
    assert sum(fragment.dispatches for fragment in fragments) == dispatches.managed.sum()
    assert [fragment.cost for fragment in fragments] == sorted(
        (fragment.cost for fragment in fragments), reverse=True
    )


def charged(
    rows: list[tuple[Any, ...]], model: CostModel, *, cpus: int = 2, gaps: Any = ()
) -> list[tuple[int, str, Cause, int]]:
    """Return the charges of rows (CPU, task, fragment[, lines, leaves]) that run one by one.

    They are rows (dispatch, fragment or "", cause, cost).
    """
    full = [
        (cpu, 10 * place, 10 * place + 10, task, df, *(rest or (None, None)))
        for place, (cpu, task, df, *rest) in enumerate(rows)
    ]
    trace = trace_from_rows(full, cpus=cpus, gaps=gaps)
    dispatches = dispatches_of(trace, model)
    charges = charges_of(dispatches, model)

    def named(fragment: int) -> str:
        return "" if fragment == UNMANAGED else trace.fragments[fragment]

    return sorted(
        (
            int(dispatches.row[charges.dispatch[number]]),
            named(charges.fragment[number]),
            CAUSES[charges.cause[number]],
            int(charges.cost[number]),
        )
        for number in range(len(charges.dispatch))
    )


COUNTING = CostModel()


def test_first_load() -> None:
    assert charged([(0, "t", "A"), (0, "u", "B")], COUNTING) == [(1, "B", Cause.FIRST_LOAD, 1)]


def test_revisited() -> None:
    rows = [(0, "t", "A"), (0, "u", "B"), (0, "t", "A")]
    assert charged(rows, COUNTING)[-1] == (2, "A", Cause.REVISITED, 1)


def test_split() -> None:
    # A was last used by t on CPU 0; u, which never ran elsewhere, reads it on CPU 1 as well.
    rows = [(0, "t", "A"), (1, "u", "B"), (1, "u", "A")]
    assert charged(rows, COUNTING) == [(2, "A", Cause.SPLIT, 1)]


def test_split_by_a_task_that_never_ran() -> None:
    rows = [(0, "t", "A"), (1, "u", "B"), (1, "new", "A")]
    assert charged(rows, COUNTING) == [(2, "A", Cause.SPLIT, 1)]


def test_migration() -> None:
    rows = [(0, "t", "A"), (1, "u", "B"), (1, "t", "A")]
    assert charged(rows, COUNTING) == [(2, "A", Cause.MIGRATION, 1)]


def test_a_task_that_comes_home_finds_its_fragment_moved_away() -> None:
    # t moves to CPU 1 and back; what counts is where the fragment was used last.
    rows = [(0, "t", "A"), (0, "u", "B"), (1, "t", "A"), (0, "t", "A")]
    assert charged(rows, COUNTING)[-1] == (3, "A", Cause.MIGRATION, 1)


def test_unmanaged_tasks_evict_if_they_may() -> None:
    rows = [(0, "t", "A"), (0, "x", None), (0, "y", None), (0, "t", "A")]
    assert charged(rows, COUNTING) == []
    evicting = CostModel(unmanaged="evict", penalty=G)
    assert charged(rows, evicting) == [
        (1, "", Cause.UNMANAGED, 100),
        (1, "A", Cause.WRITE_BACK, 10),
        (2, "", Cause.UNMANAGED, 100),
        (2, "", Cause.WRITE_BACK, 10),
        (3, "", Cause.WRITE_BACK, 10),
        (3, "A", Cause.REVISITED, 100),
    ]


def test_write_back_belongs_to_the_fragment_that_leaves() -> None:
    rows = [
        (0, "t", "A", 3, "dirty"),
        (0, "u", "B", 4, "clean"),
        (0, "t", "A", 3, "invalidated"),
        (0, "t", "A", 3, "dirty"),
    ]
    assert charged(rows, CostModel(penalty=F, final_write_back=True)) == [
        (1, "A", Cause.WRITE_BACK, 10),
        (1, "B", Cause.FIRST_LOAD, 4),
        (2, "A", Cause.REVISITED, 3),
        (3, "A", Cause.WRITE_BACK, 10),
        (3, "A", Cause.WRITE_BACK, 10),
    ]


def test_cold_caches_are_read_on_every_cpu() -> None:
    rows = [(0, "t", "A", 3, "dirty"), (1, "u", "A", 3, "dirty"), (0, "t", "A", 3, "dirty")]
    assert charged(rows, CostModel(penalty=F, cold_start=True)) == [
        (0, "A", Cause.FIRST_LOAD, 3), (1, "A", Cause.SPLIT, 3),
    ]  # fmt: skip
    assert charged([(0, "t", "A")], CostModel(penalty=G, cold_start=True)) == [
        (0, "A", Cause.FIRST_LOAD, 100), (0, "A", Cause.WRITE_BACK, 10),
    ]  # fmt: skip


ROWS_ROUND_A_GAP = [(0, "t", "A"), (1, "t", "A"), (0, "u", "B")]


@pytest.mark.parametrize(
    ("reason", "broken_chains", "switches"),
    [
        (LOST_EVENTS, "bridge", 0),
        (LOST_EVENTS, "cut", 0),
        (BROKEN_CHAIN, "bridge", 1),
        (BROKEN_CHAIN, "cut", 0),
    ],
)
def test_nothing_is_claimed_across_a_gap(reason: str, broken_chains: Any, switches: int) -> None:
    model = CostModel(broken_chains=broken_chains)
    found = charged(ROWS_ROUND_A_GAP, model, gaps=[(0, 10, 20, reason)])
    assert len(found) == switches


def test_one_dispatch_after_a_gap_costs_nothing() -> None:
    rows = [(0, 30, 40, "t", "A", None, None)]
    trace = trace_from_rows(rows, cpus=1, gaps=[(0, 0, 30, LOST_EVENTS)])
    model = CostModel(cold_start=True)
    dispatches = dispatches_of(trace, model)
    assert not charges_of(dispatches, model).cost.size
    assert not switches_of(dispatches).changes.any()


def test_a_trace_without_fragments_is_refused() -> None:
    trace = trace_from_rows([(0, 0, 10, "t", None, None, None)])
    with pytest.raises(DfoptError, match="no dispatch has a fragment"):
        dispatches_of(trace, COUNTING)


def test_lines_must_be_known_wherever_they_are_paid_for() -> None:
    rows = [(0, 0, 10, "t", "A", 3, None), (0, 10, 20, "x", None, None, None)]
    trace = trace_from_rows(rows)
    assert len(dispatches_of(trace, CostModel(penalty=F))) == 1
    with pytest.raises(InstanceError, match="`lines`"):
        dispatches_of(trace, CostModel(penalty=F, unmanaged="evict"))


def test_a_short_dispatch_has_no_time_to_read_much() -> None:
    rows = [(0, 0, 10, "t", "A", None, None), (0, 10, 14, "u", "B", None, None)]
    model = CostModel(penalty=PenaltyF(read_line=2, write_back=0), lines=3, lines_by_run_time=True)
    assert dispatches_of(trace_from_rows(rows), model).entry.tolist() == [6, 4]


@pytest.mark.parametrize(
    "model",
    [
        CostModel(penalty=PenaltyF(read_line=2**61, write_back=0), lines=2**61),
        CostModel(penalty=PenaltyF(read_line=2**62, write_back=2**62), lines=0),
        CostModel(penalty=PenaltyG(fill=2**62, write_back=2**62)),
    ],
)
def test_costs_beyond_64_bits_are_refused(model: CostModel) -> None:
    trace = trace_from_rows([(0, 0, 10, "t", "A", None, None), (0, 10, 20, "u", "B", None, None)])
    with pytest.raises(InstanceError, match=r"2\^62"):
        dispatches_of(trace, model)


def test_large_costs_are_exact() -> None:
    count, cost = 8, 2**58
    rows = [(0, place, place + 1, "t", "AB"[place % 2], None, None) for place in range(count)]
    model = CostModel(penalty=PenaltyG(fill=cost, write_back=1), objective=Objective.MAX_PENALTY)
    dispatches = dispatches_of(trace_from_rows(rows), model)
    assert realised_of(dispatches, charges_of(dispatches, model)).worst == (count - 1) * (cost + 1)


def test_columns_are_of_the_kinds_they_are_said_to_be() -> None:
    rows = [(0, 0, 1, "t", "A", 1, Leaves.CLEAN), (1, 1, 2, "u", "B", 2, Leaves.DIRTY)]
    dispatches = dispatches_of(trace_from_rows(rows), CostModel(penalty=F))
    assert {column.dtype for column in (dispatches.entry, dispatches.exit, dispatches.always)} == {
        np.dtype(np.int64)
    }
