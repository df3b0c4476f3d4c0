"""The behaviour that all policies with time slices share."""

from __future__ import annotations

import inspect

import pytest

from dfopt.errors import DfoptError
from dfopt.simulate.contract import Policy
from dfopt.simulate.policies import POLICIES

WITH_SLICES = [
    policy for policy in POLICIES.values() if "time_slice" in inspect.signature(policy).parameters
]


@pytest.mark.parametrize("policy", WITH_SLICES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("time_slice", [-1, 1.5])
def test_an_impossible_time_slice_is_refused(policy: type[Policy], time_slice: float) -> None:
    with pytest.raises(DfoptError, match="time_slice: must be"):
        policy(time_slice=time_slice)  # type: ignore[call-arg]
