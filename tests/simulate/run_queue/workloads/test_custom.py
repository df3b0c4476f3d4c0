"""The custom benchmark: threads that compute on common data."""

from __future__ import annotations

from random import Random

import pytest

from dfopt.errors import InstanceError
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.steps import Spawn
from dfopt.simulate.workload import Burst
from dfopt.simulate.workloads import WORKLOADS
from dfopt.simulate.workloads.custom import Custom, FragmentOrder
from tests.simulate.run_queue.scenarios import LINES, small_custom


def simulated(kind: Custom, cpus: int = 2, caches: CacheSizes | None = None) -> Simulation:
    machine = Machine(cpus=cpus)
    scenario = Scenario(name="c", workload=kind, machine=machine, penalty=LINES, caches=caches)
    return simulate_once(scenario, FirstComeFirstServed)


def test_threads_take_the_fragments_in_turn() -> None:
    done = simulated(small_custom(threads=5, fragments=2))
    used = {
        done.trace.tasks[task].name: done.trace.fragments[fragment]
        for task, fragment in zip(done.trace.task, done.trace.fragment, strict=True)
    }
    used.pop("main")
    assert used == {f"thread{number}": f"data{number % 2}" for number in range(5)}


def test_fragments_may_be_dealt_out_in_any_order() -> None:
    dealt = set()
    for seed in range(5):
        main = small_custom(threads=6, fragments=2, fragment_order=FragmentOrder.SHUFFLED)
        (new,) = main.build(Random(seed)).threads
        children = [step.child for step in new.steps if isinstance(step, Spawn)]
        bursts = [next(child.steps) for child in children]
        fragments = [burst.fragment for burst in bursts if isinstance(burst, Burst)]
        # As many threads on each as in turn.
        assert sorted(fragments) == [0, 0, 0, 1, 1, 1]
        dealt.add(tuple(fragments))
    assert len(dealt) > 1


def test_the_order_has_a_name() -> None:
    with pytest.raises(InstanceError) as raised:
        small_custom(fragment_order="any")
    assert raised.value.place == "fragment_order"


def test_every_thread_does_all_iterations_and_never_waits() -> None:
    done = simulated(small_custom(threads=3, iterations=2_500, iteration_time=7), cpus=1)
    main, *threads = done.engine.threads
    assert {thread.run_time for thread in threads} == {2_500 * 7}
    assert main.run_time == 3 * 20_000
    # One response each: from the start to the end, without a wait for anything else.
    assert done.counters.responses == 4


def test_a_cache_of_lines_sees_the_data_once_in_so_many_iterations() -> None:
    caches = CacheSizes(lines=1_000, miss=10)
    kind = small_custom(threads=1, fragment_lines=50, iterations=2_500, burst_iterations=1_000)
    done = simulated(kind, cpus=1, caches=caches)
    assert done.caches is not None
    assert done.caches.touched == (3 * 50,)
    assert done.caches.misses == (50,)


def test_threads_on_two_cpus_take_common_data_from_each_other() -> None:
    caches = CacheSizes(lines=1_000, miss=10)
    alone = simulated(small_custom(threads=2, fragments=2), caches=caches).caches
    common = simulated(small_custom(threads=2, fragments=1), caches=caches).caches
    assert alone is not None
    assert common is not None
    assert sum(alone.misses) == 2 * 50
    assert sum(common.misses) > 2 * 50


def test_it_is_known_by_name() -> None:
    assert WORKLOADS["custom"] is Custom
    assert small_custom().build(Random(0)).sizes == (50, 50)


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(InstanceError) as raised:
        small_custom(threads=0)
    assert raised.value.place == "threads"
