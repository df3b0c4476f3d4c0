"""The table knows the cheapest full group, and lists all groups within a price."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.solvers.parts.columns import best_bound
from dfopt.solvers.parts.rules import Group, GroupRules
from dfopt.solvers.parts.table import UNREACHABLE, GroupTable, Prices


@st.composite
def drawn_rules(draw: st.DrawFn) -> GroupRules:
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=7))
    capacity = draw(st.integers(2, 9))
    cpus = -(-sum(sizes) // capacity) + draw(st.integers(0, 1))
    limit = draw(st.sampled_from([None, 2, 3]))
    longer = draw(st.integers(0, cpus - 1)) if limit else 0
    wanted = draw(st.integers(2, 4))
    if limit is not None:
        wanted = len(sizes) - (limit - 1) * cpus - longer
    return GroupRules(
        wanted=wanted,
        sizes=tuple(sizes),
        capacity=capacity,
        cpus=cpus,
        longer=longer,
        limit=limit,
    )


def all_groups(rules: GroupRules) -> set[Group]:
    """Return every full group that leaves the others a CPU, a fragment and a task each."""
    groups = set()
    others = max(0, rules.wanted - 1)
    for number in range(1, len(rules.sizes) + 1):
        for sizes in combinations(sorted(rules.sizes, reverse=True), number):
            for cpus in range(1, rules.cpus - (others if rules.limit else 0) + 1):
                room = cpus * rules.capacity - sum(sizes)
                if not 0 <= room <= rules.spare:
                    continue
                if rules.limit is None:
                    if room < rules.capacity:
                        groups.add(Group(sizes=sizes, cpus=cpus))
                    continue
                longer = number - 1 - (rules.limit - 1) * cpus
                plain = cpus - longer
                if (
                    0 <= longer <= rules.longer
                    and 0 <= plain <= rules.cpus - rules.longer
                    and number + others <= len(rules.sizes)
                    and sum(sizes) + others <= sum(rules.sizes)
                ):
                    groups.add(Group(sizes=sizes, cpus=cpus, longer=longer))
    return groups


def price_of(group: Group, rules: GroupRules, by_size: dict[int, int], prices: Prices) -> int:
    return (
        sum(by_size[size] for size in group.sizes)
        + prices.room * rules.room(group)
        + (prices.longer * group.longer + prices.plain * (group.cpus - group.longer))
        * (rules.limit is not None)
    )


@settings(max_examples=200)
@given(drawn_rules(), st.data())
def test_against_all_groups(rules: GroupRules, data: st.DataObject) -> None:
    table = GroupTable(rules)
    assert table.is_complete
    by_size = {size: data.draw(st.integers(0, 6)) for size in sorted(set(rules.sizes))}
    machine = data.draw(st.tuples(*[st.integers(0, 3)] * 3))
    prices = Prices([by_size[size] for size in table.sizes], *machine)
    least = table.price(prices)
    priced = {group: price_of(group, rules, by_size, prices) for group in all_groups(rules)}
    if not priced:
        assert least >= UNREACHABLE
        return
    assert least == min(priced.values())
    budget = data.draw(st.integers(0, 20))
    listed = list(table.groups_within(budget))
    assert max(Counter(listed).values(), default=1) == 1
    assert set(listed) == {group for group, price in priced.items() if price <= budget}
    cheap = table.cheapest(5)
    assert cheap[0][0] == least
    assert all(priced[group] == price for price, group in cheap)


@settings(max_examples=60)
@given(drawn_rules())
def test_the_bound_holds_for_every_packing(rules: GroupRules) -> None:
    """Every fragment may be used once, and so may the machine."""
    table = GroupTable(rules)
    bound = best_bound(table, lambda: None)
    groups = all_groups(rules)
    if bound is None:
        assert not groups
        return

    def uses(group: Group) -> tuple[int, int, int]:
        if not rules.longer:
            return rules.room(group), 0, 0
        return rules.room(group), group.longer, group.cpus - group.longer

    def most(candidates: list[Group], left: Counter[int], machine: tuple[int, ...]) -> int:
        best = 0
        for place, group in enumerate(candidates):
            needed = Counter(group.sizes)
            rest = tuple(has - use for has, use in zip(machine, uses(group), strict=True))
            if needed <= left and min(rest) >= 0:
                best = max(best, 1 + most(candidates[place:], left - needed, rest))
        return best

    machine = rules.spare, rules.longer, rules.cpus - rules.longer
    assert bound.allows(most(sorted(groups, key=str), Counter(rules.sizes), machine))


def test_large_tables_are_cut() -> None:
    rules = GroupRules(wanted=2, sizes=tuple(range(1, 400)), capacity=2000, cpus=40, limit=10)
    assert not GroupTable(rules).is_complete


@pytest.mark.parametrize("number", [1, 2000])
def test_groups_may_be_deep(number: int) -> None:
    rules = GroupRules(wanted=1, sizes=(1,) * number, capacity=number, cpus=1)
    table = GroupTable(rules)
    assert table.price(Prices([1] * number, 0, 0, 0)) == number
    assert list(table.groups_within(number)) == [Group(sizes=(1,) * number, cpus=1)]
