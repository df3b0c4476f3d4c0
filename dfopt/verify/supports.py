"""Checks a proof by supports: on how many CPUs types must run, and what that costs at least.

The support of a CPU is the set of types that it runs. Two tables over all supports are computed by
:mod:`~dfopt.verify.support_orders`: the least cost of an order with this support, which says
whether a CPU within the threshold can have it, and the largest value of its tasks less its cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dfopt.problem.certificate import SupportProof, Supports, SupportWeights
from dfopt.problem.instance import Instance, Objective
from dfopt.verify.cases import Range, first_flaw
from dfopt.verify.limited_costs import LimitedCosts
from dfopt.verify.sizes import least_visits
from dfopt.verify.support_orders import Orders, Start
from dfopt.verify.support_worth import TaskWorth

Limits = Mapping[frozenset[str], Range]
"""At least and at most this number of CPUs run any type of a set."""


def false_supports(
    instance: Instance, certificate: Supports, bound: int, check: Callable[[], None] = lambda: None
) -> list[str]:
    """Return the errors in a proof by supports that no schedule is below ``bound``.

    Raises
    ------
    MethodError
        When the instance is too large for that.
    """
    orders = Orders(instance, bound - 1, check)
    return first_flaw(_leaves(instance, orders, certificate.proof, {}, "certificate.proof"))


def _leaves(
    instance: Instance, orders: Orders, proof: SupportProof, limits: Limits, place: str
) -> Iterator[tuple[str, Callable[[], str | None]]]:
    """Yield the leaves: the place of each, and what returns its flaw."""
    if isinstance(proof, SupportWeights):
        yield place, lambda: next(_flaws(instance, orders, proof, limits), None)
        return
    yield place, lambda: next(_flaws_of_set(orders, proof.types, ".types"), None)
    types = frozenset(proof.types)
    least, most = limits.get(types, (0, instance.cpus))
    below = {**limits, types: (least, min(most, proof.most))}
    above = {**limits, types: (max(least, proof.most + 1), most)}
    yield from _leaves(instance, orders, proof.below, below, f"{place}.below")
    yield from _leaves(instance, orders, proof.above, above, f"{place}.above")


def _flaws(
    instance: Instance, orders: Orders, proof: SupportWeights, limits: Limits
) -> Iterator[str]:
    """Yield the flaws of weights, first those that are found at once."""
    if proof.unit < 0:
        yield f".unit: is {proof.unit}, but must not be negative"
    for key in ("tasks", "counted", "least_costs"):
        yield from _unknown(orders, [row.type for row in getattr(proof, key)], f".{key}")
    yield from _flaws_of_costs(proof, ".least_costs")
    for position, row in enumerate(proof.sets):
        yield from _flaws_of_set(orders, row.types, f".sets[{position}].types")
    if len(proof.bin_weights) != instance.cpus:
        yield (f".bin_weights: has {len(proof.bin_weights)} entries for {instance.cpus} CPUs")
    yield from _false_weights(instance, orders, proof, limits)


def _flaws_of_set(orders: Orders, types: Sequence[str], place: str) -> Iterator[str]:
    if not types:
        yield f"{place}: must name a type"
    yield from _unknown(orders, types, place)


def _unknown(orders: Orders, names: Sequence[str], place: str) -> Iterator[str]:
    for position, name in enumerate(names):
        if name not in orders.numbers:
            yield f"{place}[{position}]: no task has the type {name!r}"
        elif name in names[:position]:
            yield f"{place}[{position}]: names the type {name!r} again"


def _flaws_of_costs(proof: SupportWeights, place: str) -> Iterator[str]:
    for position, row in enumerate(proof.least_costs):
        if row.cost < 0:
            yield f"{place}[{position}].cost: is {row.cost}, but must not be negative"
    if proof.least_costs and (proof.unit or proof.tasks):
        yield f"{place}: stand beside `tasks` or a `unit`, which must weigh nothing then"


def _false_weights(
    instance: Instance, orders: Orders, proof: SupportWeights, limits: Limits
) -> Iterator[str]:
    """Yield the errors in the two claims of a leaf."""
    # (b) All weights exceed what the CPUs can be worth and what they may pay.
    rows = (*proof.tasks, *proof.counted)
    worth = sum(row.weight * orders.numbers[row.type] for row in rows)
    limited = _limited_costs(orders, proof)
    bits = {name: 1 << number for number, name in enumerate(orders.types)}
    for row in proof.sets:
        types, weight = row.types, row.weight
        least, most = limits.get(frozenset(types), (0, instance.cpus))
        tasks = sum(orders.numbers[name] for name in types)
        # They need room, and a CPU that runs any of them runs one at least.
        size = sum(orders.sizes[name] for name in types)
        least, most = max(least, least_visits(instance, tasks, size)), min(most, tasks)
        if limited:
            mask = sum(bits[name] for name in types)
            room = max(costs.most_tasks(mask) for costs in limited.values())
            least = max(least, -(-tasks // max(1, room)))
        worth += weight * (least if weight > 0 else most)
    total = instance.objective is Objective.TOTAL_PENALTY
    budget = orders.threshold * (1 if total else instance.cpus)
    held = sum(proof.bin_weights) + proof.unit * budget
    if worth <= held:
        yield f": the weights are {worth}, no more than the CPUs can be worth, {held}"
    # (a) No order is worth more than its CPU's bin weight.
    largest = largest_worths(orders, proof, total=total)
    for cpu, (claim, start) in enumerate(zip(proof.bin_weights, orders.starts, strict=True)):
        value = largest[start]
        if value is not None and value > claim:
            yield f".bin_weights[{cpu}]: is {claim}, but an order is worth {value}"


def largest_worths(
    orders: Orders, proof: SupportWeights, *, total: bool
) -> dict[Start, int | None]:
    """Return the largest value of an order for each start, None if there is no order."""
    largest: dict[Start, int | None] = dict.fromkeys(orders.starts)
    for start, _, value in worths(orders, proof, total=total):
        before = largest[start]
        largest[start] = value if before is None else max(value, before)
    return largest


def worths(
    orders: Orders, proof: SupportWeights, *, total: bool
) -> Iterator[tuple[Start, int, int]]:
    """Yield starts, supports, and the largest value of an order.

    Where tasks are counted under total-penalty, supports may be left out that are worth no more
    than the bin weights of their CPUs; where costs are limited, the value may be larger within
    these.
    """
    bits = {name: 1 << number for number, name in enumerate(orders.types)}
    task_weights = {row.type: row.weight for row in proof.tasks}
    prices = [task_weights.get(name, 0) for name in orders.types]
    worth = TaskWorth(
        [orders.numbers[name] for name in orders.types],
        orders.capacity,
        _counted(orders, proof),
        [(sum(bits[name] for name in row.types), row.weight) for row in proof.sets],
    )
    claims: dict[Start, int] = {}
    for claim, start in zip(proof.bin_weights, orders.starts, strict=True):
        claims[start] = min(claim, claims.get(start, claim))
    limited = _limited_costs(orders, proof)
    for start, claim in claims.items():
        if limited:
            for support in limited[start].limits:
                orders.check()
                value = worth.of_sets(support) + worth.of_tasks(support)
                if value > claim:
                    best = limited[start].worth(support)
                    if best is None:
                        continue
                    value = worth.of_sets(support) + best
                yield start, support, value
            continue
        if total and proof.counted:
            values = orders.values_above(start, prices, proof.unit, worth, claim)
        else:
            values = orders.values(start, prices, proof.unit)
        for support, value in values:
            orders.check()
            yield start, support, value + worth.of_sets(support) + worth.of_tasks(support)


def _limited_costs(orders: Orders, proof: SupportWeights) -> dict[Start, LimitedCosts]:
    """Return for each start the tasks that CPUs can run; empty if their costs are not limited."""
    if not proof.least_costs:
        return {}
    least_costs = {row.type: row.cost for row in proof.least_costs}
    costs = tuple(least_costs.get(name, 0) for name in orders.types)
    return {
        start: LimitedCosts(
            [orders.numbers[name] for name in orders.types],
            orders.capacity,
            costs,
            orders.limits(start, costs),
            _counted(orders, proof),
        )
        for start in set(orders.starts)
    }


def _counted(orders: Orders, proof: SupportWeights) -> list[int]:
    """Return what a task of each type weighs in addition."""
    weights = {row.type: row.weight for row in proof.counted}
    return [weights.get(name, 0) for name in orders.types]
