"""The mix of jobs in kernel and user mode."""

from random import Random

import pytest

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyG
from dfopt.simulate.contract import State
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.steps import (
    Acquire,
    Device,
    InputOutput,
    Receive,
    Release,
    Send,
    Spawn,
)
from dfopt.simulate.workload import Burst
from dfopt.simulate.workloads.aim import Aim, BufferLists, FileChoice
from dfopt.simulate.workloads.free_buffers import FreeBuffers, GiveBuffer, TakeBuffer
from tests.simulate.run_queue.by_hand import kernel, run_threads, user

NONE = dict.fromkeys(("share_cswitch", "share_fexec", "share_read", "share_compute"), 0)


def only(sort: str, **parameters) -> Aim:
    return Aim(**(NONE | {f"share_{sort}": 1, "users": 2, "jobs": 2} | parameters))


def run(aim: Aim, policy: str = "global-queue", *, cpus: int = 2, seed: int = 0):
    scenario = Scenario(
        name="aim", workload=aim, machine=Machine(cpus=cpus), penalty=PenaltyG(fill=1, write_back=0)
    )
    return simulate_once(scenario, POLICIES[policy], seed=seed)


def steps_of(aim: Aim) -> list:
    """Return what the first user does, its children included."""
    found = []

    def unfold(steps):
        for step in steps:
            found.append(step)
            if isinstance(step, Spawn):
                unfold(step.child.steps)

    unfold(aim.build(Random(0)).threads[0].steps)
    return found


def count(steps: list, kind: type) -> int:
    return sum(isinstance(step, kind) for step in steps)


def test_cswitch_passes_one_byte_to_and_fro():
    aim = only("cswitch", round_trips=7)
    steps = steps_of(aim)
    assert count(steps, Spawn) == 2
    assert count(steps, Send) == count(steps, Receive) == 2 * 2 * 7
    assert all(step.is_kernel for step in steps if isinstance(step, Burst))
    # On one CPU both switch to each other in every round; the first switch comes from no thread.
    done = run(only("cswitch", round_trips=7, users=1), cpus=1)
    assert done.counters.context_switches >= 2 * 2 * 7 - 1


def test_fexec_spawns_children_that_read_and_end():
    steps = steps_of(only("fexec", forks=3, text_blocks=2))
    assert count(steps, Spawn) == count(steps, Receive) == count(steps, Send) == 2 * 3
    assert count(steps, InputOutput) == 2 * 3 * 2
    assert sum(not step.is_kernel for step in steps if isinstance(step, Burst)) == 2 * 3


@pytest.mark.parametrize(("percent", "reads"), [(0, 2 * 3 * 4), (100, 0)])
def test_read_goes_to_a_disk_unless_the_file_is_in_the_cache(percent, reads):
    steps = steps_of(only("read", opens=3, blocks=4, hit_percent=percent))
    assert count(steps, InputOutput) == reads
    assert count(steps, Acquire) == count(steps, Release) == 2 * 3 * 4
    assert count(steps, Burst) == 2 * 3 * (1 + 4)


def test_users_read_their_own_files_again_and_again():
    aim = only(
        "read", users=6, files=4, disks=2, hit_percent=50, opens=3, file_choice=FileChoice.OWN
    )
    found = []
    for thread in aim.build(Random(0)).threads:
        steps = list(thread.steps)
        (inode,) = {step.mutex.name for step in steps if isinstance(step, Acquire)}
        disks = {step.device.name for step in steps if isinstance(step, InputOutput)}
        found.append((inode, *disks))
    # The first two files are not in the buffer cache.
    in_a_circle = [("inode 0", "disk 0"), ("inode 1", "disk 1"), ("inode 2",), ("inode 3",)]
    assert found == in_a_circle + in_a_circle[:2]


def test_computing_is_user_mode():
    bursts = [step for step in steps_of(only("compute")) if isinstance(step, Burst)]
    assert [burst.is_kernel for burst in bursts] == [False, False]


def test_bursts_have_their_mean():
    aim = only("read", opens=32, blocks=1, jobs=1, open_time=1_000_000, block_time=3_000_000)
    bursts = [step.time for step in steps_of(aim) if isinstance(step, Burst)]
    assert sum(bursts) == pytest.approx(32 * 4_000_000, abs=64)
    assert max(bursts) > 5 * min(bursts)


def test_shares_are_proportions():
    steps = steps_of(Aim(**NONE | {"share_compute": 3, "share_read": 1}, jobs=4_000, opens=1))
    computing = sum(not step.is_kernel for step in steps if isinstance(step, Burst))
    assert computing == pytest.approx(3_000, abs=150)


@pytest.mark.parametrize("policy", ["fcfs", "global-queue", "tlms-1", "tlms-2", "tlms-3"])
def test_users_do_the_same_under_every_policy(policy):
    aim = Aim(users=4, jobs=3, round_trips=5, lines=10, buffers=2)
    done = run(aim, policy)
    assert all(thread.state is State.ENDED for thread in done.engine.threads)
    assert done.counters.executed == run(aim, "random").counters.executed


def test_a_seed_says_all():
    aim = Aim(users=3, jobs=2, round_trips=5)
    ends = [run(aim, seed=seed).counters.end for seed in (0, 0, 1)]
    assert ends[0] == ends[1] != ends[2]


def test_each_process_has_a_fragment_if_it_is_asked_for():
    aim = only("cswitch", lines=10, round_trips=2)
    assert aim.build(Random(0)).fragments == ("user0", "user0-child", "user1", "user1-child")
    assert {step.fragment for step in steps_of(aim) if isinstance(step, Burst)} == {0, 1}
    assert run(aim).counters.penalties != [0, 0]
    assert only("cswitch").build(Random(0)).fragments == ()


def buffered(pool: FreeBuffers, time: int) -> list:
    return [TakeBuffer(pool), user(time), GiveBuffer(pool)]


def test_a_buffer_is_borrowed_in_a_circle_and_goes_home():
    pool = FreeBuffers(3, per_cpu=True)
    # On CPU 0: t3 borrows from CPU 1 while t0 sleeps with the buffer of CPU 0.
    sleeper = [TakeBuffer(pool), user(1), InputOutput(Device("disk"), 5), user(1), GiveBuffer(pool)]
    done = run_threads(
        POLICIES["tlms-1"](),
        sleeper,
        [user(9)],
        buffered(pool, 9),
        buffered(pool, 2),
        cpus=3,
        lock_time=0,
    )
    assert pool.borrowed == 1
    assert pool.free == [1, 1, 1]
    assert all(thread.state is State.ENDED for thread in done.threads)


def test_who_finds_no_buffer_waits_for_one():
    pool = FreeBuffers(1, per_cpu=False)
    done = run_threads(
        POLICIES["fcfs"](), buffered(pool, 5), [*buffered(pool, 5), kernel(1)], cpus=2
    )
    assert done.counters.end == 11
    assert pool.free == [1]


@pytest.mark.parametrize(("per_cpu", "misses"), [(False, 1), (True, 0)])
def test_lists_for_each_cpu_do_not_contend(per_cpu, misses):
    pool = FreeBuffers(4, per_cpu=per_cpu)
    programs = [[user(1), *buffered(pool, 50)], [user(2), *buffered(pool, 50)]]
    run_threads(POLICIES["fcfs"](), *programs, cpus=2, lock_time=5)
    assert sum(lock.attempts for lock in pool.locks) == 4
    # At 1 and 2 they take one, and hold the lock for 5; at 56 and 61 they give it back.
    assert sum(lock.misses for lock in pool.locks) == misses


def test_buffers_are_all_given_back():
    done = run(only("read", buffers=2, buffer_lists=BufferLists.PER_CPU, users=5), "tlms-2")
    assert all(thread.state is State.ENDED for thread in done.engine.threads)


def test_an_inode_is_held_by_one():
    aim = only("read", files=1, users=3, hit_percent=0)
    assert run(aim, cpus=3).counters.lock_waits > 0


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"users": 0}, "users"),
        ({"hit_percent": 101}, "hit_percent"),
        (NONE, "share_cswitch"),
        ({"disk_time": 1.5}, "disk_time"),
        ({"file_choice": "any"}, "file_choice"),
        ({"buffer_lists": "many"}, "buffer_lists"),
    ],
)
def test_wrong_parameters_are_named(parameters, place):
    with pytest.raises(InstanceError) as error:
        Aim(**parameters)
    assert error.value.place == place
