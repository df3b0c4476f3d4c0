"""The automaton of a fragment pays what the roles of the fragment cost, however it takes tasks."""

from collections import Counter, defaultdict

from dfopt.costs.closed_form import IMPOSSIBLE, BlockCosts, ClosedForm
from dfopt.costs.role import Role
from dfopt.costs.task_types import task_types
from dfopt.solvers.dp import ABSENT, Block
from tests.solvers.drawn import drawn_instances


def cheapest_by_role(block: Block, tasks: list[BlockCosts]) -> dict[Role, int]:
    """Return for each role the least that the automaton pays until its duties are filled."""
    # The role is chosen with the first task; a state is a role and a status.
    reached: dict[tuple[Role, int], int] = {}
    for position, task in enumerate(tasks):
        following: defaultdict[tuple[Role, int], int] = defaultdict(lambda: IMPOSSIBLE)
        for step in block.steps(task):
            if position == 0 and step.before == ABSENT and step.role is not None:
                key = step.role, step.after
                following[key] = min(following[key], step.cost)
            for (role, status), cost in reached.items():
                if step.before == status and step.role is None:
                    key = role, step.after
                    following[key] = min(following[key], cost + step.cost)
        reached = dict(following)
    least: dict[Role, int] = {}
    for (role, status), cost in reached.items():
        if status in block.complete:
            least[role] = min(cost, least.get(role, IMPOSSIBLE))
    return least


def test_every_role_costs_what_the_closed_form_says() -> None:
    seen: Counter[Role] = Counter()
    for instance in drawn_instances(500, seed=17, kinds=("f", "g")):
        types = task_types(instance)
        form = ClosedForm(instance, types)
        for cpu, start in enumerate(form.starts):
            for fragment in range(len(form.fragments)):
                content = {
                    index: task_type.count
                    for index, task_type in enumerate(types)
                    if form.costs[index].fragment == fragment
                }
                tasks = [
                    form.costs[index] for index, count in content.items() for _ in range(count)
                ]
                base = sum(task.base for task in tasks)
                roles = form.roles(list(content.items()))
                least = cheapest_by_role(Block(tasks, start), tasks)
                for role, cost in least.items():
                    assert cost - base == roles[role].cost, (instance, cpu, fragment, role)
                    seen[role] += 1
                if Role.LAST not in least:  # to be last then saves nothing
                    assert roles.last.cost == roles.middle.cost
    assert set(seen) == set(Role)
    assert min(seen.values()) >= 50
