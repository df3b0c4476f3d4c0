"""The engine, by hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, ClassVar

import pytest

from dfopt.errors import DfoptError, InstanceError
from dfopt.machine import PenaltyF
from dfopt.simulate.run_queue.costs import penalty_costs
from dfopt.simulate.run_queue.engine import Engine
from dfopt.simulate.run_queue.machine import Machine
from dfopt.simulate.run_queue.policies.fcfs import FirstComeFirstServed
from dfopt.simulate.run_queue.policy import Policy, Why
from dfopt.simulate.run_queue.spin_lock import SpinLock
from dfopt.simulate.run_queue.steps import (
    DIRTY,
    INVALIDATED,
    UNMANAGED,
    Acquire,
    Burst,
    Channel,
    Device,
    InputOutput,
    Mutex,
    NewThread,
    Receive,
    Release,
    Send,
    Sleep,
    Spawn,
    Yield,
)
from dfopt.simulate.run_queue.thread import DISK, KERNEL, USER, Thread
from dfopt.simulate.run_queue.workload import Workload

A, B = 0, 1


def run(
    *programs: list[Any],
    policy: Policy | None = None,
    machine: Machine | None = None,
    arrivals: tuple[int, ...] = (),
    until: int | None = None,
) -> Engine:
    """Run threads t0, t1, …; a line takes 1 to read, the cache 10 to write back."""
    machine = machine or Machine(cpus=1)
    arrivals = arrivals or (0,) * len(programs)
    threads = tuple(
        NewThread(name=f"t{number}", steps=iter(steps), arrival=arrival)
        for number, (steps, arrival) in enumerate(zip(programs, arrivals, strict=True))
    )
    workload = Workload(threads=threads, fragments=("a", "b"))
    penalty = PenaltyF(read_line=1, write_back=10)
    costs = penalty_costs(penalty, workload.fragments, machine.cpus, cold_start=True)
    engine = Engine(machine, workload, costs, policy or FirstComeFirstServed(time_slice=0))
    engine.run(until)
    return engine


def rows(engine: Engine) -> list[tuple[int, int, int, str, int]]:
    """Return CPU, start, end, thread and fragment of all dispatches."""
    return [
        (cpu, start, end, engine.threads[thread].name, fragment)
        for cpu, start, end, thread, fragment, _, _ in engine.recorder.rows
    ]


def test_a_dispatch_pays_before_it_executes() -> None:
    engine = run([Burst(5, A, 3, DIRTY)], [Burst(5, B, 2)], [Burst(5, B, 2)])
    # 3 lines; 10 back and 2 lines; the same fragment.
    assert rows(engine) == [(0, 0, 8, "t0", A), (0, 8, 25, "t1", B), (0, 25, 30, "t2", B)]
    assert engine.counters.penalties == [15]


def test_invalidated_data_is_flushed_within_a_fragment() -> None:
    engine = run([Burst(5, A, 3, INVALIDATED)], [Burst(5, A, 3)])
    assert rows(engine) == [(0, 0, 8, "t0", A), (0, 8, 23, "t1", A)]


def test_bursts_without_a_fragment_disturb_nothing() -> None:
    engine = run([Burst(5, A, 3, DIRTY)], [Burst(5)], [Burst(5, A, 3)])
    assert rows(engine)[1:] == [(0, 8, 13, "t1", UNMANAGED), (0, 13, 18, "t2", A)]


def test_a_dispatch_goes_on_with_the_same_fragment_and_ends_with_another() -> None:
    engine = run([Burst(1, A, 3), Burst(2, A, 3, DIRTY), Burst(3, B, 1)])
    assert rows(engine) == [(0, 0, 6, "t0", A), (0, 6, 20, "t0", B)]
    assert engine.counters.dispatches == 2
    assert engine.counters.context_switches == 0
    # The dirtier of the two bursts counts.
    assert engine.recorder.rows[0][-1] == DIRTY


def test_a_yield_to_oneself_is_no_switch() -> None:
    engine = run([Burst(2), Yield(), Burst(2)], machine=Machine(cpus=1, switch_time=7))
    assert rows(engine) == [(0, 7, 11, "t0", UNMANAGED)]


def test_a_yield_lets_others_run() -> None:
    engine = run([Burst(2), Yield(), Burst(2)], [Burst(3)])
    assert [row[3] for row in rows(engine)] == ["t0", "t1", "t0"]


def test_a_switch_takes_its_time_between_dispatches() -> None:
    engine = run([Burst(2)], [Burst(3)], machine=Machine(cpus=1, switch_time=4))
    assert rows(engine) == [(0, 4, 6, "t0", UNMANAGED), (0, 10, 13, "t1", UNMANAGED)]
    assert engine.counters.overhead == 8


def test_a_message_wakes_the_first_that_waits() -> None:
    channel = Channel("inbox")
    engine = run(
        [Receive(channel), Burst(1)],
        [Receive(channel), Burst(1)],
        [Burst(4), Send(channel), Burst(4), Send(channel)],
        machine=Machine(cpus=2),
    )
    assert [(row[1], row[3]) for row in rows(engine)] == [(4, "t0"), (0, "t2"), (8, "t1")]


def test_messages_wait_for_those_that_come_later() -> None:
    channel = Channel("inbox")
    engine = run([Send(channel, 2), Burst(1)], [Burst(5), Receive(channel), Receive(channel)])
    assert engine.counters.end == 6
    assert channel.messages == 0


def test_a_lock_is_handed_on_in_order() -> None:
    mutex = Mutex("lock")
    engine = run(
        *([Acquire(mutex), Burst(5), Release(mutex)] for _ in range(3)), machine=Machine(cpus=3)
    )
    assert [(row[1], row[2], row[3]) for row in rows(engine)] == [
        (0, 5, "t0"), (5, 10, "t1"), (10, 15, "t2"),
    ]  # fmt: skip
    assert engine.counters.lock_waits == 2
    assert mutex.holder is None


def test_timers_and_devices() -> None:
    disk = Device("disk")
    engine = run(
        [Sleep(3), Burst(1)],
        [InputOutput(disk, 4), Burst(1)],
        [InputOutput(disk, 4), Burst(1)],
        machine=Machine(cpus=3),
    )
    # The disk serves one after the other.
    assert [(row[1], row[3]) for row in rows(engine)] == [(3, "t0"), (4, "t1"), (8, "t2")]


def test_a_child_appears_when_it_is_made() -> None:
    child = NewThread(name="child", steps=iter([Burst(2)]))
    engine = run([Burst(3), Spawn(child), Burst(3)], machine=Machine(cpus=2))
    assert [(row[1], row[2], row[3]) for row in rows(engine)] == [(3, 5, "child"), (0, 6, "t0")]
    assert engine.threads[1].parent is engine.threads[0]


def test_arrivals() -> None:
    engine = run([Burst(3)], [Burst(3)], arrivals=(5, 20))
    assert [row[1] for row in rows(engine)] == [5, 20]


def test_time_slices_count_execution_alone() -> None:
    engine = run([Burst(5, A, 3)], [Burst(5, A, 3)], policy=FirstComeFirstServed(time_slice=4))
    assert rows(engine) == [
        (0, 0, 7, "t0", A), (0, 7, 11, "t1", A), (0, 11, 12, "t0", A), (0, 12, 13, "t1", A),
    ]  # fmt: skip


def test_a_time_slice_goes_on_over_bursts() -> None:
    engine = run([Burst(3), Burst(3)], [Burst(3)], policy=FirstComeFirstServed(time_slice=4))
    assert [(row[1], row[2], row[3]) for row in rows(engine)] == [
        (0, 4, "t0"), (4, 7, "t1"), (7, 9, "t0"),
    ]  # fmt: skip


class Urgent(FirstComeFirstServed):
    """Woken threads take CPU 0 from whoever runs there."""

    name: ClassVar[str] = "urgent"

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        if why is Why.WOKEN:
            self._queue.appendleft(thread)
            self.engine.preempt(0)
        else:
            super().ready(thread, why, cpu)


def test_preemption() -> None:
    engine = run([Sleep(5), Burst(2)], [Burst(9)], policy=Urgent(time_slice=0))
    assert [(row[1], row[2], row[3]) for row in rows(engine)] == [
        (0, 5, "t1"), (5, 7, "t0"), (7, 11, "t1"),
    ]  # fmt: skip


class Eager(FirstComeFirstServed):
    """Whoever wakes up preempts the one that wakes it."""

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> None:
        super().ready(thread, why, cpu)
        if why is Why.WOKEN and cpu is not None:
            self.engine.preempt(cpu)


def test_a_cpu_that_has_chosen_anew_is_not_preempted() -> None:
    channel = Channel("c")
    # The sender ends when it has sent, and so the receiver runs before anybody is taken off.
    engine = run([Receive(channel), Burst(5)], [Send(channel)], policy=Eager())
    assert rows(engine) == [(0, 0, 5, "t0", UNMANAGED)]
    assert engine.counters.waits == 3


def test_a_penalty_is_never_interrupted() -> None:
    engine = run([Sleep(5), Burst(2)], [Burst(9, A, 20)], policy=Urgent(time_slice=0))
    # 20 to read, and one unit to get on.
    assert rows(engine)[0] == (0, 0, 21, "t1", A)
    assert engine.counters.penalties == [20]


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

    engine = run([Burst(3, A, 1), Burst(4, B, 1)], [Burst(3, A, 1)], policy=Mover(time_slice=0))
    assert [row[3:] for row in rows(engine)] == [("t0", A), ("t1", A), ("t0", B)]
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


def test_inversions() -> None:
    user, kernel = [Burst(5)], [Burst(5, is_kernel=True)]
    assert run(user, user, kernel).counters.inversions == 1  # t1; t2 was not there before t0
    assert run(kernel, kernel, user).counters.inversions == 0


def test_waits_and_responses() -> None:
    engine = run([Burst(5)], [Burst(5), Sleep(10), Burst(5)])
    counters = engine.counters
    assert (counters.waits, counters.waited, counters.longest_wait) == (3, 5, 5)
    assert (counters.responses, counters.responded, counters.longest_response) == (3, 20, 10)


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
    engine = run([Burst(5)], [Burst(5)], policy=policy, machine=Machine(cpus=2, lock_time=3))
    assert rows(engine) == [(0, 3, 8, "t0", UNMANAGED), (1, 6, 11, "t1", UNMANAGED)]
    assert (policy.lock.attempts, policy.lock.misses, policy.lock.spun) == (2, 1, 3)
    assert engine.counters.overhead == 9


class Looks(FirstComeFirstServed):
    """Spends time on every pick."""

    name: ClassVar[str] = "looks"
    look_time: Any = 2

    def pick(self, cpu: int) -> Thread | None:
        self.engine.spend(self.look_time)
        return super().pick(cpu)


def test_policies_spend_time_of_the_cpu_at_work() -> None:
    engine = run(
        [Burst(5)], [Burst(5)], [Burst(5)], policy=Looks(time_slice=0), machine=Machine(cpus=2)
    )
    assert rows(engine) == [
        (0, 2, 7, "t0", UNMANAGED),
        (1, 2, 7, "t1", UNMANAGED),
        (0, 9, 14, "t2", UNMANAGED),
    ]
    # Whoever finds nobody has looked all the same.
    assert (engine.counters.overhead, engine.counters.end) == (10, 16)


@pytest.mark.parametrize("time", [-1, 0.5])
def test_times_that_cannot_be_spent_are_refused(time: float) -> None:
    policy = Looks(time_slice=0)
    policy.look_time = time
    with pytest.raises(DfoptError, match=r"'looks' spends a time of .* at 0; name an integer"):
        run([Burst(5)], policy=policy)


def test_an_end_before_the_threads() -> None:
    engine = run([Burst(50)], [Burst(50)], until=20)
    assert rows(engine) == [(0, 0, 20, "t0", UNMANAGED)]
    assert engine.counters.executed == 20


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
        (Slicing(-1), [[Burst(1)]], "gives t0 a time slice of -1"),
        (Slicing(1.5), [[Burst(9)]], "gives t0 a time slice of 1.5"),
        (Ticking(1.5), [[Burst(9)]], "'broken' asks at 0 for a call at 1.5"),
        (Late(), [[Burst(9)]], "'broken' asks at 3 for a call at 2"),
        (Broken(time_slice=0), [[Burst(2**62)], [Burst(2**62)]], r"lasts longer than 2\^62"),
        (Broken(), [[Release(Mutex("m"))]], "t0 releases m, which it does not hold"),
        (Broken(), [[Receive(Channel("inbox"))]], "deadlock: 1 threads wait .* t0 for inbox"),
    ],
)
def test_what_goes_wrong_is_said(policy: Policy, programs: list[list[Any]], problem: str) -> None:
    with pytest.raises(DfoptError, match=problem):
        run(*programs, policy=policy)


def test_a_deadlock_is_found_in_spite_of_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.simulate.run_queue.engine.STALLED", 100)
    with pytest.raises(DfoptError, match="deadlock"):
        run([Receive(Channel("inbox"))], policy=Ticking(10))


@pytest.mark.parametrize("steps", [[Burst(5_000)], [Sleep(4_999), Burst(1)]])
def test_ticks_while_a_thread_runs_or_sleeps_are_no_deadlock(
    monkeypatch: pytest.MonkeyPatch, steps: list[Any]
) -> None:
    monkeypatch.setattr("dfopt.simulate.run_queue.engine.STALLED", 100)
    assert run(steps, policy=Ticking(10)).counters.end == 5_000


def test_calls_that_never_get_on_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.simulate.run_queue.engine.STALLED", 100)

    class Calling(Broken):
        def begin(self) -> None:
            self.engine.call_at(4, self.begin_again)

        def begin_again(self) -> None:
            self.engine.call_at(self.engine.now, self.begin_again)

    with pytest.raises(DfoptError, match="time stands still at 4"):
        run([Burst(9)], policy=Calling())


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (lambda: Sleep(-1), "time"),
        (lambda: Sleep(1.5), "time"),  # type: ignore[arg-type]
        (lambda: InputOutput(Device("disk"), -1), "time"),
        (lambda: Send(Channel("c"), -1), "messages"),
        (lambda: NewThread(name="t", steps=iter(()), arrival=-1), "arrival"),
        (lambda: NewThread(name="t", steps=iter(()), nice=20), "nice"),
        (lambda: NewThread(name="t", steps=iter(()), nice=-21), "nice"),
    ],
)
def test_what_threads_cannot_do_is_refused(make: Callable[[], object], place: str) -> None:
    with pytest.raises(InstanceError) as error:
        make()
    assert error.value.place == place


def test_time_that_stands_still_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.simulate.run_queue.engine.STALLED", 100)

    def for_ever() -> Iterator[Any]:
        while True:
            yield Yield()

    with pytest.raises(DfoptError, match="time stands still at 0"):
        run(for_ever())  # type: ignore[arg-type]


def test_random_choices_are_seeded() -> None:
    machine, empty = Machine(cpus=1), Workload(threads=())
    costs = penalty_costs(PenaltyF(read_line=1, write_back=1), (), 1, cold_start=True)
    engines = [Engine(machine, empty, costs, Broken(), seed=7) for _ in range(2)]
    assert engines[0].random.random() == engines[1].random.random() == Random(7).random()
    assert deque(engines[0].idle()) == deque([0])
