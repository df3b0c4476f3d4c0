"""The rules of two-level multi-scan scheduling, by hand."""

import pytest

from dfopt.simulate.policies.tlms import OneScan, ThreeScans, TwoScans
from dfopt.simulate.steps import Channel, Device, InputOutput, Receive, Send, Sleep
from tests.simulate.run_queue.by_hand import kernel, order, run_threads, user

ALL = pytest.mark.parametrize("policy", [OneScan, TwoScans, ThreeScans])


@ALL
def test_new_threads_are_placed_in_a_circle(policy):
    done = run_threads(policy(), *[[user(10)]] * 4, cpus=2)
    assert (order(done, 0), order(done, 1)) == ("t0@0 t2@10", "t1@0 t3@10")


@ALL
def test_a_queue_goes_round_robin(policy):
    done = run_threads(policy(time_slice=2), [user(4)], [user(3)])
    assert order(done, 0) == "t0@0 t1@2 t0@4 t1@6"


@pytest.mark.parametrize("policy", [TwoScans, ThreeScans])
def test_a_slice_may_end_in_kernel_mode(policy):
    programs = [[kernel(4)], [user(2)], [kernel(3)]]
    stays = run_threads(policy(time_slice=2), *programs)
    assert order(stays, 0) == "t0@0 t2@2 t0@4 t2@6 t1@7"
    # As in UNIX System V: both threads in kernel mode expire behind t1.
    leaves = run_threads(policy(time_slice=2, stays_in_kernel=False), *programs)
    assert order(leaves, 0) == "t0@0 t2@2 t1@4 t0@6 t2@8"


@ALL
@pytest.mark.parametrize("cpu", [0, 1, 2])
def test_a_cpu_without_threads_scans_in_a_circle(policy, cpu):
    programs = [[user(40)] for _ in range(3)] + [[user(5)] for _ in range(3)]
    programs[cpu] = [user(5)]
    done = run_threads(policy(), *programs, cpus=3)
    first, second = (cpu + 1) % 3, (cpu + 2) % 3
    assert order(done, cpu) == f"t{cpu}@0 t{cpu + 3}@5 t{first + 3}@10 t{second + 3}@15"


@ALL
def test_who_wakes_up_goes_to_the_affinity_cpu(policy):
    sleeper = [user(2), Sleep(1), user(2)]
    done = run_threads(policy(), sleeper, [user(20)], [user(5)], [user(3)], cpus=2)
    # In the other queue it would stand behind t3.
    assert order(done, 0) == "t0@0 t2@2 t0@7 t3@9"


@ALL
def test_who_migrates_changes_the_affinity(policy):
    sleeper = [user(2), Sleep(1), user(2)]
    done = run_threads(
        policy(), [user(10)], [user(1)], sleeper, [user(1)], [user(10)], [user(1)], [user(1)],
        arrivals={4: 4, 5: 6, 6: 6}, cpus=2,
    )  # fmt: skip
    # t2 came from CPU 0, and is now in the queue of CPU 1, so that CPU 0 runs t6 first.
    assert order(done, 1).startswith("t1@0 t3@1 t2@2 t4@4")
    assert order(done, 0) == "t0@0 t6@10 t2@11 t5@13"


@ALL
@pytest.mark.parametrize(("has_handoff", "begins"), [(False, 14), (True, 8)])
def test_an_idle_cpu_may_be_handed_the_thread(policy, has_handoff, begins):
    own = policy(has_handoff=has_handoff)
    done = run_threads(own, [user(1), Sleep(4), user(1)], lock_time=3)
    # It is taken from 0 to 3, runs until 4, and wakes up at 8. Putting and taking cost 3 each.
    assert order(done, 0) == f"t0@3 t0@{begins}"
    assert own.locks[0].attempts == (1 if has_handoff else 3)


@ALL
def test_of_idle_cpus_the_affinity_cpu_is_called_first(policy):
    done = run_threads(policy(), [user(1)], [user(2), Sleep(3), user(1)], cpus=2)
    assert order(done, 1) == "t1@0 t1@5"


@ALL
def test_an_idle_cpu_is_called_when_the_affinity_cpu_is_busy(policy):
    done = run_threads(policy(), [user(10)], [user(1)], [user(3)], arrivals={2: 2}, cpus=2)
    assert order(done, 1) == "t1@0 t2@2"


INVERSION = ([user(10)], [user(20)], [user(5)], [kernel(5)])


@pytest.mark.parametrize(
    ("policy", "expected", "inversions"),
    [
        (OneScan(), "t0@0 t2@10 t3@15", 1),
        (TwoScans(at_every_switch=False), "t0@0 t2@10 t3@15", 1),
        (TwoScans(), "t0@0 t3@10 t2@15", 0),
        (ThreeScans(), "t0@0 t3@10 t2@15", 0),
    ],
)
def test_two_scans_find_kernel_mode_elsewhere_before_user_mode_here(policy, expected, inversions):
    done = run_threads(policy, *INVERSION, cpus=2)
    assert order(done, 0) == expected
    assert done.counters.inversions == inversions


@pytest.mark.parametrize(
    ("policy", "expected"), [(TwoScans, "t0@0 t2@10 t1@15"), (ThreeScans, "t0@0 t1@10 t2@15")]
)
def test_three_scans_find_disk_wake_ups_elsewhere_before_kernel_mode_here(policy, expected):
    waits = [kernel(1), InputOutput(Device("disk"), 1), kernel(5)]
    done = run_threads(policy(), [user(10)], waits, [kernel(5)], [kernel(30)], cpus=2)
    assert order(done, 0) == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (OneScan, "t0@0 t1@1 t2@4 t3@5 t0@6"),
        (TwoScans, "t0@0 t1@1 t3@4 t0@5 t2@6"),
        (ThreeScans, "t0@0 t1@1 t0@4 t3@5 t2@6"),
    ],
)
def test_inside_a_range_threads_go_in_the_order_in_which_they_came(policy, expected):
    waits = [kernel(1), InputOutput(Device("disk"), 1), kernel(1)]
    done = run_threads(policy(), waits, [kernel(3)], [user(1)], [kernel(1)])
    assert order(done, 0) == expected


@ALL
def test_each_cpu_has_a_lock(policy):
    done = run_threads(policy(), [user(5)], [user(5)], cpus=2, lock_time=1)
    # Each thread is in a queue of its own from the beginning, and is taken from it.
    assert [lock.attempts for lock in done.policy.locks] == [1, 1]


@ALL
def test_empty_queues_are_not_locked(policy):
    done = run_threads(policy(), [user(5)], cpus=3, lock_time=1)
    assert [lock.attempts for lock in done.policy.locks] == [1, 0, 0]


@pytest.mark.parametrize(
    ("policy", "of_queue", "attempts"),
    [(OneScan, True, 2), (TwoScans, False, 2), (TwoScans, True, 4), (ThreeScans, True, 6)],
)
def test_a_count_of_the_whole_queue_locks_it_in_vain(policy, of_queue, attempts):
    done = run_threads(policy(count_of_queue=of_queue), [user(5)], [user(5)], lock_time=1)
    # In user mode: the first scan finds none, nor does the second of three.
    assert done.policy.locks[0].attempts == attempts


@pytest.mark.parametrize(
    ("policy", "begin", "kernel_begins"),
    [(OneScan, 1, 502), (TwoScans, 4, 505), (ThreeScans, 7, 511)],
)
def test_looking_at_a_queue_takes_time_in_each_scan(policy, begin, kernel_begins):
    programs = [[user(500)], [user(900)], [user(900)], [kernel(5)]]
    arrivals = {1: 100, 2: 200, 3: 300}
    done = run_threads(policy(look_time=1), *programs, cpus=3, arrivals=arrivals)
    # User mode is found in the last scan, in the first queue; kernel mode with three scans in
    # the second.
    assert order(done, 0) == f"t0@{begin} t3@{kernel_begins}"


@ALL
def test_idle_cpus_are_called_once_the_lock_is_free(policy):
    arrivals = {0: 10, 1: 10}
    done = run_threads(policy(), [user(5)], [user(5)], cpus=2, lock_time=2, arrivals=arrivals)
    # Each CPU serves an interrupt. In the queue at 12, and out of it at 14.
    assert (order(done, 0), order(done, 1)) == ("t0@14", "t1@14")
    assert [lock.misses for lock in done.policy.locks] == [0, 0]


@ALL
def test_who_wakes_up_several_calls_several(policy):
    channel = Channel("channel")
    waits = [user(1), Receive(channel), user(5)]
    done = run_threads(policy(), [user(3), Send(channel, 2), user(9)], waits, waits, cpus=3)
    assert (order(done, 1), order(done, 2)) == ("t1@0 t1@3", "t2@0 t2@3")


@ALL
def test_no_thread_runs_elsewhere_before_it_has_left_its_cpu(policy):
    channel = Channel("channel")
    # Four enter the queue of CPU 1, whose lock CPU 0 waits for again and again; meanwhile the
    # timer lets the thread into the queue of CPU 0, which is idle CPU 2's to take from.
    waker = [user(50), Send(channel, 4), Sleep(1), user(50)]
    waits = [user(1), Receive(channel), user(100)]
    ends = [user(1)]
    done = run_threads(policy(), waker, *[waits, ends, ends] * 4, cpus=3, lock_time=10)
    rows = [(start, end) for _, start, end, number, *_ in done.recorder.rows if number == 0]
    (_, left), (begins, _) = sorted(rows)
    assert left <= begins
