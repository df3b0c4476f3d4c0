"""The search among beginnings of orders, against all orders."""

import random
from itertools import pairwise, permutations

import pytest

from dfopt.errors import MethodError
from dfopt.problem.certificate import CrossingCount, Leaf
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.verify.arcs import ArcWeights, Tours
from dfopt.verify.beginnings import cheapest_order


def drawn(source: random.Random) -> Instance:
    """Return a few tasks of which some wait for others."""
    names = tuple("abcde"[: source.randint(2, 5)])
    return Instance(
        cpus=1,
        penalty=PenaltyMatrix(
            types=names,
            switch=tuple(tuple(source.randint(0, 9) for _ in names) for _ in names),
        ),
        objective=Objective.MAKESPAN,
        tasks=tuple(
            Task(
                id=name,
                type=name,
                after=tuple(other for other in names[:number] if source.random() < 0.3)
                or (names[:1] if number == 1 else ()),
            )
            for number, name in enumerate(names)
        ),
    )


@pytest.mark.parametrize("seed", range(200))
def test_it_finds_orders_whatever_the_weights_are(seed: int) -> None:
    source = random.Random(seed)
    instance = drawn(source)
    names = [task.id for task in instance.tasks]
    tours, size = Tours(instance, names), len(names)
    orders = [
        (0, *order, 0)
        for order in permutations(range(1, size + 1))
        if not any(tours.before[node] & set(order[at:]) for at, node in enumerate(order))
    ]
    cuts = []
    for _ in range(3):
        within = [node for node in range(1, size + 1) if source.random() < 0.5]
        last_of = [node for node in within if source.random() < 0.4]
        first_of = [
            node
            for node in range(1, size + 1)
            if node not in within and all(node in tours.after[before] for before in last_of)
        ]
        claim = CrossingCount(
            within=tuple(within), last_of=tuple(last_of), first_of=tuple(first_of)
        )
        cut = tours.cut(claim)
        cuts.append(cut)
        for order in orders:  # the theorem on cuts
            assert any(a in cut.tails and b in cut.heads for a, b in pairwise(order))

    def numbers() -> tuple[tuple[int, int], ...]:
        return tuple((node, source.randint(-5, 9)) for node in range(size + 1))

    scale = source.randint(1, 3)
    leaf = Leaf(leaving=numbers(), weights=numbers(), scale=scale)
    weights = ArcWeights(tours, leaf, [(cut, source.randint(0, 9)) for cut in cuts], {})
    best = min(sum(tours.cost[a][b] for a, b in pairwise(order)) for order in orders)
    for budget in (best - 1, best, best + 2):
        order = cheapest_order(weights, scale * budget)
        if order is None:
            assert budget < best
        else:
            assert sum(tours.cost[a][b] for a, b in pairwise((0, *order, 0))) == best <= budget
            assert (0, *order, 0) in orders


def test_it_gives_up_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt.verify.beginnings.MOST_BEGINNINGS", 1)
    instance = drawn(random.Random(1))
    tours = Tours(instance, [task.id for task in instance.tasks])
    with pytest.raises(MethodError, match="more than 1 beginnings"):
        cheapest_order(ArcWeights(tours, Leaf(), [], {}), 100)


def test_it_ends_when_it_is_told_to() -> None:
    """Between two looks at the clock there is one node of one layer, or one cut."""
    names = tuple("abcdefgh")
    instance = Instance(
        cpus=1,
        penalty=PenaltyMatrix(types=names, switch=((1,) * 8,) * 8),
        objective=Objective.MAKESPAN,
        tasks=tuple(Task(id=name, type=name) for name in names),
    )
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cheapest_order(ArcWeights(Tours(instance, names, check), Leaf(), [], {}), 100)
    assert looks == 20


def test_expensive_arcs_do_not_make_the_others_inexact() -> None:
    names = ("a", "b", "c")
    instance = Instance(
        cpus=1,
        # 512 times the scale is more than 2^63, too much for a signed integer of 64 bits.
        penalty=PenaltyMatrix(types=names, switch=((0, 1, 512), (2, 0, 1), (2, 2, 0))),
        objective=Objective.TOTAL_PENALTY,
        tasks=tuple(Task(id=name, type=name) for name in names),
    )
    leaf = Leaf(
        leaving=tuple(
            enumerate((3928438959256499, 2581560781943690, 1680315547604874, 2702879731611111))
        ),
        weights=tuple(
            enumerate((3144114134770187, 6879291154079369, 6390003319953347, 4392600044132089))
        ),
        scale=18014398509482196,
    )
    weights = ArcWeights(Tours(instance, names), leaf, [], {})
    assert cheapest_order(weights, 2 * leaf.scale) == [1, 2, 3]
    assert cheapest_order(weights, 2 * leaf.scale - 1) is None
