"""Dispatches that start in their order: the best CPUs, and those of the rule without look-ahead."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare import CostModel
from dfopt.compare.attainable import placement
from dfopt.compare.attainable.placement import in_ranks, order_kept_of
from dfopt.compare.dispatches import Dispatches, dispatches_of
from dfopt.compare.paid import charges_of, realised_of
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.trace import Trace
from tests.compare.attainable.hackbench import hackbench
from tests.compare.drawn import labelled_traces, models
from tests.strategies import FRAGMENTS
from tests.trace.traces import trace_from_rows


def paid(dispatches: Dispatches, model: CostModel, cpu: tuple[int, ...]) -> int:
    """Return what dispatches cost on these CPUs, as the charges of a trace are added up."""
    placed = dispatches.moved(np.array(cpu), dispatches.start)
    return realised_of(placed, charges_of(placed, model)).total


def cheapest(dispatches: Dispatches, model: CostModel) -> int:
    """Return the least cost of all placements."""
    ranked = in_ranks(dispatches)
    placements = product(range(dispatches.cpus), repeat=len(dispatches))
    return min(paid(ranked, model, cpu) for cpu in placements)


@given(labelled_traces(most=5, gaps=False), models())
def test_the_best_placement_is_found(trace: Trace, model: CostModel) -> None:
    dispatches = dispatches_of(trace, model)
    found = order_kept_of(dispatches)
    assert found.bound == found.best == cheapest(dispatches, model) <= found.online


@given(labelled_traces(most=5, gaps=False, mixed=False), st.data())
def test_the_best_placement_under_a_matrix_is_found(trace: Trace, data: st.DataObject) -> None:
    row = st.tuples(*(st.integers(0, 9) for _ in FRAGMENTS))
    switch = tuple(data.draw(row) for _ in FRAGMENTS)
    start, finish = data.draw(row), data.draw(row)
    model = CostModel(
        penalty=PenaltyMatrix(types=FRAGMENTS, switch=switch, start=start, finish=finish),
        cold_start=data.draw(st.booleans()),
        final_write_back=data.draw(st.booleans()),
    )
    dispatches = dispatches_of(trace, model)
    found = order_kept_of(dispatches)
    assert found.bound == found.best == cheapest(dispatches, model) <= found.online


@given(labelled_traces(most=5), models())
def test_with_gaps_the_best_placement_lies_between(trace: Trace, model: CostModel) -> None:
    dispatches = dispatches_of(trace, model)
    found = order_kept_of(dispatches)
    assert found.best is not None
    assert found.bound is not None
    assert found.bound <= cheapest(dispatches, model) <= found.best <= found.online


def sequence(fragments: list[int], cpus: int) -> Dispatches:
    """Return dispatches that use fragments in turn, where first loads count."""
    rows = [
        (0, start, start + 1, "t", f"f{used}", None, None) for start, used in enumerate(fragments)
    ]
    return dispatches_of(trace_from_rows(rows, cpus=cpus), CostModel(cold_start=True))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 4))
def test_without_look_ahead_at_most_as_many_times_as_there_are_cpus(
    fragments: list[int], cpus: int
) -> None:
    """Sleator and Tarjan's bound, with first loads: the ratio is at most the number of CPUs."""
    found = order_kept_of(sequence(fragments, cpus))
    assert found.best is not None
    assert found.best <= found.online <= cpus * found.best


@pytest.mark.parametrize("cpus", [1, 2, 3, 5])
def test_a_round_of_one_fragment_more_than_cpus_is_worst(cpus: int) -> None:
    """The rule always evicts what comes next; Belady's changes once in a round of ``cpus``."""
    rounds = 40
    found = order_kept_of(sequence([*range(cpus + 1)] * rounds, cpus))
    assert found.online == rounds * (cpus + 1)
    assert found.best is not None
    assert cpus * found.best <= found.online + cpus * cpus


@pytest.mark.parametrize(("groups", "best", "online"), [(4, 58, 75), (16, 1251, 1587)])
def test_changes_of_the_recorded_groups(groups: int, best: int, online: int) -> None:
    model = CostModel()
    found = order_kept_of(dispatches_of(hackbench(groups), model))
    assert (found.best, found.bound, found.online) == (best, best, online)


def faults_of_belady(fragments: list[int], cpus: int) -> int:
    """Return how often a fragment is loaded if the one that is needed latest makes room."""
    held: set[int] = set()
    faults = 0
    for number, used in enumerate(fragments):
        rest = fragments[number + 1 :]
        if used not in held:
            faults += 1
            if len(held) == cpus:
                held.remove(max(held, key=lambda one: [*rest, one].index(one)))
            held.add(used)
    return faults


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 4))
def test_under_equal_costs_the_best_placement_is_beladys(fragments: list[int], cpus: int) -> None:
    found = order_kept_of(sequence(fragments, cpus))
    assert found.best == found.bound == faults_of_belady(fragments, cpus)


def test_large_traces_have_no_best_placement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(placement, "MOST_FOR_A_FLOW", 3)
    rows = [
        (0, 0, 1, "t", "a", 3, None),
        (0, 1, 2, "t", "b", 2, None),
        (1, 1, 3, "u", "b", 2, None),
    ]
    model = CostModel(penalty=PenaltyF(read_line=1, write_back=0))
    found = order_kept_of(dispatches_of(trace_from_rows(rows, cpus=2), model))
    assert (found.best, found.bound, found.is_optimal) == (None, None, False)
    assert found.online == 0
