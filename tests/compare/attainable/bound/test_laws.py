"""Laws of bounds: what must not change them, and what must change them in a known way."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare.attainable.bound.bound import lower_bound
from dfopt.compare.dispatches import Dispatches
from tests.compare.attainable.drawn import random_arrivals
from tests.compare.attainable.tables import dearer, re_recorded

FEW = settings(max_examples=10)
TIMES = ("start", "ready_from", "ready_by", "recorded")


def robust(arrivals: Dispatches, wait: int) -> int:
    """Return the bound without lengths, which an exact linear program finds."""
    return lower_bound(arrivals, wait, uses_lengths=False).value


def test_a_bound_is_shown() -> None:
    assert "WaitingProof(" in repr(
        lower_bound(random_arrivals(Random(3), most=6), 2, uses_lengths=True)
    )


def shifted(arrivals: Dispatches, by: int) -> Dispatches:
    """Return the same recording at other times."""
    smallest, largest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    end, latest, around = arrivals.previous_end, arrivals.latest, arrivals.fixed
    return replace(
        arrivals,
        **{name: getattr(arrivals, name) + by for name in TIMES},
        previous_end=np.where(end == smallest, end, end + by * (end != smallest)),
        latest=np.where(latest == largest, latest, latest + by * (latest != largest)),
        cuts=replace(arrivals.cuts, time=arrivals.cuts.time + by),
        around=re_recorded(around, around.start + by),
    )


@FEW
@given(seed=st.integers(0, 2**32), by=st.integers(-1000, 1000))
def test_bounds_do_not_depend_on_when_the_recording_began(seed: int, by: int) -> None:
    arrivals = random_arrivals(Random(seed), most=6)
    assert robust(shifted(arrivals, by), 2) == robust(arrivals, 2)


@FEW
@given(seed=st.integers(0, 2**32))
def test_bounds_do_not_depend_on_names_of_cpus_and_fragments(seed: int) -> None:
    arrivals = random_arrivals(Random(seed), most=6, costs="counting")
    cuts, fixed = arrivals.cuts, arrivals.fixed
    fixed = replace(fixed, cpu=arrivals.cpus - 1 - fixed.cpu)
    other = replace(
        arrivals,
        fragment=arrivals.fragment.max() - arrivals.fragment,
        cpu=arrivals.cpus - 1 - arrivals.cpu,
        around=fixed.chosen(np.lexsort((fixed.end, fixed.start, fixed.cpu))),
        cuts=replace(cuts, cpu=arrivals.cpus - 1 - cuts.cpu),
    )
    assert robust(other, 2) == robust(arrivals, 2)


@FEW
@given(seed=st.integers(0, 2**32), factor=st.integers(2, 5))
def test_bounds_grow_as_all_costs_do(seed: int, factor: int) -> None:
    arrivals = random_arrivals(Random(seed), most=6, costs="g")
    assert robust(dearer(arrivals, factor), 2) == factor * robust(arrivals, 2)


@pytest.mark.parametrize("seed", range(12))
def test_waiting_longer_never_raises_a_bound(seed: int) -> None:
    arrivals = random_arrivals(Random(seed), most=6)
    bounds = [robust(arrivals, wait) for wait in (0, 1, 3, 10)]
    assert bounds == sorted(bounds, reverse=True)
