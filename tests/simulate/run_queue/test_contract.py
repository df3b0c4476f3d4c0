"""The kernel under policies, by hand: what they may do, and the errors about what they may not."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any, ClassVar

import pytest

from dfopt.errors import DfoptError
from dfopt.problem.cache import CLEAN, EMPTY, INVALIDATED
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.caches import penalty_caches
from dfopt.simulate.contract import DISK, KERNEL, USER, Policy, SpinLock, Thread, Why
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine
from dfopt.simulate.steps import (
    Channel,
    Device,
    InputOutput,
    Mutex,
    Receive,
    Release,
    Send,
    Sleep,
    Spawn,
)
from dfopt.simulate.workload import (
    UNMANAGED,
    Burst,
    NewThread,
    ThreadSetting,
    Workload,
)
from tests.simulate.run_queue.by_hand import rows, run

A, B = 0, 1


class Urgent(FirstComeFirstServed):
    """Woken threads take CPU 0 from the thread that runs there."""

    name: ClassVar[str] = "urgent"

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        if why is Why.WOKEN:
            self._queue.appendleft(thread)
            self.engine.preempt(0)
        else:
            super().ready(thread, why, cpu)


def test_preemption() -> None:
    kernel = run([Sleep(5), Burst(2)], [Burst(9)], policy=Urgent(time_slice=0))
    assert [(row[1], row[2], row[3]) for row in rows(kernel)] == [
        (0, 5, "t1"), (5, 7, "t0"), (7, 11, "t1"),
    ]  # fmt: skip


class Eager(FirstComeFirstServed):
    """A thread that wakes up preempts the thread that wakes it."""

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        super().ready(thread, why, cpu)
        if why is Why.WOKEN and cpu is not None:
            self.engine.preempt(cpu)


def test_a_cpu_that_has_chosen_anew_is_not_preempted() -> None:
    channel = Channel("c")
    # The sender ends when it has sent, and so the receiver runs before anybody is taken off.
    kernel = run([Receive(channel), Burst(5)], [Send(channel)], policy=Eager())
    assert rows(kernel) == [(0, 0, 5, "t0", UNMANAGED)]
    assert kernel.counters.waits == 3


def test_a_penalty_is_never_interrupted() -> None:
    kernel = run([Sleep(5), Burst(2)], [Burst(9, A, 20)], policy=Urgent(time_slice=0))
    # 20 to read, and one unit to get on.
    assert rows(kernel)[0] == (0, 0, 21, "t1", A)
    assert kernel.counters.penalties == [20]


def test_a_policy_may_take_a_thread_off_before_it_touches_other_data() -> None:
    class Mover(FirstComeFirstServed):
        name: ClassVar[str] = "mover"
        seen: ClassVar[list[tuple[int, int, Why | None]]] = []

        def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
            super().ready(thread, why, cpu)
            self.seen.append((thread.fragment, thread.left, why))

        def changes(self, thread: Thread, fragment: int, cpu: int) -> bool:
            del cpu
            assert (fragment, thread.fragment) == (A, B)
            return True

    kernel = run([Burst(3, A, 1), Burst(4, B, 1)], [Burst(3, A, 1)], policy=Mover(time_slice=0))
    assert [row[3:] for row in rows(kernel)] == [("t0", A), ("t1", A), ("t0", B)]
    assert Mover.seen[-1] == (B, 4, Why.CHANGED)


def test_policies_see_what_comes_next() -> None:
    seen: list[tuple[str, int, int]] = []

    class Seer(FirstComeFirstServed):
        name: ClassVar[str] = "seer"

        def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
            seen.append((thread.name, thread.fragment, thread.band))
            super().ready(thread, why, cpu)

    disk = Device("disk")
    run(
        [Burst(1, A, 1), InputOutput(disk, 5), Burst(1, B, 1)],
        [Burst(1, is_kernel=True)],
        policy=Seer(time_slice=0),
    )
    assert seen == [("t0", A, USER), ("t1", UNMANAGED, KERNEL), ("t0", B, DISK)]


class Watching(FirstComeFirstServed):
    """Looks at what the threads have executed, at every tick and at every choice."""

    name: ClassVar[str] = "watching"
    tick_interval = 3

    def begin(self) -> None:
        self.seen: list[tuple[int, list[int]]] = []

    def tick(self) -> None:
        self.seen.append((self.engine.now, [*map(self.engine.executed, self.engine.threads)]))

    def slice(self, thread: Thread, cpu: int) -> int:
        self.tick()
        return super().slice(thread, cpu)


def test_the_progress_of_a_running_thread_can_be_asked_for() -> None:
    policy = Watching(time_slice=0)
    run([Burst(2, A, 4), Burst(3, A, 1)], [Burst(2)], policy=policy)
    # The penalty of 4 is no progress; t0 goes on with its second burst at 6, t1 runs from 9 on.
    assert policy.seen == [
        (0, [0]), (3, [0, 0]), (6, [2, 0]), (9, [5, 0]), (9, [5, 0]),
    ]  # fmt: skip


class Locked(FirstComeFirstServed):
    """Takes one lock for every pick."""

    name: ClassVar[str] = "locked"

    def begin(self) -> None:
        self.lock = SpinLock()

    def pick(self, cpu: int) -> Thread | None:
        if self._queue:
            self.engine.acquire(self.lock)
        return super().pick(cpu)


def test_cpus_spin_on_the_locks_of_queues() -> None:
    policy = Locked(time_slice=0)
    kernel = run([Burst(5)], [Burst(5)], policy=policy, machine=Machine(cpus=2, lock_time=3))
    assert rows(kernel) == [(0, 3, 8, "t0", UNMANAGED), (1, 6, 11, "t1", UNMANAGED)]
    assert (policy.lock.attempts, policy.lock.misses, policy.lock.spun) == (2, 1, 3)
    assert kernel.counters.overhead == 9


class Looks(FirstComeFirstServed):
    """Spends time on every pick."""

    name: ClassVar[str] = "looks"
    look_time: Any = 2

    def pick(self, cpu: int) -> Thread | None:
        self.engine.spend(self.look_time)
        return super().pick(cpu)


def test_policies_spend_time_of_the_cpu_at_work() -> None:
    kernel = run(
        [Burst(5)], [Burst(5)], [Burst(5)], policy=Looks(time_slice=0), machine=Machine(cpus=2)
    )
    # CPU 1 looks when only t0 is there, which CPU 0 takes, and again when that look is over.
    assert sorted(rows(kernel)) == [
        (0, 2, 7, "t0", UNMANAGED),
        (0, 9, 14, "t2", UNMANAGED),
        (1, 4, 9, "t1", UNMANAGED),
    ]
    # A CPU that finds no thread has looked as well: CPU 1 from 0 and from 9, CPU 0 from 14 on.
    assert (kernel.counters.overhead, kernel.counters.end) == (12, 16)


@pytest.mark.parametrize("time", [-1, 0.5])
def test_times_that_cannot_be_spent_are_refused(time: float) -> None:
    policy = Looks(time_slice=0)
    policy.look_time = time
    with pytest.raises(DfoptError, match=r"'looks' spends a time of .* at 0; name an integer"):
        run([Burst(5)], policy=policy)


def test_a_thread_knows_who_woke_or_made_it() -> None:
    wakers: list[tuple[str, str | None]] = []

    class Noting(FirstComeFirstServed):
        name: ClassVar[str] = "noting"

        def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
            wakers.append((thread.name, thread.waker and thread.waker.name))
            super().ready(thread, why, cpu)

    channel = Channel("c")
    child = NewThread(name="child", steps=iter([Burst(1), Send(channel)]))
    run([Receive(channel), Sleep(3), Burst(1)], [Spawn(child)], policy=Noting(time_slice=0))
    # A timer comes as an interrupt, which no thread has sent.
    assert wakers == [("t0", None), ("t1", None), ("child", "t1"), ("t0", "child"), ("t0", None)]


def test_weights_follow_from_nice_unless_they_are_given() -> None:
    assert [NewThread(name="t", steps=iter(()), nice=nice).real_weight for nice in (0, 1, -1)] == [
        1024, 819, 1280,
    ]  # fmt: skip
    assert NewThread(name="t", steps=iter(()), nice=3, weight=7).real_weight == 7


def test_cpus_that_are_not_there_do_not_count() -> None:
    def bound(*cpus: int) -> Kernel:
        spawn = Spawn(NewThread(name="bound", steps=iter([Burst(1)]), cpus_allowed=cpus))
        return run([spawn, Burst(1)], machine=Machine(cpus=2))

    assert bound(0, 1, 2).threads[1].cpus_allowed is None
    with pytest.raises(DfoptError, match="bound may run on CPU 2, 3 only, but there are only 0"):
        bound(2, 3)
    with pytest.raises(DfoptError, match=r"'fcfs' lets bound run on CPU 1, .* may run on 0 only"):
        bound(0, 2)


@pytest.mark.parametrize("restricts", [True, False])
def test_policies_that_do_not_look_where_threads_may_run_are_unfit(*, restricts: bool) -> None:
    setting = ThreadSetting(match="t*", nice=3, cpus_allowed=(1,) if restricts else None)
    workload = Workload(threads=(), settings=(setting,))
    assert (POLICIES["fcfs"]().unfit(workload, 2) is not None) == restricts
    assert POLICIES["eevdf"]().unfit(workload, 2) is None


class Broken(FirstComeFirstServed):
    name: ClassVar[str] = "broken"


class Forgetful(Broken):
    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        if thread.name != "t1":
            super().ready(thread, why, cpu)


class Repeating(Broken):
    def pick(self, cpu: int) -> Thread | None:
        del cpu
        return self._queue[0] if self._queue else None


class Returning(Broken):
    """Returns something from a callback."""

    def __init__(self, callback: str, given: Any) -> None:
        super().__init__()
        setattr(self, callback, lambda *_: given)


class Asking(Broken):
    """Asks the kernel for a CPU as soon as there is a thread."""

    def __init__(self, request: str, cpu: int) -> None:
        super().__init__()
        self._request = request
        self._cpu = cpu

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        super().ready(thread, why, cpu)
        getattr(self.engine, self._request)(self._cpu)


class Slicing(Broken):
    def __init__(self, given: Any) -> None:
        super().__init__()
        self._given = given

    def slice(self, thread: Thread, cpu: int) -> int:
        del thread, cpu
        return self._given  # type: ignore[no-any-return]


class Ticking(Broken):
    def __init__(self, tick_interval: Any) -> None:
        super().__init__(time_slice=0)
        self.tick_interval = tick_interval


class Late(Broken):
    def begin(self) -> None:
        self.engine.call_at(3, lambda: self.engine.call_at(2, self.begin))


@pytest.mark.parametrize(
    ("policy", "programs", "problem"),
    [
        (Forgetful(), [[Burst(1)], [Burst(1)]], "'broken' has lost 1 ready threads, t1 among them"),
        (Repeating(), [[Burst(1), Sleep(1)]], "lets t0 run on CPU 0, which is blocked"),
        (Returning("ready", 99), [[Burst(1)]], "names CPU 99, but there are only 0 to 0"),
        (Returning("ready", -2), [[Burst(1)]], "names CPU -2"),
        (Returning("pick", 17), [[Burst(1)]], "'broken' picks 17 for CPU 0; return a thread"),
        (Asking("preempt", -1), [[Burst(1)]], "names CPU -1"),
        (Asking("offer", 1), [[Burst(1)]], "names CPU 1"),
        (Slicing(-1), [[Burst(1)]], "gives t0 a time slice of -1"),
        (Slicing(1.5), [[Burst(9)]], "gives t0 a time slice of 1.5"),
        (Ticking(1.5), [[Burst(9)]], "'broken' asks at 0 for a call at 1.5"),
        (Late(), [[Burst(9)]], "'broken' asks at 3 for a call at 2"),
        (Broken(time_slice=0), [[Burst(2**62)], [Burst(2**62)]], r"lasts longer than 2\^62"),
        (Broken(), [[Release(Mutex("m"))]], "t0 releases m, which it does not hold"),
        (Broken(), [[Receive(Channel("inbox"))]], "deadlock: 1 threads wait .* t0 for inbox"),
        (
            Broken(),
            [[Send(Channel("inbox", messages=1, limit=1))]],
            "deadlock: 1 threads wait .* t0 for room in inbox",
        ),
    ],
)
def test_what_goes_wrong_is_said(policy: Policy, programs: list[list[Any]], problem: str) -> None:
    with pytest.raises(DfoptError, match=problem):
        run(*programs, policy=policy)


def test_a_deadlock_is_found_in_spite_of_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.simulate.kernel.STALLED", 100)
    with pytest.raises(DfoptError, match="deadlock"):
        run([Receive(Channel("inbox"))], policy=Ticking(10))


@pytest.mark.parametrize("steps", [[Burst(5_000)], [Sleep(4_999), Burst(1)]])
def test_ticks_while_a_thread_runs_or_sleeps_are_no_deadlock(
    monkeypatch: pytest.MonkeyPatch, steps: list[Any]
) -> None:
    monkeypatch.setattr("dfopt.simulate.kernel.STALLED", 100)
    assert run(steps, policy=Ticking(10)).counters.end == 5_000


def test_calls_that_never_get_on_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.simulate.kernel.STALLED", 100)

    class Calling(Broken):
        def begin(self) -> None:
            self.engine.call_at(4, self.begin_again)

        def begin_again(self) -> None:
            self.engine.call_at(self.engine.now, self.begin_again)

    with pytest.raises(DfoptError, match="time stands still at 4"):
        run([Burst(9)], policy=Calling())


def test_random_choices_are_seeded() -> None:
    machine, empty = Machine(cpus=1), Workload(threads=())
    caches = penalty_caches(PenaltyF(read_line=1, write_back=1), (), 1, cold_start=True)
    kernels = [Kernel(machine, empty, caches, Broken(), seed=7) for _ in range(2)]
    assert kernels[0].random.random() == kernels[1].random.random() == Random(7).random()
    assert deque(kernels[0].idle()) == deque([0])


def test_policies_see_what_caches_hold_by_the_earlier_name_too() -> None:
    caches = penalty_caches(PenaltyF(read_line=1, write_back=1), ("a", "b"), 2, cold_start=True)
    kernel = Kernel(Machine(cpus=2), Workload(threads=()), caches, Broken())
    caches[1].enter(Burst(1, 1, leaves=INVALIDATED))
    held = [(cache.fragment, cache.leaves) for cache in kernel.caches]
    assert held == [(EMPTY, CLEAN), (1, INVALIDATED)]
    assert (kernel.costs.held, kernel.costs.left) == ([EMPTY, 1], [CLEAN, INVALIDATED])
