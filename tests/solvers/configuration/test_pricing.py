"""Pricing finds the best content at every limit, as enumeration of all orders does."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations

import pytest

from dfopt import replace
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.branch_and_price.prices import Prices
from dfopt.solvers.configuration.contents import (
    Column,
    Feature,
    HoldsAtLeast,
    OpensWithToken,
    VisitsFragment,
    VisitsPair,
    orders_of,
)
from dfopt.solvers.configuration.pricing import PricedProblem
from dfopt.solvers.configuration.pricing_data import PricingData
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from tests.solvers.configuration.aggregated import aggregation_of
from tests.solvers.configuration.enumeration import Enumeration, keeps_rules, limited, problems

Drawn = Prices[Feature, int]


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


def drawn_problem(whole: RemainingProblem, source: random.Random) -> RemainingProblem:
    """Return a problem with limits that are as wide as can be, or that rule contents out."""
    for feature in drawn_features(whole.data, source):
        narrow = source.random()
        if isinstance(feature, VisitsFragment) and narrow < 0.3:
            whole = limited(whole, feature, 0, 1)
        elif isinstance(feature, VisitsPair) and narrow < 0.4:
            whole = limited(whole, feature, *((0, 0) if narrow < 0.2 else (1, 1)))
        else:
            whole = limited(whole, feature, 0, 9)
    return whole


def drawn_prices(problem: RemainingProblem, source: random.Random, *, cost: int = 0) -> Drawn:
    size = source.choice((3, 10, 1000)) * max(1, cost)
    data = problem.data
    charged = source.random() < 0.7
    return Prices(
        weights=[source.randint(-size // 4, size) for _ in data.counts],
        charges=[source.randint(0, size) * charged for _ in data.entries],
        features={feature: source.randint(-size // 2, size // 2) for feature in problem.limits},
        bins=[],
        cost=cost,
    )


def plain(data: PricingData, weights: list[int]) -> Drawn:
    """Return prices of tasks alone."""
    return Prices(weights=weights, charges=[0] * len(data.entries), features={}, bins=[], cost=0)


def without_rewards(prices: Drawn) -> Drawn:
    """Return prices at which no order gains by paying for an entry."""
    features = {
        one: -abs(price) if isinstance(one, OpensWithToken) else price
        for one, price in prices.features.items()
    }
    return replace(prices, features=features)


def check(
    problem: RemainingProblem, prices: Drawn, enumerations: list[Enumeration], *, real: bool
) -> int:
    """Check all limits; return how many different positive values they lead to.

    Parameters
    ----------
    real
        Whether to compare with real orders, which are of the whole instance and see no gain in
        paying for entries.
    """
    data = problem.data
    offer = PricedProblem(problem, prices)
    values: set[int] = set()
    for number, enumeration in enumerate(enumerations):
        offers = enumeration.orders if real else enumeration.blocks
        pairs = enumeration.priced(offers, problem, prices)
        limits = [None] if data.limit is None else range(data.limit + 1)
        for limit in limits:
            best = highest(pairs, limit)
            assert offer.bins(0 if limit is None else limit)[number] == best, (
                enumeration.instance,
                limit,
            )
            values.add(best)
            check_contents(offer, number, limit, best)
    return len(values - {0})


def check_contents(offer: PricedProblem, number: int, limit: int | None, best: int) -> None:
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
                values.append(content.worth(prices) - prices.cost * cost)
        assert max(values) == best


@pytest.mark.slow
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
        prices = plain(whole.data, whole.data.counts.tolist())
        limit = whole.data.limit
        if limit is None:
            prices = replace(prices, weights=[1000 * one for one in prices.weights], cost=1)
        found = PricedProblem(whole, prices).groups[0][0].contents(limit, 40)
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


def test_contents_are_the_same_where_options_are_known() -> None:
    """The next complement takes over what is known of the fragments that have not changed."""
    compared = 0
    for drawn, source in problems(200, seed=5):
        whole = drawn_problem(drawn, source)
        prices = drawn_prices(whole, source, cost=int(whole.data.limit is None))
        offer = PricedProblem(whole, prices)
        found = offer.groups[0][0].contents(whole.data.limit, 40)
        if not found:
            continue
        column = Column(0, *source.choice(found))
        after, anew = offer.without(column), PricedProblem(whole.without(column), prices)
        assert after.worth == anew.worth
        for known, fresh in zip(chain(*after.groups), chain(*anew.groups), strict=True):
            contents = known.contents(whole.data.limit, 40)
            assert contents == fresh.contents(whole.data.limit, 40)
            compared += len(contents)
    assert compared >= 80


def test_all_costs_of_a_cpu_are_steps() -> None:
    """Also those that do not share the common unit, because leaving the first state is paid."""
    leaving_first = Instance(
        cpus=1,
        penalty=PenaltyF(read_line=10, write_back=7),
        initial=(CacheState(df="Z", leaves=Leaves.DIRTY),),
        tasks=(Task(id="a", df="A", lines=1), Task(id="b", df="B", lines=2)),
    )
    data = PricingData(aggregation_of(leaving_first), 60)
    costs = Enumeration(RemainingProblem.whole_of(data), 0).orders.values()
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
    problem = RemainingProblem.whole_of(PricingData(aggregation_of(instance), 10))
    enumeration = Enumeration(problem, 0)
    assert min(cost for (held, _), cost in enumeration.orders.items() if sum(held) == 3) == 2
    ones = plain(problem.data, [1, 1, 1])
    assert check(problem, ones, [enumeration], real=True) >= 2
