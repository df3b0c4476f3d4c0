"""Pricing finds the best content at every limit, as enumeration of all orders does."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import combinations, compress, pairwise

import numpy as np
import pytest

from dfopt.problem.cache_state import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.problem.switch_costs import order_cost
from dfopt.solvers.configuration.branching_rules import (
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.columns import Column, CpuContent, orders_of
from dfopt.solvers.configuration.prices import Prices
from dfopt.solvers.configuration.pricing import PricedSubproblem
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.subproblem import Subproblem
from tests.solvers.configuration.aggregated import aggregation_of
from tests.solvers.drawn import drawn_instances

Offered = tuple[tuple[int, ...], tuple[int, ...]]
"""How many tasks of each class, and the tokens that are paid for."""

Offers = Mapping[Offered, int]
"""The least cost of each."""


class Enumeration:
    """All that one CPU can hold, by enumeration of its orders.

    Parameters
    ----------
    problem
        What there is to hold; its limits are not looked at.
    group
        The number of the CPU's group.
    """

    def __init__(self, problem: Subproblem, group: int) -> None:
        self.data = problem.data
        self.aggregation = problem.data.aggregation
        self.problem = problem
        self.start = problem.data.groups[group].start
        self.cpu = problem.data.groups[group].cpus[0]
        self.instance = problem.data.aggregation.instance

    @cached_property
    def orders(self) -> Offers:
        """Every order of the instance's tasks, at its cost by definition."""
        types, form = self.aggregation.types, self.aggregation.form
        found: dict[Offered, int] = {}

        def go_on(order: list[int], left: Counter[int]) -> None:
            if order:
                tasks = [types[kind].example for kind in order]
                fragments = [form.costs[kind].fragment for kind in order]
                paid = [one != other for one, other in pairwise(fragments)]
                paid.insert(0, not self.start.spares_entry(fragments[0]))
                pairs = [(self.data.class_of[kind], form.costs[kind].entry) for kind in order]
                tokens = [self.data.token_of[pair] for pair in compress(pairs, paid)]
                held = Counter(one for one, _ in pairs)
                self._add(found, held, tokens, order_cost(self.instance, self.cpu, tasks))
            if len(order) < self.instance.tasks_per_cpu:
                for kind in left:
                    go_on([*order, kind], left - Counter([kind]))

        go_on([], Counter({kind: one.count for kind, one in enumerate(types)}))
        return found

    @cached_property
    def blocks(self) -> Offers:
        """Every sequence of blocks of which at most one is paid for in each fragment.

        A block may be paid for where an order would get it free. Only the last one may be of the
        fragment of a free first one, and only if what comes last can be spared something.
        """
        classes = self.aggregation.classes
        may_return = any(one.exit != one.end for one in classes)
        found: dict[Offered, int] = {}

        def go_on(
            held: Counter[int], last: int, free: int, tokens: tuple[int, ...], cost: int
        ) -> None:
            """Go on after a task of the class ``last``; ``free`` is the free block's fragment."""
            self._add(found, held, tokens, cost + classes[last].end)
            here = classes[last].fragment
            paid = {classes[self.data.token_classes[token]].fragment for token in tokens}
            for one in self._left(held):
                fragment, ran = classes[one].fragment, cost + classes[one].base
                if fragment == here:
                    go_on(held + Counter([one]), last=one, free=free, tokens=tokens, cost=ran)
                if free in paid or fragment in paid or (fragment == free and not may_return):
                    continue
                for token, entry in self._tokens(one):
                    opened = ran + classes[last].exit + entry
                    go_on(held + Counter([one]), one, free, (*tokens, token), opened)

        for one in self._left(Counter()):
            fragment, cost = classes[one].fragment, self.start.arrival + classes[one].base
            if self.start.spares_entry(fragment):
                go_on(Counter([one]), one, fragment, (), cost)
            for token, entry in self._tokens(one):
                go_on(Counter([one]), one, -1, (token,), cost + self.start.departure + entry)
        return found

    def _left(self, held: Counter[int]) -> list[int]:
        """Return the classes of which there are tasks left, and room for them."""
        if held.total() == self.instance.tasks_per_cpu:
            return []
        return [one for one, number in enumerate(self.problem.stock.tasks) if held[one] < number]

    def _tokens(self, task_class: int) -> Iterator[tuple[int, int]]:
        """Yield the tokens of a class that are left, with their entry costs."""
        first = int(self.data.first_token[task_class])
        for token, one in enumerate(self.aggregation.classes[task_class].tokens, first):
            if self.problem.stock.tokens[token]:
                yield token, one.entry

    def _add(
        self, found: dict[Offered, int], held: Counter[int], tokens: Iterable[int], cost: int
    ) -> None:
        counts = tuple(held[one] for one in range(len(self.aggregation.classes)))
        key = counts, tuple(sorted(tokens))
        found[key] = min(cost, found.get(key, cost))

    def content(self, counts: tuple[int, ...], tokens: tuple[int, ...]) -> CpuContent:
        fragments = {int(self.data.class_fragments[one]) for one, n in enumerate(counts) if n}
        tasks = tuple((one, number) for one, number in enumerate(counts) if number)
        return CpuContent(tasks, tokens, tuple(sorted(fragments)))

    def priced(self, offers: Offers, problem: Subproblem, prices: Prices) -> list[tuple[int, int]]:
        """Return pairs of cost and value of all that keeps the rules of a problem."""
        contents = [(self.content(*key), cost) for key, cost in offers.items()]
        return [
            (cost, prices.worth(content) - prices.cost * cost)
            for content, cost in contents
            if keeps_rules(problem, content)
        ]


def keeps_rules(problem: Subproblem, content: CpuContent) -> bool:
    """Whether a CPU may hold ``content`` by what the limits say about any one CPU."""
    limits = problem.limits
    numbers = dict(content.tasks)

    def is_alone(fragment: int) -> bool:
        return limits.get(VisitsFragment(fragment), (0, 9))[1] == 1

    for feature, (least, most) in limits.items():
        if isinstance(feature, VisitsFragment) and most == 1 and feature.is_had_by(content):
            first, last = problem.data.ranges[feature.fragment]
            left = problem.stock.tasks[first:last].tolist()
            if left != [numbers.get(one, 0) for one in range(first, last)]:
                return False
        if isinstance(feature, VisitsPair):
            met = {feature.first, feature.second} & set(content.fragments)
            if most == 0 and len(met) == 2:
                return False
            if least and is_alone(feature.first) and is_alone(feature.second) and len(met) == 1:
                return False
    return True


def highest(pairs: list[tuple[int, int]], limit: int | None) -> int:
    return max([0, *(value for cost, value in pairs if limit is None or cost <= limit)])


def drawn_features(data: PricingData, source: random.Random) -> Iterator[Feature]:
    """Yield some features of every kind."""
    tokens, classes = len(data.entries), len(data.counts)
    yield from (VisitsFragment(one) for one in range(data.fragments) if source.random() < 0.5)
    pairs = combinations(range(data.fragments), 2)
    yield from (VisitsPair(*pair) for pair in pairs if source.random() < 0.5)
    yield from (OpensWithToken(one) for one in range(tokens) if source.random() < 0.3)
    for one in range(classes):
        # A number of 1 is as good as any other, though branching has no use for it.
        for number in range(1, int(data.counts[one]) + 1):
            if source.random() < 0.3:
                yield HoldsAtLeast(one, number)


def drawn_problem(whole: Subproblem, source: random.Random) -> Subproblem:
    """Return a problem with limits that are as wide as can be, or that rule contents out."""
    for feature in drawn_features(whole.data, source):
        narrow = source.random()
        if isinstance(feature, VisitsFragment) and narrow < 0.3:
            whole = whole.limited(feature, 0, 1)
        elif isinstance(feature, VisitsPair) and narrow < 0.4:
            whole = whole.limited(feature, *((0, 0) if narrow < 0.2 else (1, 1)))
        else:
            whole = whole.limited(feature, 0, 9)
    return whole


def drawn_prices(problem: Subproblem, source: random.Random, *, cost: int = 0) -> Prices:
    size = source.choice((3, 10, 1000)) * max(1, cost)
    data = problem.data
    charged = source.random() < 0.7
    return Prices(
        np.array([source.randint(-size // 4, size) for _ in data.counts], np.int64),
        np.array([source.randint(0, size) * charged for _ in data.entries], np.int64),
        {feature: source.randint(-size // 2, size // 2) for feature in problem.limits},
        cost,
    )


def without_rewards(prices: Prices) -> Prices:
    """Return prices at which no order pays for an entry with pleasure."""
    features = {
        one: -abs(price) if isinstance(one, OpensWithToken) else price
        for one, price in prices.features.items()
    }
    return replace(prices, features=features)


def check(
    problem: Subproblem, prices: Prices, enumerations: list[Enumeration], *, real: bool
) -> int:
    """Check all limits; return how many different positive values they lead to.

    Parameters
    ----------
    real
        Whether to compare with real orders, which are of the whole instance and see no gain in
        paying for entries.
    """
    data = problem.data
    offer = PricedSubproblem(problem, prices)
    values: set[int] = set()
    for number, enumeration in enumerate(enumerations):
        offers = enumeration.orders if real else enumeration.blocks
        pairs = enumeration.priced(offers, problem, prices)
        limits = [None] if data.limit is None else range(data.limit + 1)
        for limit in limits:
            best = highest(pairs, limit)
            assert offer.bins(limit)[number] == best, (enumeration.instance, limit)
            values.add(best)
            check_contents(offer, number, limit, best)
    return len(values - {0})


def check_contents(offer: PricedSubproblem, number: int, limit: int | None, best: int) -> None:
    """Check that the contents returned are worth the best value and cost no more than stated."""
    problem, prices = offer.problem, offer.prices
    form = problem.data.aggregation.form
    for most in (1, 40):
        values = [0]
        for pattern in offer.groups[number]:
            found = pattern.contents(limit, most)
            assert len(found) <= most + 1  # and one of a single fragment
            for content, cost in found:
                column = Column(number, content, cost)
                assert problem.admits(column)
                assert keeps_rules(problem, content)
                if limit is not None:
                    assert cost <= limit
                (order,) = filter(None, orders_of(problem.data, [column]))
                cpu = problem.data.groups[number].cpus[-1]
                assert form.cost(cpu, Counter(order)) <= cost
                values.append(prices.worth(content) - prices.cost * cost)
        assert max(values) == best


def problems(number: int, seed: int) -> Iterator[tuple[Subproblem, random.Random]]:
    source = random.Random(seed)
    for instance in drawn_instances(number, seed=seed, most_tasks=6, kinds=("f", "g")):
        if instance.is_timed or instance.task_count < 4:
            continue
        aggregation = aggregation_of(instance)
        limit = None
        if instance.objective is not Objective.TOTAL_PENALTY:
            costs = Enumeration(Subproblem.whole_of(PricingData(aggregation, 0)), 0).blocks.values()
            limit = source.choice(sorted(costs)[len(costs) // 2 :])
        yield Subproblem.whole_of(PricingData(aggregation, limit)), source


@pytest.mark.parametrize("real", [True, False], ids=["orders", "blocks"])
def test_pricing_is_exact(real: bool) -> None:
    different = number = 0
    for whole, source in problems(450, seed=3):
        enumerations = [Enumeration(whole, group) for group in range(len(whole.data.groups))]
        for _ in range(3):
            problem = drawn_problem(whole, source)
            cost = source.randint(1, 5) if whole.data.limit is None else 0
            prices = drawn_prices(problem, source, cost=cost)
            if real:
                prices = without_rewards(prices)
            different += check(problem, prices, enumerations, real=real)
            number += 1
    assert number >= 500
    assert different >= number


def test_pricing_is_exact_for_what_is_left() -> None:
    """Of a class there may be more tokens left than tasks, but none of those used up."""
    opened = different = 0
    for whole, source in problems(450, seed=4):
        prices = Prices(whole.data.counts, np.zeros(len(whole.data.entries), np.int64))
        limit = whole.data.limit
        if limit is None:
            prices = replace(prices, weights=prices.weights * 1000, cost=1)
        found = PricedSubproblem(whole, prices).groups[0][0].contents(limit, 40)
        if not found:
            continue
        content, cost = source.choice(found)
        left = whole.without(Column(0, content, cost))
        opened += bool(content.tokens)
        enumerations = [Enumeration(left, group) for group in range(len(left.data.groups))]
        different += check(
            left, drawn_prices(left, source, cost=prices.cost), enumerations, real=False
        )
    assert opened >= 30
    assert different >= 100


def test_all_costs_of_a_cpu_are_steps() -> None:
    """Also those that do not share the common unit, because leaving the first state is paid."""
    leaving_first = Instance(
        cpus=1,
        penalty=PenaltyF(read_line=10, write_back=7),
        initial=(CacheState(df="Z", leaves=Leaves.DIRTY),),
        tasks=(Task(id="a", df="A", lines=1), Task(id="b", df="B", lines=2)),
    )
    data = PricingData(aggregation_of(leaving_first), 60)
    costs = Enumeration(Subproblem.whole_of(data), 0).orders.values()
    assert set(costs) == {17, 27, 37}
    assert data.cost_grid.unit == 10
    assert set(data.steps(1, 60)) >= {17, 27, 37}


def test_the_second_block_of_a_fragment_may_be_a_single_task() -> None:
    """Far cheaper than any order without it: another fragment comes between the first two tasks."""
    instance = Instance(
        cpus=1,
        penalty=PenaltyF(read_line=1, write_back=6),
        tasks=(
            Task(id="first", df="A", lines=10),
            Task(id="between", df="B", lines=1),
            Task(id="last", df="A", lines=1, leaves=Leaves.INVALIDATED),
        ),
    )
    problem = Subproblem.whole_of(PricingData(aggregation_of(instance), 10))
    enumeration = Enumeration(problem, 0)
    assert min(cost for (held, _), cost in enumeration.orders.items() if sum(held) == 3) == 2
    ones = Prices(np.ones(3, np.int64), np.zeros(3, np.int64))
    assert check(problem, ones, [enumeration], real=True) >= 2
