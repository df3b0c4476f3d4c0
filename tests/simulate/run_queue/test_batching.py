"""The gain of batches on one CPU follows by arithmetic, if only a batch fits the cache.

A thread touches f = stack lines + granularity / 8 lines in a dispatch. In one queue it finds none
of them again; in a batch it does in all but one of MAXBCOUNT / MAXBSIZE passes.
"""

from __future__ import annotations

from random import Random

import pytest

from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.workloads.fine_grained import FineGrained

SWITCH, INCREMENT, MISS, CREATION = 120, 4, 100, 600
THREADS = 256
ROUNDS = 4


def run(policy: str, granularity: int, length: int, *, cpus: int = 1) -> Simulation:
    kind = FineGrained(
        array_size=THREADS * granularity, granularity=granularity, process_length=length
    )
    size = sum(kind.build(Random(0)).sizes)
    scenario = Scenario(
        name="fine-grained",
        workload=kind,
        machine=Machine(cpus=cpus, switch_time=SWITCH, lock_time=100),
        penalty=PenaltyF(read_line=MISS, write_back=0),
        # A quarter of what all threads touch; a batch touches an eighth.
        caches=CacheSizes(lines=size // 4, miss=MISS),
    )
    return simulate_once(scenario, POLICIES[policy])


def misses(done: Simulation) -> int:
    assert done.caches is not None
    return sum(done.caches.misses)


@pytest.mark.slow
@pytest.mark.parametrize("granularity", [1, 8, 64])
@pytest.mark.parametrize("length", [1, 2, 4, 16])
def test_misses_and_gain_are_what_the_arithmetic_says(granularity: int, length: int) -> None:
    plain, batched = (
        run(policy, granularity, length) for policy in ("uni-smash", "unibatch-smash")
    )
    footprint = 2 + granularity / 8
    dispatches = THREADS * length
    rounds = min(length, ROUNDS)
    assert misses(plain) == dispatches * footprint
    # The main thread is in the first batch, so that some thread is alone in the last one, and
    # neighbours that share a line may be in two batches.
    assert misses(batched) == pytest.approx(dispatches * footprint / rounds, rel=0.03)
    base = SWITCH + granularity * INCREMENT + CREATION / length
    gain = (base + footprint * MISS) / (base + footprint * MISS / rounds)
    found = plain.counters.end / batched.counters.end
    assert found == pytest.approx(gain, rel=0.03)


@pytest.mark.parametrize("policy", ["smpbatch-smash", "wf-smash"])
def test_batches_use_the_caches_of_all_cpus(policy: str) -> None:
    alone = run("uni-smash", 8, 16).counters.end
    assert alone / run(policy, 8, 16, cpus=4).counters.end > 4
    assert alone / run("shared-smash", 8, 16, cpus=4).counters.end < 4
