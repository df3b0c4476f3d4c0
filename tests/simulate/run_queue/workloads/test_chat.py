"""Chat rooms: which threads handle how many messages, and on which data."""

from __future__ import annotations

import tracemalloc
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import Simulation, simulate_once
from dfopt.simulate.workload import CLEAN, DIRTY
from dfopt.simulate.workloads import WORKLOADS
from dfopt.simulate.workloads.chat import CLIENT, SERVER, Chat
from tests.simulate.run_queue.scenarios import small_chat

TIME = 1_000


def lines_of(done: Simulation) -> NDArray[np.int64]:
    assert done.trace.lines is not None
    return done.trace.lines


def simulated(chat: Chat, cpus: int = 2) -> Simulation:
    scenario = Scenario(
        name="chat",
        workload=chat,
        machine=Machine(cpus=cpus),
        penalty=PenaltyF(read_line=1, write_back=0),
    )
    return simulate_once(scenario, FirstComeFirstServed)


def test_it_is_known_by_name() -> None:
    assert WORKLOADS["chat"] is Chat


def test_each_message_is_sent_and_read_once_and_passed_on_to_all_others() -> None:
    done = simulated(small_chat(rooms=2, users=3, messages=4, message_time=TIME))
    handled = {thread.name: thread.run_time // TIME for thread in done.engine.threads}
    of_user = {name: handled[f"room1-user2-{name}"] for name in _ROLES}
    assert of_user == {"sender": 4, "reader": 4, "writer": 8, "receiver": 8}
    # 80 threads a room of 20 users: 4 each, and the two that make them.
    assert len(handled) == 2 * 3 * 4 + 2


_ROLES = ("sender", "reader", "writer", "receiver")


def test_the_number_of_transmissions_is_the_published_one() -> None:
    # "100 messages sent by a user translate to 20*100*(1+19)=40,000 transmitted messages per room"
    done = simulated(Chat(rooms=1, messages=100, message_time=TIME))
    sent = [
        thread.run_time // TIME
        for thread in done.engine.threads
        if thread.name.endswith(("sender", "writer"))
    ]
    assert sum(sent) == 40_000


def test_a_room_is_a_fragment_of_each_process() -> None:
    workload = small_chat(rooms=2).build(Random(0))
    assert workload.fragments == ("room0-client", "room0-server", "room1-client", "room1-server")
    done = simulated(small_chat(rooms=2))
    names, fragments = done.trace.tasks, done.trace.fragments
    for task, fragment in zip(done.trace.task, done.trace.fragment, strict=True):
        if fragment < 0:
            assert names[task].name in {"client", "server"}
            continue
        room, side = fragments[fragment].split("-")
        assert names[task].name.startswith(f"{room}-")
        is_client = names[task].name.endswith(("sender", "receiver"))
        assert side == ("client" if is_client else "server")
    for thread in done.engine.threads:
        is_client = thread.name == "client" or thread.name.endswith(("sender", "receiver"))
        assert thread.application == (CLIENT if is_client else SERVER)


def test_a_room_has_lines_and_a_message_for_each_user() -> None:
    chat = small_chat(rooms=1, users=3, user_lines=5, message_size=65)
    assert chat.build(Random(0)).sizes == (3 * 7, 3 * 7)
    done = simulated(chat, cpus=1)
    assert set(lines_of(done)[done.trace.fragment >= 0].tolist()) == {3 * 7}


def test_a_thread_may_read_a_part_of_the_room_alone() -> None:
    chat = small_chat(rooms=2, users=3, user_lines=5, message_size=0, burst_lines=4)
    assert chat.build(Random(0)).sizes == (15,) * 4
    done = simulated(chat)
    assert set(lines_of(done)[done.trace.fragment >= 0].tolist()) == {4}


def test_it_cannot_read_more_than_there_is() -> None:
    with pytest.raises(InstanceError, match="is 16, but a room has 15") as raised:
        small_chat(users=3, user_lines=5, message_size=0, burst_lines=16)
    assert raised.value.place == "burst_lines"


@pytest.mark.parametrize(("limit", "bursts"), [(0, 9), (3, 4)])
def test_a_sender_waits_when_its_socket_is_full(limit: int, bursts: int) -> None:
    # One CPU, first come first served, no time slice in the way: a sender does what it may before
    # anybody reads. Three messages go into the socket, and the fourth is held up.
    chat = small_chat(rooms=1, messages=9, message_time=TIME, socket_messages=limit)
    done = simulated(chat, cpus=1)
    name = "room0-user0-sender"
    first = next(
        row for row, task in enumerate(done.trace.task) if done.trace.tasks[task].name == name
    )
    assert (done.trace.end[first] - done.trace.start[first]) // TIME == bursts
    handled = {thread.name: thread.run_time // TIME for thread in done.engine.threads}
    assert handled[name] == 9
    assert handled["room0-user0-receiver"] == 18


@pytest.mark.slow
def test_pairs_of_users_take_no_memory() -> None:
    tracemalloc.start()
    Chat(rooms=1, users=3_000).build(Random(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000 * 3_000  # nine million of anything take more


def test_who_receives_only_looks() -> None:
    done = simulated(small_chat())
    assert done.trace.leaves is not None
    for task, leaves in zip(done.trace.task, done.trace.leaves, strict=True):
        name = done.trace.tasks[task].name
        if "-" in name:
            assert leaves == (CLEAN if name.endswith("receiver") else DIRTY)


@pytest.mark.parametrize(
    ("name", "value"), [("rooms", 0), ("users", 1), ("messages", 0), ("message_time", 0)]
)
def test_wrong_parameters_are_named(name: str, value: int) -> None:
    with pytest.raises(InstanceError) as raised:
        small_chat(**{name: value})
    assert raised.value.place == name
