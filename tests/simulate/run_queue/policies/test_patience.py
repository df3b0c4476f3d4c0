from __future__ import annotations

import pytest

from dfopt.compare import CostModel
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.dispatches import movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.errors import DfoptError
from dfopt.simulate.policies.patience import Patience
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario_document import read_scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.steps import Sleep, Yield
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import order, places, simulated, thread

A, B, C = range(3)


def three() -> list[NewThread]:
    """While the first one runs, one with B and one with A come."""
    return [
        thread("first", Burst(10, A)),
        thread("other", Burst(10, B), arrival=1),
        thread("same", Burst(10, A), arrival=2),
    ]


def test_what_the_cache_holds_comes_first() -> None:
    assert order(simulated(Patience, three, patience=0)) == ["first", "same", "other"]


@pytest.mark.parametrize(("patience", "start"), [(0, 20), (15, 20), (50, 51)])
def test_another_fragment_waits_for_the_patience_to_end(patience: int, start: int) -> None:
    done = simulated(Patience, three, patience=patience)
    assert places(done, "other") == [(0, start)]


def test_a_thread_that_comes_while_a_cpu_is_patient_runs_at_once() -> None:
    def make() -> list[NewThread]:
        return [*three()[:2], thread("same", Burst(10, A), arrival=15)]

    done = simulated(Patience, make, patience=20)
    assert places(done, "same") == [(0, 15)]
    assert places(done, "other") == [(0, 25)]


def test_empty_caches_have_no_patience() -> None:
    done = simulated(Patience, lambda: three()[:2], cpus=2, patience=1000)
    assert places(done, "other") == [(1, 1)]


def test_of_two_caches_with_the_fragment_the_one_used_last_is_taken() -> None:
    def make() -> list[NewThread]:
        return [
            thread("short", Burst(10, A)),
            thread("long", Burst(20, A)),
            thread("later", Burst(5, A), arrival=30),
        ]

    assert places(simulated(Patience, make, cpus=2), "later") == [(1, 30)]


def test_the_cache_that_was_not_used_for_longest_is_given_up() -> None:
    def make() -> list[NewThread]:
        return [
            thread("short", Burst(10, A)),
            thread("long", Burst(20, B)),
            thread("later", Burst(5, C), arrival=30),
        ]

    done = simulated(Patience, make, cpus=2, patience=7)
    assert places(done, "later") == [(0, 37)]


def test_two_cpus_change_at_once_if_two_threads_have_waited() -> None:
    def make() -> list[NewThread]:
        return [
            thread("x", Burst(10, A)),
            thread("y", Burst(10, A)),
            thread("b", Burst(5, B), arrival=20),
            thread("c", Burst(5, C), arrival=20),
        ]

    done = simulated(Patience, make, cpus=2, patience=7)
    assert sorted(places(done, "b") + places(done, "c")) == [(0, 27), (1, 27)]


def test_threads_without_a_fragment_run_on_any_cpu() -> None:
    def make() -> list[NewThread]:
        return [thread("first", Burst(10, A)), thread("none", Burst(5), arrival=20)]

    assert places(simulated(Patience, make, patience=1000), "none") == [(0, 20)]


def test_a_thread_that_comes_to_another_fragment_waits_for_it() -> None:
    done = simulated(Patience, lambda: [thread("x", Burst(10, A), Burst(10, B))], patience=15)
    assert places(done, "x") == [(0, 0), (0, 25)]


def test_those_that_yield_keep_nobody_waiting_who_has_waited_long() -> None:
    """It yields at 10 and at 20; at 21 the other one has waited for 20, so at 30 it runs."""

    def make() -> list[NewThread]:
        steps = [step for _ in range(5) for step in (Burst(10, A), Yield())]
        return [thread("yields", *steps), thread("other", Burst(10, B), arrival=1)]

    done = simulated(Patience, make, patience=20)
    assert places(done, "other") == [(0, 30)]


def test_slices_end() -> None:
    def make() -> list[NewThread]:
        return [thread("hog", Burst(100, A)), thread("other", Burst(10, B), arrival=1)]

    done = simulated(Patience, make, patience=20, time_slice=30)
    assert places(done, "other") == [(0, 30)]


def test_sleeping_does_not_count_as_waiting() -> None:
    """It sleeps from 10 to 50, as it gets the CPU only at 10."""

    def make() -> list[NewThread]:
        return [
            thread("x", Burst(10, A)),
            thread("y", Sleep(40), Burst(10, B)),
        ]

    assert places(simulated(Patience, make, patience=20), "y") == [(0, 70)]


def test_wrong_patience_is_refused() -> None:
    with pytest.raises(DfoptError, match=r"policy\.patience\.patience: must be at least 0, not -1"):
        simulated(Patience, three, patience=-1)


@pytest.mark.slow
@pytest.mark.parametrize("patience", [0, 100_000])
def test_open_and_closed_loop_beside_each_other(patience: int) -> None:
    """Replayed on the arrivals that first come, first served led to, the rule pays far less.

    So it does if the threads run under it from the beginning: then they also come at other times.
    """
    scenario = read_scenario("hackbench", {"policy.patience.patience": patience})
    recorded = simulate_once(scenario, FirstComeFirstServed).trace
    model = CostModel(penalty=scenario.penalty, cold_start=scenario.cold_start)
    arrivals = movable_dispatches(recorded, model)
    paid = cost_of(arrivals)
    open_loop = run_patiently(arrivals, patience)
    closed_loop = movable_dispatches(simulate_once(scenario, Patience).trace, model)
    assert cost_of(open_loop) < 0.6 * paid
    assert cost_of(closed_loop) < 0.6 * paid
    for schedule in (open_loop, closed_loop):
        recorded_wait = arrivals.waits.mean()
        assert schedule.waits.mean() < 1.2 * recorded_wait
