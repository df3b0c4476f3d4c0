"""Comparisons after a change of names, units or clocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import Comparison
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace import Trace
from tests.compare.drawn import labelled_traces, models, windows
from tests.compare.quick import compared


def results(comparison: Comparison) -> list[tuple[int, ...]]:
    """Return the figures that do not depend on names."""
    return [
        (window.count, window.realised, window.bound, window.balanced, window.closed)
        for window in comparison.windows
    ]


def one_state(trace: Trace) -> Trace:
    """Return a trace whose windows need no solver that a clock could end early."""
    return replace(trace, leaves=None)


@pytest.mark.slow
@given(labelled_traces(), models(leaves=Leaves.DIRTY), windows, st.randoms(use_true_random=False))
def test_names_of_fragments_do_not_matter(trace, model, window, source) -> None:
    trace = one_state(trace)
    new = list(range(len(trace.fragments)))
    source.shuffle(new)
    managed = trace.fragment >= 0
    fragment = trace.fragment.copy()
    fragment[managed] = np.array(new, np.int32)[fragment[managed]]
    renamed = replace(trace, fragment=fragment)
    assert results(compared(renamed, model, window)) == results(compared(trace, model, window))


@pytest.mark.slow
@given(labelled_traces(), models(leaves=Leaves.DIRTY), windows, st.randoms(use_true_random=False))
def test_numbers_of_cpus_do_not_matter(trace, model, window, source) -> None:
    trace = one_state(trace)
    new = list(range(trace.cpus))
    source.shuffle(new)
    places = np.array(new, np.int32)
    moved = replace(
        trace, cpu=places[trace.cpu], gaps=replace(trace.gaps, cpu=places[trace.gaps.cpu])
    )
    one, other = compared(trace, model, window), compared(moved, model, window)
    for before, after in zip(one.windows, other.windows, strict=True):
        # Where solvers are not asked, how good placements are may depend on what comes first.
        assert (before.count, before.realised) == (after.count, after.realised)
        assert (before.bound, before.balanced) == (after.bound, after.balanced)
    assert [cpu.cost for cpu in one.cpus] == [other.cpus[place].cost for place in new]


@pytest.mark.slow
@given(labelled_traces(), models(leaves=Leaves.DIRTY), windows, st.integers(1, 1000))
def test_costs_scale(trace, model, window, factor) -> None:
    trace = one_state(trace)
    penalty = model.penalty
    times = (
        PenaltyF(read_line=penalty.read_line * factor, write_back=penalty.write_back * factor)
        if isinstance(penalty, PenaltyF)
        else PenaltyG(fill=penalty.fill * factor, write_back=penalty.write_back * factor)
    )
    one = compared(trace, model, window)
    other = compared(trace, replace(model, penalty=times), window)
    assert {cause: cost * factor for cause, cost in one.causes.items()} == other.causes
    if model.objective is Objective.TOTAL_PENALTY:  # an even share is rounded
        for before, after in zip(one.windows, other.windows, strict=True):
            assert before.realised * factor == after.realised
            assert before.closed == after.closed
            assert before.bound * factor == after.bound
            assert before.balanced * factor == after.balanced


@pytest.mark.slow
@given(labelled_traces(), models(leaves=Leaves.DIRTY), windows, st.integers(0, 2**60))
def test_clocks_may_begin_anywhere(trace, model, window, shift) -> None:
    trace = one_state(trace)
    gaps = replace(trace.gaps, start=trace.gaps.start + shift, end=trace.gaps.end + shift)
    later = replace(trace, start=trace.start + shift, end=trace.end + shift, gaps=gaps)
    assert results(compared(later, model, window)) == results(compared(trace, model, window))
