"""Segregation: a CPU of one class runs no other class, even if it is idle otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import pytest

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.policies.segregation import Segregation
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workload import Burst, NewThread, Workload
from tests.simulate.run_queue.scenarios import small_custom, small_web_server

FREE = PenaltyMatrix(types=("x",), switch=((0,),))
SETS = {"A": [0], "B": [1]}
IN_TURN: dict[str, object] = {"sets": {"A": [0]}, "within": "round-robin"}


@dataclass(frozen=True, kw_only=True)
class Classes:
    """One thread for each letter, which runs once."""

    name: ClassVar[str] = "classes"

    letters: str
    time: int = 10

    def build(self, random: Random) -> Workload:
        del random
        return Workload(
            threads=tuple(
                NewThread(name=f"{letter}{number}", kind=letter, steps=self._steps())
                for number, letter in enumerate(self.letters)
            )
        )

    def _steps(self) -> Iterator[Burst]:
        yield Burst(self.time)


def ran(
    letters: str, cpus: int, time: int = 10, **parameters: object
) -> list[tuple[int, int, str]]:
    """Return CPU, start and thread of all dispatches."""
    scenario = Scenario(
        name="classes",
        workload=Classes(letters=letters, time=time),
        machine=Machine(cpus=cpus),
        penalty=FREE,
        policies={"segregation": parameters},
    )
    trace = simulate_once(scenario, Segregation).trace
    names = [trace.tasks[task].name for task in trace.task]
    return list(zip(trace.cpu.tolist(), trace.start.tolist(), names, strict=True))


def test_a_class_waits_for_its_cpu_though_others_are_idle() -> None:
    # "HTTP threads were dispatched to only a single CPU and PHP to the remaining 3"
    assert ran("AAB", 3, sets={"A": [0]}) == [(0, 0, "A0"), (1, 0, "B2"), (0, 10, "A1")]


def test_others_do_not_run_on_the_cpus_of_a_class() -> None:
    assert ran("BBBA", 3, sets={"A": [0]}) == [
        (0, 0, "A3"),
        (1, 0, "B0"),
        (2, 0, "B1"),
        (1, 10, "B2"),
    ]


def test_a_set_may_have_several_cpus() -> None:
    cpus = {name: cpu for cpu, _, name in ran("AAAB", 3, sets={"A": [0, 2]})}
    assert cpus["B3"] == 1
    assert {cpus["A0"], cpus["A1"], cpus["A2"]} == {0, 2}


def test_a_set_may_go_round_robin() -> None:
    order = [name for _, _, name in ran("AA", 2, **IN_TURN, time_slice=5)]
    assert order == ["A0", "A1", "A0", "A1"]


def test_o1_runs_the_threads_of_a_set() -> None:
    ms = 1_000_000
    assert ran("BBBA", 3, sets={"A": [0]}, time_slice=5 * ms, time=10 * ms) == [
        (0, 0, "A3"),
        # Of the CPUs of its set, B2 starts on the first of the two that are least loaded.
        (1, 0, "B0"),
        (2, 0, "B1"),
        (1, 5 * ms, "B2"),
        (1, 10 * ms, "B0"),
        # CPU 0 of the other class is idle from 10 on and pulls nothing. CPU 2 looks every
        # millisecond, and B2, which stopped at 10, is in CPU 1's cache for 2.5.
        (2, 13 * ms, "B2"),
    ]


def test_others_run_where_a_class_has_nothing_to_run_if_no_cpu_is_left() -> None:
    # B0 is there first; then the class goes before the others.
    order = [name for _, _, name in ran("BBA", 1, **IN_TURN)]
    assert order == ["B0", "A2", "B1"]


def test_of_the_web_server_http_has_one_cpu() -> None:
    scenario = Scenario(
        name="web",
        workload=small_web_server(),
        machine=Machine(cpus=4),
        penalty=PenaltyMatrix(types=("HTTP", "PHP-short", "PHP-long"), switch=((0,) * 3,) * 3),
    )
    trace = simulate_once(scenario, POLICIES["segregation"]).trace
    is_http = trace.fragment == 0
    assert set(trace.cpu[is_http].tolist()) == {0}
    assert 0 not in trace.cpu[~is_http]


@pytest.mark.parametrize(
    ("letters", "cpus", "sets", "why"),
    [
        ("AB", 2, {"A": [0]}, None),
        ("AB", 2, SETS, None),
        ("BB", 2, {"A": [0]}, "no thread is of the class 'A'"),
        ("AA", 2, {"A": [0]}, "one class"),
        ("AB", 2, {"A": [2]}, "no CPU 2"),
        ("AB", 1, {"A": [0]}, "no CPU is left"),
    ],
)
def test_it_says_why_it_makes_no_sense(
    letters: str, cpus: int, sets: dict[str, Sequence[int]], why: str | None
) -> None:
    said = Segregation(sets=sets).unfit(Classes(letters=letters).build(Random(0)), cpus)
    assert (said is None) == (why is None)
    assert (why or "") in (said or "")


def test_it_fits_the_web_server_and_no_other() -> None:
    assert Segregation().unfit(small_web_server().build(Random(0)), 4) is None
    assert Segregation().unfit(small_custom().build(Random(0)), 4) is not None


def test_others_fit_everything() -> None:
    assert POLICIES["fcfs"]().unfit(small_custom().build(Random(0)), 1) is None


@pytest.mark.parametrize(
    ("sets", "place"),
    [
        ({}, "sets"),
        ({"A": []}, "sets.A"),
        ({"A": [0], "B": [0]}, "sets.B"),
        ({"A": [-1]}, "sets.A"),
    ],
)
def test_wrong_sets_are_refused(sets: dict[str, Sequence[int]], place: str) -> None:
    with pytest.raises(InstanceError) as raised:
        Segregation(sets=sets)
    assert raised.value.place == place


def test_a_cpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(InstanceError, match="no CPU 7"):
        ran("AB", 2, sets={"A": [7]})
