"""The options of all fragments on a CPU, with what they are worth at some prices.

They are shared by all groups of CPUs, and by problems that differ in a few fragments only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from dfopt.solvers.compilation.compiled import is_plain_python
from dfopt.solvers.configuration.branching_rules import HoldsAtLeast, OpensWithToken, VisitsFragment
from dfopt.solvers.configuration.columns import CpuContent
from dfopt.solvers.configuration.fragment_knapsack import (
    ENDS,
    EXITS,
    NEVER,
    Flags,
    FragmentTasks,
    Integers,
    PricedTasks,
)
from dfopt.solvers.configuration.fragment_options import AllFragments, KnownOptions, all_options
from dfopt.solvers.configuration.option_content import option_content
from dfopt.solvers.configuration.prices import Prices
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.interruptible import wait_for

BRIEF = 2**24
"""A compiled call of at most 2**24 steps takes some hundredths of a second."""

Value = TypeVar("Value")


def watched(call: Callable[[Flags], Value], steps: int, check: Callable[[], None]) -> Value:
    """Return the result of a compiled call; end it when ``check`` raises.

    Parameters
    ----------
    call
        Is given a flag that ends it early.
    steps
        About how many steps it takes; a brief one is not worth a thread.
    """
    halt = np.zeros(1, np.bool_)
    if steps <= BRIEF or is_plain_python():  # plain Python looks at the time by itself
        return call(halt)
    return wait_for(lambda: call(halt), check, lambda: halt.fill(True))


class PricedFragments:
    """The priced options of each fragment for a CPU; shared by all groups of CPUs.

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

    def __init__(
        self,
        problem: RemainingProblem,
        prices: Prices,
        check: Callable[[], None],
        known: PricedFragments | None = None,
        changed: Sequence[int] = (),
    ) -> None:
        data = problem.data
        self.data = data
        self.prices = prices
        self.check = check
        base, leaving, entry = data.rounded(data.cost_grid.unit)
        values = [-prices.cost * costs for costs in (base, leaving, entry)]
        if data.limit is None:
            # Costs are not limited; they reduce the value instead.
            base, leaving, entry = (np.zeros_like(costs) for costs in (base, leaving, entry))
        visit = np.zeros(data.fragments, np.int64)
        opening = values[2] - prices.charges
        bonuses = []
        for feature, price in prices.features.items():
            match feature:
                case VisitsFragment(fragment):
                    visit[fragment] = price
                case OpensWithToken(token):
                    opening[token] += price
                case HoldsAtLeast(task_class, number):
                    bonuses.append((task_class, number, price))
        self._tasks = PricedTasks(
            duties=EXITS | ENDS if data.needs_last else EXITS,
            numbers=problem.stock.tasks,
            sizes=data.task_sizes,
            base=base,
            weight=prices.weights + values[0],
            leaving=np.stack([leaving, values[1]]),
            bonuses=np.array(bonuses, np.int64).reshape(-1, 3),
            first_token=data.first_token,
            tokens=np.stack([entry, np.where(problem.stock.tokens > 0, opening, NEVER)], axis=1),
        )
        rows = data.cost_grid.rows
        self._fragments = AllFragments(
            first_class=data.first_class,
            first_row=np.cumsum([0, *map(len, rows)]),
            rows=np.concatenate(rows),
            whole=problem.whole,
            visit=visit,
            paired=problem.paired,
            may_be_first=data.may_be_first,
        )
        grid, tasks, fragments = data.cost_grid.costs, self._tasks, self._fragments
        options = self._known_options(known, changed)
        self._held: dict[tuple[int, bytes], list[tuple[int, int]]] = {
            key: held
            for key, held in (known._held if known else {}).items()
            if key[0] not in changed
        }
        self.start, self.options = watched(
            lambda halt: all_options(grid, data.capacity, tasks, fragments, options, halt),
            data.work_on_options,
            check,
        )

    def _known_options(self, known: PricedFragments | None, changed: Sequence[int]) -> KnownOptions:
        number = self.data.fragments
        if known is None:
            nothing = np.zeros(number + 1, np.int64), np.zeros((0, 5), np.int64)
            return KnownOptions(*nothing, np.ones(number, np.bool_))
        flags = np.zeros(number, np.bool_)
        flags[list(changed)] = True
        return KnownOptions(known.start, known.options, flags)

    def content(self, options: list[tuple[int, int]]) -> CpuContent:
        """Return the content that consists of some options, given with their fragments."""
        tasks: list[tuple[int, int]] = []
        tokens: list[int] = []
        for number, option in options:
            row = self.options[option]
            # Contents of different sizes, and of one round, have most of their options in common.
            key = number, row.tobytes()
            if key not in self._held:
                self._held[key] = self._tasks_of(number, row)
            tasks += self._held[key]
            if row[4] >= 0:
                tokens.append(int(row[4]))
        fragments = tuple(number for number, _ in options)
        return CpuContent(tuple(tasks), tuple(sorted(tokens)), fragments)

    def _tasks_of(self, number: int, option: Integers) -> list[tuple[int, int]]:
        """Return the classes of the tasks that an option of a fragment stands for, and how many."""
        grid = self.data.cost_grid
        first, last = self.data.ranges[number]
        fragment = FragmentTasks(
            first,
            last,
            grid.rows[number],
            bool(self._fragments.whole[number]),
            int(self._fragments.visit[number]),
        )
        self.check()
        numbers = watched(
            functools.partial(option_content, grid.costs, self._tasks, fragment, option),
            len(fragment.rows) * int(self._tasks.numbers[first:last].sum()) * int(option[2] + 1),
            self.check,
        )
        return [
            (task_class, held) for task_class, held in enumerate(numbers.tolist(), first) if held
        ]
