"""Visits of tasks that stay where they are put: with slack few are enough, without it none is."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt_models.errors import ModelError
from dfopt_models.online.adversaries import balanced_instance
from dfopt_models.online.balanced import (
    POLICIES,
    adversary_without_slack,
    epochs,
    most_visits,
    slack_ratio,
    with_slack,
)

slacks = st.sampled_from([Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(2)])


@given(st.data(), st.integers(1, 6), st.integers(1, 24), slacks)
def test_with_slack_each_step_of_the_proof_holds(
    data: st.DataObject, cpus: int, share: int, slack: Fraction
) -> None:
    tasks = data.draw(st.integers(1, cpus * share))
    runs = data.draw(st.booleans())
    fragments = data.draw(st.lists(st.integers(0, 12), min_size=tasks, max_size=tasks))
    fragments = sorted(fragments) if runs else fragments
    place = with_slack(cpus, share, slack)
    cpu = []
    for fragment in fragments:
        cpu.append(place(fragment))
        if slack * share >= 2:
            able = sum(load <= place.threshold for load in place.load)
            assert able >= slack * cpus / (2 + slack)
    assert max(place.load) <= (1 + slack) * share
    different = len(set(fragments))
    visits = most_visits(fragments, cpu)
    assert visits <= max(place.visits)
    assert visits <= slack_ratio(float(slack)) * max(1, different / cpus)
    if slack * share < 2:
        assert visits <= (1 + slack) * share < 2 * (1 + slack) / slack
        return
    opened = sum(place.visits)
    assert max(place.visits) <= 1 + opened / (slack * cpus / (2 + slack))
    full = [cpu for cpu in range(cpus) if place.load[cpu] == place.capacity]
    assert len(full) <= cpus / (1 + slack / 2)
    given_up = sum(place.visits[cpu] for cpu in full)
    assert opened <= different + 2 * cpus / slack + given_up


def test_the_ratios_that_are_proven() -> None:
    ratios = [slack_ratio(slack) for slack in (1, 0.5, 0.25)]
    assert ratios == pytest.approx([74, 1_420, 244_000], rel=0.005)


def test_more_tasks_than_the_share_are_refused() -> None:
    place = with_slack(2, 2, Fraction(1, 4))
    for fragment in range(4):
        place(fragment)
    with pytest.raises(ModelError, match="more tasks came"):
        place(0)


@given(st.data(), st.integers(1, 4), st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2)]))
def test_no_policy_without_slack_escapes(data: st.DataObject, cpus: int, balance: Fraction) -> None:
    """Whatever a policy does, it has the visits of the theorem, and the optimum is attained."""
    share = 2 * cpus
    room = [share] * cpus
    stays = data.draw(st.booleans())
    last: dict[int, int] = {}

    def place(fragment: int) -> int:
        able = [cpu for cpu in range(cpus) if room[cpu]]
        cpu = last.get(fragment, -1)
        if not (stays and cpu in able):
            cpu = data.draw(st.sampled_from(able))
        last[fragment] = cpu
        room[cpu] -= 1
        return cpu

    found = adversary_without_slack(place, cpus, share, balance)
    assert len(found.fragments) == cpus * share
    assert found.visits >= found.proven
    if found.singles:
        assert found.visits > found.proven
        assert found.visits > balance / 2 * found.optimum
    assert chained_visits(found.fragments, found.singles, cpus) <= found.optimum


def chained_visits(fragments: tuple[int, ...], singles: int, cpus: int) -> int:
    """Return the visits where whole fragments stand in a row, and single ones are dealt evenly."""
    whole = len(fragments) - singles
    each = whole // cpus
    assert each * cpus == whole
    cpu = [task // each for task in range(whole)]
    cpu += [task % cpus for task in range(singles)]
    return most_visits(fragments, cpu)


@pytest.mark.parametrize(
    ("cpus", "balance", "times"), [(1, 1, 1), (4, 1, 2), (64, 2, 3), (3, 1, 1)]
)
def test_epochs(cpus: int, balance: int, times: int) -> None:
    assert epochs(cpus, Fraction(balance)) == times


@pytest.mark.parametrize(
    ("policy", "balance", "visits", "optimum"),
    [("fewest-visits", 2, 32, 16), ("least-loaded", 2, 16, 1), ("spread", 2, 7, 1)],
)
def test_what_policies_without_slack_pay(
    policy: str, balance: int, visits: int, optimum: int
) -> None:
    found = adversary_without_slack(POLICIES[policy](16, 32), 16, 32, Fraction(balance))
    assert (found.visits, found.optimum) == (visits, optimum)


def test_an_instance_has_the_tasks_in_the_order_of_arrival() -> None:
    found = adversary_without_slack(POLICIES["spread"](4, 8), 4, 8, Fraction(2))
    instance = balanced_instance(found, 4)
    assert [task.df for task in instance.tasks] == [f"DF{used + 1}" for used in found.fragments]
    assert (instance.capacity, instance.cold_start) == (8, True)


@pytest.mark.parametrize(
    ("cpus", "share", "balance", "problem"),
    [
        (0, 8, 2, "cpus: must be at least 1"),
        (4, 4, 2, "share: must be a multiple of 4, and at least 8"),
        (4, 9, 2, "share: must be a multiple of 4"),
        (4, 8, Fraction(1, 2), "balance: must be at least 1"),
    ],
)
def test_impossible_numbers_are_refused(
    cpus: int, share: int, balance: Fraction, problem: str
) -> None:
    with pytest.raises(ModelError, match=problem):
        adversary_without_slack(POLICIES["spread"](max(1, cpus), share), cpus, share, balance)


def test_a_policy_that_overfills_a_cpu_is_refused() -> None:
    with pytest.raises(ModelError, match="too many tasks on a CPU"):
        adversary_without_slack(lambda _: 0, 2, 4, Fraction(3))
