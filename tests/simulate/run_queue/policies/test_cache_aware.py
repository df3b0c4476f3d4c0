"""Cache-aware balancing: what a process prefers, and what moves there."""

from __future__ import annotations

from typing import ClassVar

import pytest

from dfopt.simulate.contract import Policy, Thread, Why
from dfopt.simulate.policies.cache_aware import CacheAware, Occupancy
from dfopt.simulate.policies.eevdf import Eevdf
from dfopt.simulate.simulation import UnfitError, run_of, simulate_once
from dfopt.simulate.workload import Burst, NewThread
from tests.simulate.run_queue.hand_made import places, simulated, thread

EEVDF = {"time_slice": 3, "balance_interval": 20, "migration_cost": 0}
PAIRS = "0-1;2-3"


def test_a_process_prefers_where_it_ran_longest() -> None:
    process = Occupancy(3)
    process.ran = [3, 8, 0]
    process.go_on_to(0)
    assert (process.preferred, process.usual) == (None, [0, 0, 0])
    process.go_on_to(1)
    assert (process.preferred, process.usual) == (1, [1, 4, 0])
    # Twice the time is not enough, and more is.
    process.ran = [16, 8, 0]
    process.go_on_to(2)
    assert (process.preferred, process.ran) == (1, [8, 4, 0])
    process.ran = [20, 8, 0]
    process.go_on_to(3)
    assert process.preferred == 0
    # Two halves at once; then it has not run for too long.
    process.go_on_to(5)
    assert (process.preferred, process.ran) == (0, [2, 1, 0])
    process.go_on_to(10)
    assert process.preferred is None


def far_apart() -> list[NewThread]:
    """Return two threads of one process that begin on CPUs 0 and 2; CPU 1 is busy until 1."""
    return [
        thread("first", Burst(60), application=1),
        thread("hog", Burst(1), cpus_allowed=[1], weight=4096),
        thread("other", Burst(60), application=1),
    ]


def test_a_thread_that_runs_far_from_its_process_is_taken_home() -> None:
    # Both ran from 0 on, so the first domain is preferred. CPU 1 balances at 20.
    done = simulated(CacheAware, far_apart, cpus=4, domains=PAIRS, epoch=10, **EEVDF)
    assert {cpu for cpu, start in places(done, "other") if start < 20} == {2}
    assert {cpu for cpu, start in places(done, "other") if start >= 20} == {1}
    assert (1, 20) in places(done, "other")
    stays = simulated(Eevdf, far_apart, cpus=4, domains=PAIRS, **EEVDF)
    assert {cpu for cpu, _ in places(stays, "other")} == {2}


@pytest.mark.parametrize(
    "parameters",
    [
        {"group": "fragment"},  # no fragment is used, which is one, and alike
        {"epoch": 100},  # no epoch is over
        {"epoch": 1, "overload": 40},  # both domains are half in use
    ],
)
def test_when_nothing_is_taken_home(parameters: dict[str, object]) -> None:
    is_taken = parameters == {"group": "fragment"}
    options = parameters | EEVDF | ({"epoch": 10} if is_taken else {})
    done = simulated(CacheAware, far_apart, cpus=4, domains=PAIRS, **options)
    cpus = {cpu for cpu, _ in places(done, "other")}
    assert cpus == ({1, 2} if is_taken else {2})


class Watched(CacheAware):
    """Keeps the first thread that becomes ready, with the domains of a process made by hand."""

    watched: ClassVar[tuple[Watched, Thread]]

    def ready(self, thread: Thread, why: Why, cpu: int | None) -> int | None:
        type(self).watched = self, thread
        return super().ready(thread, why, cpu)


@pytest.mark.parametrize(
    ("usual", "preferred"), [([15, 0], 0), ([10, 6], None), ([16, 0], None), ([0, 15], 0)]
)
def test_a_process_that_fills_four_fifths_of_a_domain_prefers_none(
    usual: list[int], preferred: int | None
) -> None:
    """Two CPUs have a time of 20 in an epoch of 10."""
    simulated(
        Watched, lambda: [thread("a", Burst(1), application=1)], cpus=4, domains=PAIRS, epoch=10
    )
    policy, watched = Watched.watched
    process = policy.process(watched)
    process.preferred, process.usual = 0, usual
    assert policy.preferred(watched) == preferred


@pytest.mark.parametrize(
    ("used", "target", "should_move"),
    [
        # Away from the domain that it prefers: overloaded, and used 1.2 times as much.
        ((11, 10), 2, False),
        ((13, 10), 2, True),
        ((10, 0), 2, False),
        ((11, 0), 2, True),
        ((20, 11), 2, None),  # both are overloaded
        ((20, 0), 1, None),  # no other domain
    ],
)
def test_what_a_thread_may_leave(
    used: tuple[int, int], target: int, should_move: bool | None
) -> None:
    """It prefers the domain of CPU 0, where it is; all times are parts of 20."""
    simulated(
        Watched, lambda: [thread("a", Burst(1), application=1)], cpus=4, domains=PAIRS, epoch=10
    )
    policy, watched = Watched.watched
    policy.process(watched).preferred = 0
    policy._all.usual = list(used)
    assert watched.own.home == 0
    assert policy.should_move(watched, target) is should_move


@pytest.mark.parametrize(("overload", "cpu"), [(50, 2), (100, 0)])
def test_a_thread_leaves_its_domain_only_if_that_is_overloaded(overload: int, cpu: int) -> None:
    def make() -> list[NewThread]:
        return [
            thread("hog", Burst(200), cpus_allowed=[1], weight=4096),
            thread("end", Burst(40), cpus_allowed=[2], weight=4096),
            thread("first", Burst(60), application=1),
            thread("second", Burst(60), application=1),
        ]

    # First and second share CPU 0; from 40 on CPU 2 has nothing to run.
    done = simulated(
        CacheAware, make, cpus=3, domains="0-1;2", epoch=10, overload=overload,
        **EEVDF | {"balance_interval": 0},
    )  # fmt: skip
    pair = places(done, "first") + places(done, "second")
    assert {place for place, start in pair if start < 40} == {0}
    assert cpu in {place for place, start in pair if start >= 40}
    assert (2 in {place for place, _ in pair}) == (cpu == 2)


@pytest.mark.parametrize("policy", [CacheAware, Eevdf])
def test_what_waits_is_pulled_home_even_if_it_is_hot(policy: type[Policy]) -> None:
    def make() -> list[NewThread]:
        return [
            thread("first", Burst(100), application=1, weight=2048),
            thread("hog", Burst(30), cpus_allowed=[1], weight=4096),
            thread("rival", Burst(100), cpus_allowed=[2]),
            thread("other", Burst(20), application=1),
        ]

    # The other one shares CPU 2 with its rival. When CPU 1 has nothing to run, at 30, its data
    # is hot, which does not matter on the way home.
    options = {"epoch": 10, "overload": 100} if policy is CacheAware else {}
    hot = EEVDF | {"migration_cost": 10**6, "balance_interval": 0}
    done = simulated(policy, make, cpus=3, domains="0-1;2", **options, **hot)
    cpus = {cpu for cpu, start in places(done, "other") if start >= 30}
    assert cpus == ({1} if policy is CacheAware else {2})


def test_without_domains_there_is_nothing_to_prefer() -> None:
    done = simulated(CacheAware, far_apart, cpus=4, **EEVDF)
    same = simulated(Eevdf, far_apart, cpus=4, **EEVDF)
    assert places(done, "other") == places(same, "other")
    with pytest.raises(UnfitError, match="the machine has one cache domain"):
        simulate_once(done.engine.policy.scenario, CacheAware, refuses_unfit=True)
    assert done.unfit is not None
    assert same.unfit is None
    assert done.unused is None  # what makes it unfit says it already


def test_a_run_without_effect_says_so() -> None:
    def alone() -> list[NewThread]:
        return [thread("a", Burst(60), application=1), thread("b", Burst(60), application=2)]

    moved = simulated(CacheAware, far_apart, cpus=4, domains=PAIRS, epoch=10, **EEVDF)
    assert moved.unused is None
    idle = simulated(CacheAware, alone, cpus=2, domains="0;1", epoch=10, **EEVDF)
    assert idle.unused is not None
    assert "no process preferred a domain" in idle.unused
    assert run_of(idle, scenario="s", seed=0).unused == idle.unused
    assert simulated(Eevdf, alone, cpus=2, domains="0;1", **EEVDF).unused is None


def test_a_run_in_which_all_domains_are_busy_says_so() -> None:
    done = simulated(CacheAware, far_apart, cpus=4, domains=PAIRS, epoch=10, overload=0, **EEVDF)
    assert done.unused is not None
    assert "more than 0 %" in done.unused


@pytest.mark.parametrize(
    ("application", "group", "is_unfit"),
    [(0, "application", True), (0, "fragment", False), (1, "application", False)],
)
def test_processes_that_are_not_known_are_not_gathered(
    application: int, group: str, is_unfit: bool
) -> None:
    def make() -> list[NewThread]:
        return [thread("one", Burst(3), application=application), thread("two", Burst(3))]

    done = simulated(CacheAware, make, cpus=4, domains=PAIRS, group=group, **EEVDF)
    assert (done.unfit or "").startswith("it is not known which process") == is_unfit
