"""First come, first served, with a preference among idle CPUs only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dfopt.simulate.policies.simple import FirstComeFirstServed, WarmFirst
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import order, places, simulated, thread

A, B, C = range(3)


def early(*later: NewThread) -> list[NewThread]:
    """Two CPUs have run A and B when the later threads come."""
    return [thread("a", Burst(10, A)), thread("b", Burst(20, B)), *later]


def test_of_idle_cpus_the_one_with_the_fragment_is_taken() -> None:
    def make() -> list[NewThread]:
        return early(thread("later", Burst(5, B), arrival=30))

    assert places(simulated(WarmFirst, make, cpus=2), "later") == [(1, 30)]
    assert places(simulated(FirstComeFirstServed, make, cpus=2), "later") == [(0, 30)]


def test_an_empty_cache_comes_before_the_one_idle_for_longest() -> None:
    def make() -> list[NewThread]:
        return early(thread("later", Burst(5, C), arrival=30))

    assert places(simulated(WarmFirst, make, cpus=3), "later") == [(2, 30)]
    assert places(simulated(WarmFirst, make, cpus=2), "later") == [(0, 30)]


def test_nobody_overtakes_for_its_data() -> None:
    def make() -> list[NewThread]:
        return early(
            thread("other", Burst(8, C), arrival=2),
            thread("same", Burst(5, A), arrival=3),
        )

    done = simulated(WarmFirst, make, cpus=2)
    assert order(done) == ["a", "other", "same"]


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9), st.integers(0, 2)), max_size=12),
    st.integers(1, 3),
)
def test_where_changes_cost_nothing_all_run_when_they_do_under_fcfs(
    requests: list[tuple[int, int, int]], cpus: int
) -> None:
    """The rule chooses among idle CPUs, and never when a thread runs."""

    def make() -> list[NewThread]:
        return [
            thread(f"t{number}", Burst(length, fragment), arrival=arrival)
            for number, (arrival, length, fragment) in enumerate(sorted(requests))
        ]

    starts = []
    for policy in (WarmFirst, FirstComeFirstServed):
        done = simulated(policy, make, cpus=cpus)
        starts.append({t.name: [start for _, start in places(done, t.name)] for t in make()})
    assert starts[0] == starts[1]
