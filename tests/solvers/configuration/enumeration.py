"""All that one CPU can hold, by enumeration: what pricing is held against."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import compress, pairwise

from dfopt.problem.instance import Objective
from dfopt.problem.schedule import order_cost
from dfopt.solvers.branch_and_price.prices import Prices
from dfopt.solvers.configuration.contents import (
    Column,
    CpuContent,
    Feature,
    VisitsFragment,
    VisitsPair,
)
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from tests.solvers.configuration.aggregated import aggregation_of
from tests.solvers.drawn import drawn_instances

Offered = tuple[tuple[int, ...], tuple[int, ...]]
"""The number of tasks of each class, and the tokens that are paid for."""

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

    def __init__(self, problem: RemainingProblem, group: int) -> None:
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
        may_return = any(task_class.exit != task_class.end for task_class in classes)
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

    def priced(
        self, offers: Offers, problem: RemainingProblem, prices: Prices[Feature, int]
    ) -> list[tuple[int, int]]:
        """Return pairs of cost and value of all that keeps the rules of a problem."""
        contents = [(self.content(*key), cost) for key, cost in offers.items()]
        return [
            (cost, content.worth(prices) - prices.cost * cost)
            for content, cost in contents
            if keeps_rules(problem, content)
        ]


def keeps_rules(problem: RemainingProblem, content: CpuContent) -> bool:
    """Return whether a CPU may hold ``content`` by what the limits say about any one CPU."""
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


def limited(problem: RemainingProblem, feature: Feature, least: int, most: int) -> RemainingProblem:
    """Return the problem with a limit on how many CPUs may have a feature."""
    return problem.within({**problem.limits, feature: (least, most)})


def problems(number: int, seed: int) -> Iterator[tuple[RemainingProblem, random.Random]]:
    source = random.Random(seed)
    for instance in drawn_instances(number, seed=seed, most_tasks=6, kinds=("f", "g")):
        if instance.is_timed or instance.task_count < 4:
            continue
        aggregation = aggregation_of(instance)
        limit = None
        if instance.objective is not Objective.TOTAL_PENALTY:
            costs = Enumeration(
                RemainingProblem.whole_of(PricingData(aggregation, 0)), 0
            ).blocks.values()
            limit = source.choice(sorted(costs)[len(costs) // 2 :])
        yield RemainingProblem.whole_of(PricingData(aggregation, limit)), source


def all_columns(problem: RemainingProblem, limit: int | None) -> list[Column]:
    """Return every column of the LP: contents at their least cost, within the limit."""
    columns = []
    for group in range(len(problem.data.groups)):
        enumeration = Enumeration(problem, group)
        columns += [
            Column(group, enumeration.content(*offered), cost)
            for offered, cost in enumeration.blocks.items()
            if limit is None or cost <= limit
        ]
    return columns
