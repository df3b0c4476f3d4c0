"""The rules of the schedulers with and without batches, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyG
from dfopt.simulate.contract import Policy, Thread
from dfopt.simulate.policies.smash import (
    Batch,
    BatchPolicy,
    SharedSmash,
    SmpbatchSmash,
    UnibatchSmash,
    UniSmash,
    WfSmash,
)
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Spawn, Yield
from tests.simulate.run_queue.by_hand import order, run_threads, user
from tests.simulate.run_queue.hand_made import thread
from tests.simulate.run_queue.programs import Programs, programs

WITH_BATCHES = pytest.mark.parametrize("policy", [UnibatchSmash, SmpbatchSmash, WfSmash])


def passes(number: int, time: int = 1) -> list[Any]:
    """Return a program that yields between its passes."""
    return [user(time), *[Yield(), user(time)] * (number - 1)]


def test_uni_smash_is_a_circular_queue_on_one_cpu() -> None:
    done = run_threads(UniSmash(), passes(2), passes(3), passes(1), cpus=2)
    assert order(done, 0) == "t0@0 t1@1 t2@2 t0@3 t1@4"
    assert order(done, 1) == ""


# What all batches have in common.


@WITH_BATCHES
def test_a_batch_runs_for_so_many_dispatches(policy: type[BatchPolicy]) -> None:
    own = policy(max_batch_size=2, max_batch_count=4)
    done = run_threads(own, *[passes(3)] * 4)
    assert order(done, 0) == "t0@0 t1@1 t0@2 t1@3 t2@4 t3@5 t2@6 t3@7 t0@8 t1@9 t2@10 t3@11"


@WITH_BATCHES
def test_a_thread_that_is_made_joins_the_current_batch(policy: type[BatchPolicy]) -> None:
    own = policy(max_batch_size=2, max_batch_count=4)
    parent = [user(1), Spawn(thread("child", *passes(2))), Yield(), user(1)]
    done = run_threads(own, parent)
    assert order(done, 0) == "t0@0 child@1 t0@2 child@3"


@WITH_BATCHES
@pytest.mark.parametrize("leaves", [[], [Sleep(100), user(2)]], ids=["ends", "blocks"])
def test_who_leaves_makes_room_in_the_batch(policy: type[BatchPolicy], leaves: list[Any]) -> None:
    own = policy(max_batch_size=2, max_batch_count=4)
    done = run_threads(own, [user(2), *leaves], passes(4, 2), passes(2, 2), arrivals={2: 3})
    # In the overflow batch t2 would run at 8.
    assert order(done, 0).startswith("t0@0 t1@2 t2@4 t1@6 t2@8")


@WITH_BATCHES
def test_an_overflow_batch_runs_when_there_is_no_other(policy: type[BatchPolicy]) -> None:
    own = policy(max_batch_size=2, max_batch_count=100)
    done = run_threads(own, passes(2), passes(2), passes(1))
    assert order(done, 0) == "t0@0 t1@1 t0@2 t1@3 t2@4"


@WITH_BATCHES
def test_an_overflow_batch_takes_its_turn(policy: type[BatchPolicy]) -> None:
    own = policy(max_batch_size=2, max_batch_count=2)
    done = run_threads(own, *[passes(2)] * 5)
    assert order(done, 0).startswith("t0@0 t1@1 t2@2 t3@3 t4@4")


@WITH_BATCHES
def test_parameters_are_checked(policy: type[BatchPolicy]) -> None:
    with pytest.raises(InstanceError, match="max_batch_size"):
        policy(max_batch_size=0)
    with pytest.raises(InstanceError, match="max_batch_count"):
        policy(max_batch_count=0)


def test_the_defaults_are_the_paper_s() -> None:
    assert (UnibatchSmash().max_batch_size, UnibatchSmash().max_batch_count) == (32, 128)


def test_unibatch_smash_uses_one_cpu() -> None:
    done = run_threads(UnibatchSmash(max_batch_size=1), *[passes(2)] * 3, cpus=3)
    assert order(done, 1) == order(done, 2) == ""


@pytest.mark.parametrize("policy", [SmpbatchSmash, WfSmash])
def test_communicating_threads_gather_on_one_batch(policy: type[BatchPolicy]) -> None:
    channel = Channel("messages")
    done = run_threads(
        policy(max_batch_size=2),
        [user(2), Receive(channel), user(2)],
        [user(1)],
        [user(1), Yield(), user(6), Send(channel), user(6)],
        [user(1)],
        cpus=2,
    )
    assert order(done, 0) == "t0@0 t1@2"
    # CPU 0 is idle when t2 wakes t0 up.
    assert order(done, 1) == "t2@0 t3@1 t2@2 t0@14"


@pytest.mark.parametrize("policy", [SmpbatchSmash, WfSmash])
def test_an_interrupt_wakes_a_thread_where_it_ran(policy: type[BatchPolicy]) -> None:
    own = policy(max_batch_size=2)
    done = run_threads(own, [user(1)], [user(1)], [user(1)], [user(1), Sleep(5), user(1)], cpus=2)
    assert order(done, 1) == "t2@0 t3@1 t3@7"


# Shared queues and their locks.


def test_shared_smash_takes_its_lock_for_every_operation() -> None:
    policy = SharedSmash()
    run_threads(policy, passes(3), lock_time=1)
    (lock,) = policy.locks
    # Three times out of the queue, and back into it twice: it is there from the beginning.
    assert lock.attempts == 5


def test_cpus_wait_for_each_other_s_operations_on_the_shared_queue() -> None:
    policy = SharedSmash()
    done = run_threads(policy, passes(2, 3), passes(2, 3), cpus=2, lock_time=2)
    (lock,) = policy.locks
    assert lock.misses
    assert done.counters.spun + done.counters.overhead >= lock.spun > 0


def test_shared_smash_sends_threads_anywhere() -> None:
    done = run_threads(SharedSmash(), passes(2, 3), passes(2, 2), passes(1, 5), cpus=2)
    assert order(done, 0) == "t0@0 t1@3 t0@5"
    assert order(done, 1) == "t1@0 t2@2"


def test_a_full_overflow_batch_is_for_whoever_is_idle() -> None:
    done = run_threads(SmpbatchSmash(max_batch_size=2), *[passes(2)] * 4, cpus=2)
    assert order(done, 0) == "t0@0 t1@1 t0@2 t1@3"
    assert order(done, 1) == "t2@0 t3@1 t2@2 t3@3"


def test_smpbatch_smash_takes_its_lock_for_batches_only() -> None:
    policy = SmpbatchSmash(max_batch_size=2, max_batch_count=4)
    run_threads(policy, *[passes(2)] * 4, cpus=2, lock_time=1)
    (lock,) = policy.locks
    # One batch out of the queue, which it is in from the beginning.
    assert lock.attempts == 1
    policy = SmpbatchSmash(max_batch_size=2, max_batch_count=2)
    run_threads(policy, *[passes(2)] * 4, cpus=2, lock_time=1)
    (lock,) = policy.locks
    # Both batches once more, when their dispatches are used up.
    assert lock.attempts == 5


def test_an_idle_cpu_takes_the_batch_that_makes_room_for_an_overflow_batch() -> None:
    policy = SmpbatchSmash(max_batch_size=2, max_batch_count=2)
    done = run_threads(policy, passes(2), passes(2), passes(2), cpus=2)
    assert order(done, 0) == "t0@0 t1@1 t2@2"
    assert order(done, 1) == "t0@2 t1@3"


# Wait-free migration.


def test_wf_smash_has_no_locks() -> None:
    assert not WfSmash().locks


def test_a_full_overflow_batch_is_sent_to_an_idle_cpu() -> None:
    done = run_threads(WfSmash(max_batch_size=2), *[passes(2)] * 5, cpus=3)
    assert order(done, 1) == "t2@0 t3@1 t2@2 t3@3"
    assert order(done, 2) == ""


def test_a_full_overflow_batch_stays_when_no_cpu_is_idle() -> None:
    done = run_threads(WfSmash(max_batch_size=1), [user(10)], [user(1)], [user(1)], cpus=2)
    # CPU 1 is idle from 1 on, and t2 is in no migration batch.
    assert order(done, 0) == "t0@0 t2@10"
    assert order(done, 1) == "t1@0"


def test_a_full_overflow_batch_may_be_offered_to_others() -> None:
    policy = WfSmash(max_batch_size=1, offer_excess=True)
    done = run_threads(policy, [user(10)], [user(2)], [user(3)], [user(4)], cpus=2)
    # t1 is sent to the idle CPU 1. t2 is offered until t3 takes its place.
    assert order(done, 0) == "t0@0 t2@10"
    assert order(done, 1) == "t1@0 t3@2"


def test_a_batch_whose_dispatches_are_used_up_is_sent_to_an_idle_cpu() -> None:
    policy = WfSmash(max_batch_size=1, max_batch_count=2)
    done = run_threads(policy, passes(4, 5), [user(1)], [user(7)], cpus=2)
    assert order(done, 0) == "t0@0 t2@10"
    assert order(done, 1) == "t1@0 t0@10"


def test_a_cpu_out_of_work_takes_a_migration_batch() -> None:
    policy = WfSmash(max_batch_size=1, max_batch_count=2)
    done = run_threads(policy, passes(4, 5), [user(12)], [user(10)], cpus=2)
    assert order(done, 0) == "t0@0 t2@10"
    assert order(done, 1) == "t1@0 t0@12"


def test_a_cpu_out_of_work_takes_its_own_migration_batch_back() -> None:
    policy = WfSmash(max_batch_size=1, max_batch_count=2)
    done = run_threads(policy, passes(4, 5), [user(40)], [user(10)], cpus=2)
    assert order(done, 0) == "t0@0 t2@10 t0@20"


def test_the_only_batch_of_a_cpu_stays() -> None:
    done = run_threads(WfSmash(max_batch_count=2), passes(6), passes(6), cpus=2)
    assert order(done, 1) == ""


def test_a_migration_batch_that_nobody_takes_is_swapped_back() -> None:
    policy = WfSmash(max_batch_size=1, max_batch_count=1)
    done = run_threads(policy, *[passes(2)] * 3)
    assert order(done, 0) == "t0@0 t1@1 t2@2 t0@3 t1@4 t2@5"


# Laws.


def simulated(workload: Programs, policy: type[Policy], cpus: int, **parameters: int) -> Any:
    scenario = Scenario(
        name="programs",
        workload=workload,
        machine=Machine(cpus=cpus),
        penalty=PenaltyG(fill=1, write_back=1),
        policies={policy.name: parameters},
    )
    return simulate_once(scenario, policy)


@pytest.mark.slow
@given(workload=programs(), count=st.integers(1, 9))
def test_one_batch_for_all_is_uni_smash(workload: Programs, count: int) -> None:
    batch = simulated(workload, UnibatchSmash, 2, max_batch_size=10_000, max_batch_count=count)
    plain = simulated(workload, UniSmash, 2)
    assert batch.engine.recorder.rows == plain.engine.recorder.rows


@pytest.mark.slow
@WITH_BATCHES
@given(
    workload=programs(),
    size=st.integers(1, 4),
    count=st.integers(1, 5),
    cpus=st.integers(1, 3),
)
def test_no_batch_has_more_threads_or_dispatches_than_it_may(
    policy: type[BatchPolicy], workload: Programs, size: int, count: int, cpus: int
) -> None:
    picked = 0

    class Watched(policy):  # type: ignore[misc, valid-type]
        def pick(self, cpu: int) -> Thread | None:
            nonlocal picked
            thread: Thread | None = super().pick(cpu)
            batch: Batch | None = self.current[cpu]
            assert (thread is None) == (batch is None)
            if thread is not None and batch is not None:
                picked += 1
                assert thread.own is batch
                assert len(batch.threads) + 1 == batch.size <= size
                assert 1 <= batch.dispatches <= count
            return thread

    simulated(workload, Watched, cpus, max_batch_size=size, max_batch_count=count)
    assert picked >= len(workload.threads)
