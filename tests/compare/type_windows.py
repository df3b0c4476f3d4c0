"""Windows under a matrix: drawn ones, what they cost by definition, and if walks are real."""

from collections import Counter
from itertools import pairwise, permutations

from hypothesis import strategies as st

from dfopt.compare.problem import EMPTY, FREE
from dfopt.compare.type_costs import TypeCosts
from dfopt.compare.type_flow import TypeWindow
from dfopt.compare.walks import Walk


@st.composite
def problems(draw: st.DrawFn, *, most: int = 6) -> tuple[TypeWindow, TypeCosts]:
    """Draw a window with at most ``most`` dispatches, and what they cost."""
    size = draw(st.integers(1, 4))
    row = st.tuples(*(st.integers(0, draw(st.sampled_from((1, 9)))) for _ in range(size)))
    costs = TypeCosts(
        switch=tuple(draw(row) for _ in range(size)), start=draw(row), finish=draw(row)
    )
    names = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=most))
    counts = sorted(Counter(names).items())
    cpus = draw(st.integers(1, 3))
    kinds = st.sampled_from([FREE, EMPTY, *range(size)])
    window = TypeWindow(
        capacity=draw(st.integers(-(-len(names) // cpus), len(names))),
        types=tuple(one for one, _ in counts),
        sizes=tuple(count for _, count in counts),
        states=tuple(sorted(draw(kinds) for _ in range(cpus))),
        final=draw(st.booleans()),
        by_worst=draw(st.booleans()),
    )
    return window, costs


def order_cost(window: TypeWindow, costs: TypeCosts, state: int, order: tuple[int, ...]) -> int:
    """Return what a CPU pays that runs types in an order."""
    if not order:
        return costs.finish[state] if window.final and state >= 0 else 0
    if state >= 0:
        cost = costs.switch[state][order[0]]
    else:
        cost = costs.start[order[0]] if state == EMPTY else 0
    cost += sum(costs.switch[one][other] for one, other in pairwise(order))
    return cost + (costs.finish[order[-1]] if window.final else 0)


def least_cost(window: TypeWindow, costs: TypeCosts) -> int:
    """Return the cost of the best schedule, by trying all of them."""
    tasks = [one for one, size in zip(window.types, window.sizes, strict=True) for _ in range(size)]
    least = {0: 0}
    for state in window.states:
        found: dict[int, int] = {}
        for chosen in range(1 << len(tasks)):
            own = [task for place, task in enumerate(tasks) if chosen >> place & 1]
            if len(own) > window.capacity:
                continue
            cost = min(order_cost(window, costs, state, one) for one in set(permutations(own)))
            for before, paid in least.items():
                if not before & chosen:
                    both = max(paid, cost) if window.by_worst else paid + cost
                    found[before | chosen] = min(both, found.get(before | chosen, both))
        least = found
    return least[(1 << len(tasks)) - 1]


def order_of(walk: Walk) -> tuple[int, ...]:
    """Return the types in an order in which the CPU may run them."""
    left: dict[int, list[int]] = {}
    for (one, other), count in walk.arcs.items():
        left.setdefault(one, []).extend([other] * count)
    # Hierholzer: go on until there is no way, and insert the detours on the way back.
    stack, order = [walk.first] if walk.load else [], []
    while stack:
        ways = left.get(stack[-1])
        if ways:
            stack.append(ways.pop())
        else:
            order.append(stack.pop())
    return tuple(order[::-1])


def assert_real(window: TypeWindow, costs: TypeCosts, walks: list[Walk]) -> None:
    """Assert that walks run all dispatches, within the capacity, for what they say they cost."""
    ran: Counter[int] = Counter()
    assert tuple(walk.state for walk in walks) == window.states
    for walk in walks:
        order = order_of(walk)
        assert len(order) == walk.load <= window.capacity
        assert walk.cost == order_cost(window, costs, walk.state, order)
        assert not order or (order[0], order[-1]) == (walk.first, walk.last)
        ran.update(order)
    assert ran == dict(zip(window.types, window.sizes, strict=True))
