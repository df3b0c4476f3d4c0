"""The roles of fragments account for what every order costs, and their cheapest ends are right."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, permutations

import pytest

from dfopt.costs.closed_form import IMPOSSIBLE, BlockCosts, ClosedForm
from dfopt.costs.role import Duty, Role
from dfopt.costs.task_types import cost_table, task_types
from tests.charges import table_cost
from tests.solvers.drawn import drawn_instances

Blocks = list[list[int]]


def test_what_the_roles_of_two_fragments_exclude() -> None:
    """Of all pairs only the ends that are taken twice exclude each other, and ALONE the rest."""
    ends = {Role.MIDDLE: "", Role.FIRST: "f", Role.LAST: "l", Role.SPLIT: "fl", Role.ALONE: "fl"}
    for role in Role:
        for other in set(Role) - {Role.MIDDLE}:
            clash = Role.ALONE in {role, other} or set(ends[role]) & set(ends[other])
            assert bool(role.excluded_by & other) == bool(clash)


def test_every_order_pays_what_the_roles_of_its_fragments_say() -> None:
    seen: Counter[Role] = Counter()
    for instance in drawn_instances(400, seed=11, most_tasks=5, kinds=("f", "g")):
        types = task_types(instance)
        form, table = (
            ClosedForm(instance, types),
            cost_table(instance, types),
        )
        everything = [number for number, one in enumerate(types) for _ in one.names]
        for cpu in range(instance.cpus):
            cheapest: dict[tuple[int, Role], int] = {}
            for order in set(permutations(everything)):
                blocks = blocks_of(form, order)
                roles = roles_of(form, cpu, blocks)
                if roles is None:
                    continue
                start = form.starts[cpu]
                spared = start.spares_entry(form.costs[order[0]].fragment)
                cost = sum(form.costs[number].base for number in order)
                cost += start.arrival + (0 if spared else start.departure)
                for fragment, role in roles.items():
                    own = [block for block in blocks if form.costs[block[0]].fragment == fragment]
                    paid = paid_by(form.costs, own, role)
                    cost += paid
                    known = cheapest.get((fragment, role), IMPOSSIBLE)
                    cheapest[fragment, role] = min(paid, known)
                assert cost == table_cost(table, cpu, order)
            for (fragment, role), paid in cheapest.items():
                counts = Counter(n for n in everything if form.costs[n].fragment == fragment)
                assert form.roles(list(counts.items()))[role].cost == paid
                seen[role] += 1
    assert set(seen) == set(Role)
    assert min(seen.values()) >= 40


def blocks_of(form: ClosedForm, order: Sequence[int]) -> Blocks:
    return [list(block) for _, block in groupby(order, key=lambda n: form.costs[n].fragment)]


def roles_of(form: ClosedForm, cpu: int, blocks: Blocks) -> dict[int, Role] | None:
    """Return the role of each fragment; None where some fragment has blocks that no role has."""
    fragments = [form.costs[block[0]].fragment for block in blocks]
    spared = form.starts[cpu].spares_entry(fragments[0])
    roles = dict.fromkeys(fragments, Role.MIDDLE)
    roles[fragments[-1]] = Role.LAST
    if spared:
        alone = Role.ALONE if len(blocks) == 1 else Role.SPLIT
        roles[fragments[0]] = alone if fragments[0] == fragments[-1] else Role.FIRST
    twice = {fragment for fragment, times in Counter(fragments).items() if times > 1}
    if twice - {fragments[0]} or (twice and roles[fragments[0]] is not Role.SPLIT):
        return None
    return None if len(fragments) > len(set(fragments)) + 1 else roles


def paid_by(costs: Sequence[BlockCosts], blocks: Blocks, role: Role) -> int:
    """Return what the tasks pay for their duties."""
    paid = 0
    if Duty.OPEN in role.duties:
        paid += costs[blocks[-1][0]].entry
    if Duty.CLOSE in role.duties:
        paid += costs[blocks[0][-1]].exit
    if Duty.END in role.duties:
        paid += costs[blocks[-1][-1]].end
    return paid


@pytest.mark.parametrize("role", Role)
def test_a_role_is_its_number(role: Role) -> None:
    """Compiled code relies on the numbers."""
    assert role == {"MIDDLE": 0, "FIRST": 1, "LAST": 2, "SPLIT": 3, "ALONE": 4}[role.name]
