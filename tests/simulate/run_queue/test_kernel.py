"""The kernel, by hand: what threads do, and what of it is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dfopt.errors import DfoptError, InstanceError
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine
from dfopt.simulate.steps import (
    Acquire,
    Channel,
    Device,
    InputOutput,
    Mutex,
    Receive,
    Release,
    Send,
    Sleep,
    Spawn,
    Yield,
)
from dfopt.simulate.workload import DIRTY, INVALIDATED, UNMANAGED, Burst, NewThread
from tests.simulate.run_queue.by_hand import rows, run

A, B = 0, 1


def test_a_dispatch_pays_before_it_executes() -> None:
    kernel = run([Burst(5, A, 3, DIRTY)], [Burst(5, B, 2)], [Burst(5, B, 2)])
    # 3 lines; 10 back and 2 lines; the same fragment.
    assert rows(kernel) == [(0, 0, 8, "t0", A), (0, 8, 25, "t1", B), (0, 25, 30, "t2", B)]
    assert kernel.counters.penalties == [15]


def test_invalidated_data_is_flushed_within_a_fragment() -> None:
    kernel = run([Burst(5, A, 3, INVALIDATED)], [Burst(5, A, 3)])
    assert rows(kernel) == [(0, 0, 8, "t0", A), (0, 8, 23, "t1", A)]


def test_bursts_without_a_fragment_disturb_nothing() -> None:
    kernel = run([Burst(5, A, 3, DIRTY)], [Burst(5)], [Burst(5, A, 3)])
    assert rows(kernel)[1:] == [(0, 8, 13, "t1", UNMANAGED), (0, 13, 18, "t2", A)]


def test_a_dispatch_goes_on_with_the_same_fragment_and_ends_with_another() -> None:
    kernel = run([Burst(1, A, 3), Burst(2, A, 3, DIRTY), Burst(3, B, 1)])
    assert rows(kernel) == [(0, 0, 6, "t0", A), (0, 6, 20, "t0", B)]
    assert kernel.counters.dispatches == 2
    assert kernel.counters.context_switches == 0
    # The dirtier of the two bursts counts.
    assert kernel.recorder.rows[0][6] == DIRTY


def test_a_yield_to_oneself_is_no_switch() -> None:
    kernel = run([Burst(2), Yield(), Burst(2)], machine=Machine(cpus=1, switch_time=7))
    assert rows(kernel) == [(0, 7, 11, "t0", UNMANAGED)]


def test_a_yield_lets_others_run() -> None:
    kernel = run([Burst(2), Yield(), Burst(2)], [Burst(3)])
    assert [row[3] for row in rows(kernel)] == ["t0", "t1", "t0"]


def test_a_switch_takes_its_time_between_dispatches() -> None:
    kernel = run([Burst(2)], [Burst(3)], machine=Machine(cpus=1, switch_time=4))
    assert rows(kernel) == [(0, 4, 6, "t0", UNMANAGED), (0, 10, 13, "t1", UNMANAGED)]
    assert kernel.counters.overhead == 8


def test_a_message_wakes_the_first_that_waits() -> None:
    channel = Channel("inbox")
    kernel = run(
        [Receive(channel), Burst(1)],
        [Receive(channel), Burst(1)],
        [Burst(4), Send(channel), Burst(4), Send(channel)],
        machine=Machine(cpus=2),
    )
    assert [(row[1], row[3]) for row in rows(kernel)] == [(4, "t0"), (0, "t2"), (8, "t1")]


def test_messages_wait_for_those_that_come_later() -> None:
    channel = Channel("inbox")
    kernel = run([Send(channel, 2), Burst(1)], [Burst(5), Receive(channel), Receive(channel)])
    assert kernel.counters.end == 6
    assert channel.messages == 0


def test_who_fills_a_channel_waits_until_a_third_of_it_is_free() -> None:
    channel = Channel("socket", limit=3)
    send, take = Send(channel), Receive(channel)
    # The fourth message waits while three are there, and comes when one has been taken.
    kernel = run([*[send, Burst(1)] * 4], [Burst(10), take, Burst(10), take])
    assert [(row[1], row[2], row[3]) for row in rows(kernel)] == [
        (0, 3, "t0"), (3, 23, "t1"), (23, 24, "t0"),
    ]  # fmt: skip
    assert channel.messages == 2


def test_two_thirds_of_a_channel_may_stay_full() -> None:
    channel = Channel("socket", messages=6, limit=6)
    send, take = Send(channel), Receive(channel)
    kernel = run([send, Burst(1)], [*[take, Burst(10)] * 2], machine=Machine(cpus=2))
    # After the first is taken five are left, after the second four.
    assert [(row[1], row[3]) for row in rows(kernel)] == [(10, "t0"), (0, "t1")]
    assert channel.messages == 5


def test_all_that_fit_go_on_at_once() -> None:
    channel = Channel("socket", messages=1, limit=1)
    nothing = Send(channel, 0)
    kernel = run(
        [nothing, Burst(1)],
        [nothing, Burst(1)],
        [Burst(5), Receive(channel)],
        machine=Machine(cpus=3),
    )
    assert {row[1] for row in rows(kernel) if row[3] != "t2"} == {5}


def test_nobody_overtakes_those_that_wait_for_room() -> None:
    channel = Channel("socket", messages=6, limit=6)
    send, take = Send(channel), Receive(channel)
    # When the second sender comes five are left: too many for the first one still.
    kernel = run(
        [send, Burst(1)],
        [Burst(5), send, Burst(1)],
        [Burst(2), take, Burst(8), take, Burst(2), take],
        machine=Machine(cpus=3),
    )
    began = {(row[3], row[1]) for row in rows(kernel)}
    assert began == {("t0", 10), ("t1", 0), ("t1", 12), ("t2", 0)}
    assert channel.messages == 5


def test_a_lock_is_handed_on_in_order() -> None:
    mutex = Mutex("lock")
    kernel = run(
        *([Acquire(mutex), Burst(5), Release(mutex)] for _ in range(3)), machine=Machine(cpus=3)
    )
    assert [(row[1], row[2], row[3]) for row in rows(kernel)] == [
        (0, 5, "t0"), (5, 10, "t1"), (10, 15, "t2"),
    ]  # fmt: skip
    assert kernel.counters.lock_waits == 2
    assert mutex.holder is None


def test_timers_and_devices() -> None:
    disk = Device("disk")
    kernel = run(
        [Sleep(3), Burst(1)],
        [InputOutput(disk, 4), Burst(1)],
        [InputOutput(disk, 4), Burst(1)],
        machine=Machine(cpus=3),
    )
    # The disk serves one after the other.
    assert [(row[1], row[3]) for row in rows(kernel)] == [(3, "t0"), (4, "t1"), (8, "t2")]


def test_a_child_appears_when_it_is_made() -> None:
    child = NewThread(name="child", steps=iter([Burst(2)]))
    kernel = run([Burst(3), Spawn(child), Burst(3)], machine=Machine(cpus=2))
    assert [(row[1], row[2], row[3]) for row in rows(kernel)] == [(3, 5, "child"), (0, 6, "t0")]
    assert kernel.threads[1].parent is kernel.threads[0]


def test_arrivals() -> None:
    kernel = run([Burst(3)], [Burst(3)], arrivals=(5, 20))
    assert [row[1] for row in rows(kernel)] == [5, 20]


def test_time_slices_count_execution_alone() -> None:
    kernel = run([Burst(5, A, 3)], [Burst(5, A, 3)], policy=FirstComeFirstServed(time_slice=4))
    assert rows(kernel) == [
        (0, 0, 7, "t0", A), (0, 7, 11, "t1", A), (0, 11, 12, "t0", A), (0, 12, 13, "t1", A),
    ]  # fmt: skip


def test_a_time_slice_goes_on_over_bursts() -> None:
    kernel = run([Burst(3), Burst(3)], [Burst(3)], policy=FirstComeFirstServed(time_slice=4))
    assert [(row[1], row[2], row[3]) for row in rows(kernel)] == [
        (0, 4, "t0"), (4, 7, "t1"), (7, 9, "t0"),
    ]  # fmt: skip


def test_inversions() -> None:
    user, kernel = [Burst(5)], [Burst(5, is_kernel=True)]
    assert run(user, user, kernel).counters.inversions == 1  # t1; t2 was not there before t0
    assert run(kernel, kernel, user).counters.inversions == 0


def test_waits_and_responses() -> None:
    kernel = run([Burst(5)], [Burst(5), Sleep(10), Burst(5)])
    counters = kernel.counters
    assert (counters.waits, counters.waited, counters.longest_wait) == (3, 5, 5)
    assert (counters.responses, counters.responded, counters.longest_response) == (3, 20, 10)


def test_an_end_before_the_threads() -> None:
    kernel = run([Burst(50)], [Burst(50)], until=20)
    assert rows(kernel) == [(0, 0, 20, "t0", UNMANAGED)]
    assert kernel.counters.executed == 20


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
    monkeypatch.setattr("dfopt.simulate.kernel.STALLED", 100)

    def for_ever() -> Iterator[Any]:
        while True:
            yield Yield()

    with pytest.raises(DfoptError, match="time stands still at 0"):
        run(for_ever())  # type: ignore[arg-type]
