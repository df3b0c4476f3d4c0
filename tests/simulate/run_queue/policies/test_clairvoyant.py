from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import DfoptError
from dfopt.problem.penalties import Penalty, PenaltyG, PenaltyMatrix
from dfopt.simulate.run_queue.contract import State, Thread
from dfopt.simulate.run_queue.kernel import Kernel
from dfopt.simulate.run_queue.policies.clairvoyant import Clairvoyant
from dfopt.simulate.run_queue.policies.fcfs import FirstComeFirstServed
from dfopt.simulate.run_queue.policies.random_choice import RandomChoice
from dfopt.simulate.run_queue.simulation import Simulation
from dfopt.simulate.run_queue.steps import Sleep, Yield
from dfopt.simulate.run_queue.workload import CLEAN, Burst, NewThread, Steps
from tests.simulate.run_queue.hand_made import Make, order, places, simulated, thread
from tests.simulate.run_queue.programs import Programs, penalties, programs

UNIT = PenaltyG(fill=3, write_back=1)
LOAD = 4

A, B, C = (Burst(5, fragment, 10, CLEAN) for fragment in range(3))


def paid(done: Simulation) -> int:
    return sum(done.counters.penalties)


def pairs() -> list[NewThread]:
    """Threads of two fragments, in an order that separates no two CPUs."""
    return [thread(f"{name}{n}", *[A if name == "a" else B]) for n, name in enumerate("aabbaabb")]


def test_it_reaches_a_known_optimum_and_others_do_not() -> None:
    # Two fragments have to be loaded once each.
    assert paid(simulated(Clairvoyant, pairs, cpus=2, penalty=UNIT)) == 2 * LOAD
    assert paid(simulated(FirstComeFirstServed, pairs, cpus=2, penalty=UNIT)) == 8 * LOAD
    assert all(
        paid(simulated(RandomChoice, pairs, cpus=2, penalty=UNIT, seed=seed)) > 2 * LOAD
        for seed in range(10)
    )


def test_it_finds_the_cheap_order_under_a_matrix() -> None:
    penalty = PenaltyMatrix(
        types=("a", "b", "c"), switch=((0, 1, 9), (9, 0, 1), (1, 9, 0)), start=(2, 0, 2)
    )

    def make() -> list[NewThread]:
        return [thread("c", C), thread("b", B), thread("a", A)]

    # From b to c to a.
    done = simulated(Clairvoyant, make, penalty=penalty)
    assert (order(done), paid(done)) == (["b", "c", "a"], 2)
    assert paid(simulated(FirstComeFirstServed, make, penalty=penalty)) == 2 + 9 + 9


def test_what_becomes_ready_at_one_moment_is_planned_together() -> None:
    done = simulated(Clairvoyant, pairs, cpus=2, penalty=UNIT)
    assert done.engine.policy.plans.solved == 1  # type: ignore[attr-defined]


def four_of_one() -> list[NewThread]:
    return [thread(f"a{number}", A) for number in range(4)]


@pytest.mark.parametrize(("capacity", "loads"), [("balanced", 2), ("unlimited", 1)])
def test_capacity_says_whether_cpus_share(capacity: str, loads: int) -> None:
    done = simulated(Clairvoyant, four_of_one, cpus=2, penalty=UNIT, capacity=capacity)
    assert paid(done) == loads * LOAD


@pytest.mark.parametrize(("window", "loads"), [(64, 2), (2, 3), (1, 4)])
def test_a_window_has_so_many_threads_at_most(window: int, loads: int) -> None:
    def make() -> list[NewThread]:
        return [thread(f"{n}", burst) for n, burst in enumerate([A, B, A, B])]

    assert paid(simulated(Clairvoyant, make, penalty=UNIT, window=window)) == loads * LOAD


def test_a_cpu_without_a_part_gets_one_of_what_is_left() -> None:
    def make() -> list[NewThread]:
        long = Burst(100, 0, 10, CLEAN)
        return [
            *[thread(f"long{n}", long) for n in range(3)],
            *[thread(f"short{n}", B) for n in range(3)],
        ]

    done = simulated(Clairvoyant, make, cpus=2, penalty=UNIT)
    # The CPU with the short ones takes over a long one, rather than idle until 304.
    assert done.counters.end < 250


def test_a_thread_waits_for_the_cpu_that_holds_its_data() -> None:
    def make() -> list[NewThread]:
        return [thread("x", A), thread("y", A, arrival=2)]

    done = simulated(Clairvoyant, make, cpus=2, penalty=UNIT)
    (cpu, _), (waited_for, start) = *places(done, "x"), *places(done, "y")
    assert (waited_for, start, paid(done)) == (cpu, LOAD + 5, LOAD)


def test_threads_that_change_fragments_change_places() -> None:
    def make() -> list[NewThread]:
        return [thread("x", A, B), thread("y", B, A)]

    done = simulated(Clairvoyant, make, cpus=2, penalty=UNIT)
    assert paid(done) == 2 * LOAD
    assert len({cpu for cpu, _ in places(done, "x")}) == 2
    assert paid(simulated(FirstComeFirstServed, make, cpus=2, penalty=UNIT)) == 4 * LOAD


def test_a_thread_that_uses_no_fragment_comes_first() -> None:
    def make() -> list[NewThread]:
        return [thread("a", A), thread("free", Burst(5)), thread("b", A)]

    done = simulated(Clairvoyant, make, penalty=UNIT)
    assert (order(done)[0], paid(done)) == ("free", LOAD)


@dataclass
class Flag:
    """Something one thread does and another one waits for."""

    is_set: bool = field(default=False)

    def perform(self, kernel: Kernel, thread: Thread) -> None:
        del kernel, thread
        self.is_set = True


def test_a_thread_that_yields_until_another_has_begun_lets_it_begin() -> None:
    def make() -> list[NewThread]:
        flag = Flag()

        def spin() -> Steps:
            while not flag.is_set:
                yield Yield()
            yield Burst(1)

        return [
            # It wakes up to do something else before its next burst.
            thread("awaited", A, Sleep(4), flag, A),
            thread("in its way", Burst(30, 0, 10, CLEAN), arrival=10),
            NewThread(name="spins", steps=spin(), arrival=15),
        ]

    done = simulated(Clairvoyant, make, cpus=2, penalty=UNIT)
    # It is taken to use again what it used before, and waits for that.
    assert paid(done) == LOAD
    assert all(thread.state is State.ENDED for thread in done.engine.threads)
    ((_, began),) = places(done, "spins")
    assert began == places(done, "awaited")[1][1] == 40


def test_a_thread_that_used_no_fragment_last_waits_for_none() -> None:
    def make() -> list[NewThread]:
        return [
            # It wakes up to do something else before its next burst.
            thread("x", A, Burst(5), Sleep(4), Flag(), Burst(5)),
            thread("in its way", Burst(30, 0, 10, CLEAN), arrival=15),
        ]

    done = simulated(Clairvoyant, make, cpus=2, penalty=UNIT)
    assert places(done, "in its way") == [(0, 15)]
    assert places(done, "x")[-1] == (1, 18)


@pytest.mark.slow
@given(workload=programs(), penalty=penalties(), window=st.sampled_from([1, 2, 64]))
def test_no_window_or_slice_loses_a_thread(
    workload: Programs, penalty: Penalty, window: int
) -> None:
    make: Make = lambda: workload.build(Random(0)).threads  # noqa: E731
    for capacity in ("balanced", "unlimited"):
        done = simulated(
            Clairvoyant,
            make,
            cpus=3,
            penalty=penalty,
            window=window,
            capacity=capacity,
            time_slice=2,
        )
        threads = done.engine.threads
        assert {thread.name: thread.run_time for thread in threads} == workload.executed()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 0}, "window: must be at least 1, not 0"),
        ({"capacity": "none"}, "capacity: must be 'balanced' or 'unlimited', not 'none'"),
        ({"effort": -1.0}, "effort: must be at least 0, not -1.0"),
        ({"seconds": -1.0}, "seconds: must be at least 0, not -1.0"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(DfoptError) as refused:
        Clairvoyant(**parameters)  # type: ignore[arg-type]
    assert str(refused.value) == message


def test_solvers_are_loaded_by_who_plans() -> None:
    code = (
        "import sys; from dfopt.simulate.run_queue.policies import POLICIES; "
        "print([name for name in sys.modules if name.startswith('dfopt.solvers.parts')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
