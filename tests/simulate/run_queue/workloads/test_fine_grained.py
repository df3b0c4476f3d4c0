from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.policies.smash import UniSmash
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.steps import Spawn, Yield
from dfopt.simulate.workload import Burst, Workload
from dfopt.simulate.workloads.fine_grained import FineGrained


def made(workload: Workload) -> list[list[Any]]:
    """Return the programs of the threads that the main thread makes."""
    (main,) = workload.threads
    return [list(step.child.steps) for step in main.steps if isinstance(step, Spawn)]


def misses(done: Simulation) -> tuple[int, ...]:
    assert done.caches is not None
    return done.caches.misses


def run(kind: FineGrained, lines: int = 10_000) -> Simulation:
    scenario = Scenario(
        name="fine-grained",
        workload=kind,
        machine=Machine(cpus=1),
        penalty=PenaltyF(read_line=1, write_back=0),
        caches=CacheSizes(lines=lines, miss=100),
    )
    return simulate_once(scenario, UniSmash)


@pytest.mark.parametrize("granularity", [1, 2, 8, 16])
def test_every_line_of_the_array_is_somebody_s(granularity: int) -> None:
    kind = FineGrained(array_size=64, granularity=granularity, process_length=1)
    workload = kind.build(Random(0))
    programs = made(workload)
    assert len(programs) == kind.threads == 64 // granularity
    arrays: Counter[int] = Counter()
    stacks: set[int] = set()
    for (first, lines), (stack, stack_lines) in (steps[0].extents for steps in programs):
        arrays[first] += 1
        assert lines == max(1, granularity // 8)
        stacks |= set(range(stack, stack + stack_lines))
    array = {line for first in arrays for line in range(first, first + lines)}
    # 64 integers of 4 bytes in lines of 32, which at most 8 threads share.
    assert len(array) == 8
    assert set(arrays.values()) == {max(1, 8 // granularity)}
    assert len(stacks) == 2 * kind.threads
    assert array | stacks == set(range(sum(workload.sizes)))


def test_threads_that_share_a_line_share_a_fragment() -> None:
    programs = made(FineGrained(array_size=32, granularity=4).build(Random(0)))
    assert [steps[0].fragment for steps in programs] == [0, 0, 1, 1, 2, 2, 3, 3]
    coarse = FineGrained(array_size=32, granularity=16).build(Random(0))
    assert [steps[0].fragment for steps in made(coarse)] == [0, 1]
    assert coarse.sizes == (2 + 2, 2 + 2)


def test_a_thread_yields_after_each_pass() -> None:
    kind = FineGrained(array_size=8, granularity=4, process_length=3, increment_time=5)
    steps = made(kind.build(Random(0)))[1]
    assert [type(step) for step in steps] == [Burst, Yield] * 3
    assert {step.time for step in steps[::2]} == {20}
    # One allocated for all passes.
    assert len({id(step) for step in steps}) == 2


def test_the_main_thread_is_charged_for_making_threads() -> None:
    done = run(FineGrained(array_size=16, granularity=1, process_length=1, creation_time=50))
    # Each thread has one increment; 16 lines are missed for stacks of two, and 2 of the array.
    assert done.counters.executed == 16 * (50 + 4)
    assert done.counters.end == 16 * (50 + 4) + (32 + 2) * 100
    free = run(FineGrained(array_size=16, process_length=1, creation_time=0, stack_lines=0))
    assert free.counters.end == 16 * 4 + 2 * 100


def test_an_array_that_fits_is_read_once() -> None:
    kind = FineGrained(array_size=64, granularity=8, process_length=5)
    assert misses(run(kind, lines=8 * 3)) == (8 * 3,)
    assert misses(run(kind, lines=8 * 3 - 1)) == (8 * 3 * 5,)


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"granularity": 3, "array_size": 10}, "granularity"),
        ({"granularity": 3, "array_size": 12}, "granularity"),
        ({"granularity": 0}, "granularity"),
        ({"process_length": 0}, "process_length"),
        ({"stack_lines": -1}, "stack_lines"),
        ({"increment_time": 0}, "increment_time"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, int], place: str) -> None:
    with pytest.raises(InstanceError, match=place):
        FineGrained(**parameters)
