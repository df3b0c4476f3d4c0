"""Hackbench: every sender sends to every receiver of its group."""

from __future__ import annotations

from random import Random

import pytest

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workloads import WORKLOADS
from dfopt.simulate.workloads.hackbench import Hackbench
from tests.simulate.run_queue.scenarios import LINES, small_hackbench


def test_every_sender_sends_to_every_receiver_of_its_group() -> None:
    kind = small_hackbench(groups=2, senders=3, loops=5, message_time=10)
    scenario = Scenario(name="h", workload=kind, machine=Machine(cpus=2), penalty=LINES)
    done = simulate_once(scenario, FirstComeFirstServed)
    times = {thread.name: thread.run_time for thread in done.engine.threads[1:]}
    assert len(times) == 2 * 3 * 2
    assert set(times.values()) == {5 * 3 * 10}
    used = {
        done.trace.tasks[task].name: done.trace.fragments[fragment]
        for task, fragment in zip(done.trace.task, done.trace.fragment, strict=True)
        if fragment >= 0
    }
    assert all(name.split("-")[0] == group for name, group in used.items())


def test_a_group_holds_a_message_of_each_sender() -> None:
    assert small_hackbench(senders=3, data_size=100).build(Random(0)).sizes == (6, 6)
    penalty = PenaltyF(read_line=7, write_back=0)
    kind = small_hackbench(groups=1, senders=3, data_size=65)
    scenario = Scenario(name="h", workload=kind, machine=Machine(cpus=1), penalty=penalty)
    done = simulate_once(scenario, FirstComeFirstServed)
    assert done.counters.penalties == [6 * 7]


def test_it_is_known_by_name() -> None:
    assert WORKLOADS["hackbench"] is Hackbench


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(InstanceError) as raised:
        small_hackbench(loops=0)
    assert raised.value.place == "loops"
