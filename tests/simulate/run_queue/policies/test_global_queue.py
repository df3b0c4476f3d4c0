"""The one ready queue of priority lists, by hand."""

from dfopt.simulate.policies.tlms import GlobalQueue
from dfopt.simulate.steps import Channel, Device, InputOutput, Receive, Send
from tests.simulate.run_queue.by_hand import kernel, order, run_threads, user


def test_kernel_mode_comes_before_user_mode():
    done = run_threads(GlobalQueue(), [user(5)], [user(5)], [kernel(5)])
    assert order(done, 0) == "t0@0 t2@5 t1@10"
    assert done.counters.inversions == 0


def test_disk_wake_ups_come_before_the_rest_of_kernel_mode():
    waits = [kernel(1), InputOutput(Device("disk"), 1), kernel(1)]
    done = run_threads(GlobalQueue(), waits, [kernel(3)], [kernel(1)])
    assert order(done, 0) == "t0@0 t1@1 t0@4 t2@5"


def test_a_list_goes_round_robin():
    done = run_threads(GlobalQueue(time_slice=2), [user(4)], [user(3)])
    assert order(done, 0) == "t0@0 t1@2 t0@4 t1@6"


def test_a_slice_that_ends_in_kernel_mode_leaves_the_thread_there():
    done = run_threads(GlobalQueue(time_slice=2), [kernel(4)], [user(2)], [kernel(3)])
    assert order(done, 0) == "t0@0 t2@2 t0@4 t2@6 t1@7"


def test_a_slice_that_ends_in_kernel_mode_may_send_the_thread_behind_user_mode():
    policy = GlobalQueue(time_slice=2, stays_in_kernel=False)
    done = run_threads(policy, [kernel(4)], [user(2)], [kernel(3)])
    # Both threads in kernel mode expire behind t1.
    assert order(done, 0) == "t0@0 t2@2 t1@4 t0@6 t2@8"


def test_any_idle_cpu_runs_the_first():
    done = run_threads(GlobalQueue(), [user(5)], [user(9)], [user(5)], cpus=2)
    assert (order(done, 0), order(done, 1)) == ("t0@0 t2@5", "t1@0")


def test_all_operations_go_through_one_lock():
    done = run_threads(GlobalQueue(), [user(5)], [user(5)], [user(5)], cpus=2, lock_time=1)
    (lock,) = done.policy.locks
    # Three threads are taken; at 0 the CPUs come one after another.
    assert (lock.attempts, lock.misses) == (3, 1)
    assert done.counters.overhead > 0


def test_an_idle_cpu_does_not_lock_an_empty_queue():
    done = run_threads(GlobalQueue(), [user(5)], cpus=3, lock_time=1)
    assert done.policy.locks[0].attempts == 1


def test_who_wakes_up_several_calls_several():
    channel = Channel("channel")
    waits = [user(1), Receive(channel), user(5)]
    done = run_threads(GlobalQueue(), [user(3), Send(channel, 2), user(9)], waits, waits, cpus=3)
    assert done.counters.end == 12
    assert done.counters.longest_wait == 0
