"""Moments of tasks: how many have come, and which is the next."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dfopt.trace.moments import Moments

MOMENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 6)), max_size=8)


@given(moments=MOMENTS, asked=MOMENTS)
def test_they_are_found_by_task_and_time(moments, asked):
    task, time = np.array(moments, np.int64).reshape(-1, 2).T
    found = Moments(task.astype(np.int32), time)
    ordered = sorted(moments)
    assert list(zip(found.task.tolist(), found.time.tolist(), strict=True)) == ordered
    assert [moments[number] for number in found.order.tolist()] == ordered
    task, time = np.array(asked, np.int64).reshape(-1, 2).T
    task = task.astype(np.int32)
    assert found.first(task).tolist() == [sum(of < one for of, _ in ordered) for one, _ in asked]
    assert found.since(task, time).tolist() == [
        sum(one < event for one in ordered) for event in asked
    ]
    assert found.after(task, time).tolist() == [
        sum(one <= event for one in ordered) for event in asked
    ]
    assert found.count(task, time).tolist() == [
        sum(of == one and moment <= end for of, moment in ordered) for one, end in asked
    ]
    following = found.following(task, time).tolist()
    for (of, begin), number in zip(asked, following, strict=True):
        later = [moment for moment in ordered if moment[0] == of and moment[1] >= begin]
        assert (moments[number] if number >= 0 else None) == next(iter(later), None)
