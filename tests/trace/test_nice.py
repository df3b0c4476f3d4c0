"""Weights of nice values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.trace.nice import LEAST_URGENT, MOST_URGENT, nice_of_weight, weight_of_nice


def test_weights_are_nearly_those_of_the_kernel():
    """``sched_prio_to_weight`` in Linux was rounded by hand."""
    kernel = {-20: 88761, -10: 9548, -5: 3121, -1: 1277, 0: 1024, 1: 820, 5: 335, 10: 110, 19: 15}
    for nice, weight in kernel.items():
        assert weight_of_nice(nice) == pytest.approx(weight, rel=0.005)


@given(st.integers(MOST_URGENT, LEAST_URGENT))
def test_a_weight_leads_back_to_its_nice_value(nice):
    assert nice_of_weight(weight_of_nice(nice)) == nice


@given(st.integers(1, 1 << 20), st.integers(1, 1 << 20))
def test_more_weight_is_never_less_urgent(one, other):
    small, large = sorted((one, other))
    assert LEAST_URGENT >= nice_of_weight(small) >= nice_of_weight(large) >= MOST_URGENT
