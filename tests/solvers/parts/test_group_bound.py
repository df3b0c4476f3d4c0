"""The table knows the cheapest full groups, and their prices bound the number of groups."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.solvers.parts.group_bound import UNREACHABLE, GroupPrices, GroupTable, best_bound
from dfopt.solvers.parts.groups import FragmentGroup, GroupGoal


@st.composite
def drawn_rules(draw: st.DrawFn) -> GroupGoal:
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=7))
    capacity = draw(st.integers(2, 9))
    cpus = -(-sum(sizes) // capacity) + draw(st.integers(0, 1))
    limit = draw(st.sampled_from([None, 2, 3]))
    longer = draw(st.integers(0, cpus - 1)) if limit else 0
    wanted = draw(st.integers(2, 4))
    if limit is not None:
        wanted = len(sizes) - (limit - 1) * cpus - longer
    return GroupGoal(
        wanted=wanted,
        sizes=tuple(sizes),
        capacity=capacity,
        cpus=cpus,
        longer=longer,
        limit=limit,
    )


def all_groups(goal: GroupGoal) -> set[FragmentGroup]:
    """Return every full group that leaves the others a CPU, a fragment and a task each."""
    groups = set()
    others = max(0, goal.wanted - 1)
    for number in range(1, len(goal.sizes) + 1):
        for sizes in combinations(sorted(goal.sizes, reverse=True), number):
            for cpus in range(1, goal.cpus - (others if goal.limit else 0) + 1):
                room = cpus * goal.capacity - sum(sizes)
                if not 0 <= room <= goal.spare:
                    continue
                if goal.limit is None:
                    if room < goal.capacity:
                        groups.add(FragmentGroup(sizes=sizes, cpus=cpus))
                    continue
                longer = number - 1 - (goal.limit - 1) * cpus
                plain = cpus - longer
                if (
                    0 <= longer <= goal.longer
                    and 0 <= plain <= goal.cpus - goal.longer
                    and number + others <= len(goal.sizes)
                    and sum(sizes) + others <= sum(goal.sizes)
                ):
                    groups.add(FragmentGroup(sizes=sizes, cpus=cpus, longer=longer))
    return groups


def price_of(
    group: FragmentGroup, goal: GroupGoal, by_size: dict[int, int], prices: GroupPrices
) -> int:
    return (
        sum(by_size[size] for size in group.sizes)
        + prices.room * goal.room(group)
        + (prices.longer * group.longer + prices.plain * (group.cpus - group.longer))
        * (goal.limit is not None)
    )


@settings(max_examples=200)
@given(drawn_rules(), st.data())
def test_against_all_groups(goal: GroupGoal, data: st.DataObject) -> None:
    table = GroupTable(goal)
    assert table.is_complete
    by_size = {size: data.draw(st.integers(0, 6)) for size in sorted(set(goal.sizes))}
    machine = data.draw(st.tuples(*[st.integers(0, 3)] * 3))
    prices = GroupPrices([by_size[size] for size in table.sizes], *machine)
    least = table.price(prices)
    priced = {group: price_of(group, goal, by_size, prices) for group in all_groups(goal)}
    if not priced:
        assert least >= UNREACHABLE
        return
    assert least == min(priced.values())
    cheap = table.cheapest(5)
    assert cheap[0][0] == least
    assert all(priced[group] == price for price, group in cheap)


@settings(max_examples=60)
@given(drawn_rules())
def test_the_bound_holds_for_every_packing(goal: GroupGoal) -> None:
    """Every fragment may be used once, and so may the machine."""
    table = GroupTable(goal)
    bound = best_bound(table, lambda: None)
    groups = all_groups(goal)
    if bound is None:
        assert not groups
        return

    def uses(group: FragmentGroup) -> tuple[int, int, int]:
        if not goal.longer:
            return goal.room(group), 0, 0
        return goal.room(group), group.longer, group.cpus - group.longer

    def most(candidates: list[FragmentGroup], left: Counter[int], machine: tuple[int, ...]) -> int:
        best = 0
        for place, group in enumerate(candidates):
            needed = Counter(group.sizes)
            rest = tuple(has - use for has, use in zip(machine, uses(group), strict=True))
            if needed <= left and min(rest) >= 0:
                best = max(best, 1 + most(candidates[place:], left - needed, rest))
        return best

    machine = goal.spare, goal.longer, goal.cpus - goal.longer
    assert bound.allows(most(sorted(groups, key=str), Counter(goal.sizes), machine))


def test_large_tables_are_cut() -> None:
    goal = GroupGoal(wanted=2, sizes=tuple(range(1, 400)), capacity=2000, cpus=40, limit=10)
    assert not GroupTable(goal).is_complete


@pytest.mark.parametrize("number", [1, 2000])
def test_groups_may_be_deep(number: int) -> None:
    goal = GroupGoal(wanted=1, sizes=(1,) * number, capacity=number, cpus=1)
    table = GroupTable(goal)
    assert table.price(GroupPrices([1] * number, 0, 0, 0)) == number
    assert table.cheapest(1) == [(number, FragmentGroup(sizes=(1,) * number, cpus=1))]
