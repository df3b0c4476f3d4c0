"""What the fragments of a problem offer to a CPU at some prices.

Options are shared by all groups of CPUs, and by problems that differ in a few fragments only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dfopt.native.pricing import BONUS, CLASS_PRICE, FRAGMENT_PRICE, TOKEN_PRICE, PricedOptions
from dfopt.solvers.configuration.branching_rules import HoldsAtLeast, OpensWithToken, VisitsFragment
from dfopt.solvers.configuration.prices import Prices
from dfopt.solvers.configuration.remaining_problem import RemainingProblem


def priced_options(
    problem: RemainingProblem,
    prices: Prices,
    check: Callable[[], None],
    known: PricedOptions | None = None,
    changed: Sequence[int] = (),
) -> PricedOptions:
    """Return the priced options of each fragment for a CPU.

    Parameters
    ----------
    problem
        The tasks to hold, and the limits on contents.
    prices
        The worth of tasks, in integers.
    check
        Called often; may end the work by an exception.
    known
        The options of the same fragments, but of those in ``changed``, if they are known.
    changed
        Fragments with other tasks or limits than there.
    """
    data = problem.data
    classes = np.empty(len(data.counts), CLASS_PRICE)
    classes["number"], classes["weight"] = problem.stock.tasks, prices.weights
    tokens = np.empty(len(data.entries), TOKEN_PRICE)
    tokens["number"], tokens["worth"] = problem.stock.tokens, -prices.charges
    fragments = np.zeros(data.fragments, FRAGMENT_PRICE)
    fragments["is_whole"], fragments["is_paired"] = problem.whole, problem.paired
    fragments["is_changed"][list(changed) if known else slice(None)] = 1
    bonuses = []
    for feature, price in prices.features.items():
        match feature:
            case VisitsFragment(fragment):
                fragments["visit"][fragment] = price
            case OpensWithToken(token):
                tokens["worth"][token] += price
            case HoldsAtLeast(task_class, number):
                bonuses.append((task_class, number, price))
    return PricedOptions(
        data.tables,
        cost=prices.cost,
        classes=classes,
        tokens=tokens,
        fragments=fragments,
        bonuses=np.array(bonuses, BONUS),
        check=check,
        known=known,
    )
