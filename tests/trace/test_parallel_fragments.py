"""How much of the run time had the same fragment on several CPUs at once."""

from itertools import pairwise

import pytest
from hypothesis import given

from dfopt.trace.parallel_fragments import parallel_share
from dfopt.trace.trace import UNMANAGED
from tests.trace.traces import traces
from tests.trace.woken import SLEEPS, woken_trace


@pytest.mark.slow
@given(traces())
def test_run_time_beside_the_same_fragment(trace):
    ran = beside = 0
    for begin, end in pairwise(sorted({*trace.start.tolist(), *trace.end.tolist()})):
        runs = (trace.start <= begin) & (trace.end >= end) & (trace.fragment != UNMANAGED)
        used = trace.fragment[runs].tolist()
        ran += len(used) * (end - begin)
        beside += sum(used.count(fragment) > 1 for fragment in used) * (end - begin)
    found = parallel_share(trace)
    if found is None:
        assert ran == 0
    else:
        assert found == pytest.approx(beside / ran, abs=1e-6)


def test_both_cpus_count():
    both = woken_trace((0, 0, 10, "a", SLEEPS), (1, 5, 10, "b", SLEEPS))
    assert parallel_share(both) == pytest.approx(10 / 15, abs=1e-6)
    assert parallel_share(woken_trace((0, 5, 5, "a", SLEEPS))) is None
