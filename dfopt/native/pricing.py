"""Pricing: the contents of CPUs that are worth most at some prices, see ``core/pricing``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import numpy as np

from dfopt.native.library import (
    ANY,
    INT,
    INTS,
    POINTER,
    ArrayOf,
    Functions,
    Made,
    Rows,
    checked,
    row,
)

FRAGMENT = row("first_class", "last_class", "first_row", "last_row", "may_be_first")
TASK_CLASS = np.dtype(
    [
        ("size", np.int64),
        ("base", np.int64),
        ("leaving", np.int64, 4),
        ("first_token", np.int64),
        ("last_token", np.int64),
    ]
)
CLASS_PRICE = row("number", "weight")
TOKEN_PRICE = row("number", "worth")
FRAGMENT_PRICE = row("is_whole", "is_paired", "visit", "is_changed")
BONUS = row("task_class", "number", "worth")
CPU_FRAGMENT = row("is_spared", "may_miss", "may_visit")
CONTENT = row("cost", "value", "visits", "tasks")
VISIT = row("fragment", "token")
HELD = row("task_class", "count")

EXITS, ENDS = 1, 2
"""Duties beside opening a block: closing one, and being the CPU's last task. They add up."""

_tables = Functions(
    "pricing_tables",
    create=(POINTER, ArrayOf(FRAGMENT), ArrayOf(TASK_CLASS), INTS, INTS, INTS, INT, INT, INT),
    destroy=(None, POINTER),
)
_options = Functions(
    "pricing_options",
    create=(
        POINTER,
        POINTER,
        INT,
        ArrayOf(CLASS_PRICE),
        ArrayOf(TOKEN_PRICE),
        ArrayOf(FRAGMENT_PRICE),
        ArrayOf(BONUS),
        POINTER,
    ),
    destroy=(None, POINTER),
    find=(INT, POINTER),
)
_contents = Functions(
    "pricing_contents",
    create=(POINTER, POINTER, ArrayOf(CPU_FRAGMENT), INT, INT, INT),
    destroy=(None, POINTER),
    fill=(INT, POINTER),
    release=(None, POINTER),
    largest=(INT, POINTER, INT),
    choose=(INT, POINTER, INT, INT),
    find_tasks=(INT, POINTER),
    write=(INT, POINTER, ArrayOf(CONTENT), ArrayOf(VISIT), ArrayOf(HELD)),
)


class PricingTables(Made):
    """What pricing knows of an instance, with memory for its tables.

    Parameters
    ----------
    fragments, classes
        Rows ``FRAGMENT`` and ``TASK_CLASS``.
    entries
        What opening a block costs, by token.
    rows
        All that the tasks of each fragment but the opener can cost, one fragment after the other.
    grid
        All that a content can cost, sorted, apart from what starting costs.
    unit
        The unit of all these costs.
    capacity
        The largest size of a content.
    duties
        The sum of all that make a difference.
    """

    def __init__(  # noqa: PLR0913
        self,
        fragments: Rows,
        classes: Rows,
        *,
        entries: Rows,
        rows: Rows,
        grid: Rows,
        unit: int,
        capacity: int,
        duties: int,
    ) -> None:
        arrays = fragments, classes, entries, rows, grid
        super().__init__(_tables, *arrays, unit, capacity, duties)


class PricedOptions(Made):
    """What each fragment offers to a CPU at some prices.

    Parameters
    ----------
    tables
        The instance.
    cost
        The price of a unit of cost; 0 where costs are limited instead.
    classes, tokens, fragments, bonuses
        Rows ``CLASS_PRICE``, ``TOKEN_PRICE``, ``FRAGMENT_PRICE`` and ``BONUS``.
    check
        Called often; may end the work by an exception.
    known
        The options at the same prices of a problem that differs in changed fragments only.
    """

    def __init__(  # noqa: PLR0913
        self,
        tables: PricingTables,
        *,
        cost: int,
        classes: Rows,
        tokens: Rows,
        fragments: Rows,
        bonuses: Rows,
        check: Callable[[], None],
        known: PricedOptions | None = None,
    ) -> None:
        rows = classes, tokens, fragments, bonuses
        super().__init__(_options, tables, cost, *rows, known, uses=tables)
        self.classes = len(classes)
        while not _options.find(self):
            check()


class FoundContent(NamedTuple):
    """What a CPU can hold.

    Parameters
    ----------
    cost
        In the instance's time unit; of no use where costs are priced.
    value
        What it is worth, less its cost if that is priced.
    visits
        Its fragments, each with the token that pays for its block, or -1.
    tasks
        Pairs of a class and how many tasks of it.
    """

    cost: int
    value: int
    visits: tuple[tuple[int, int], ...]
    tasks: tuple[tuple[int, int], ...]


class PricedContents(Made):
    """All that a CPU can hold at some prices.

    Parameters
    ----------
    options
        What each fragment offers.
    fragments
        A row ``CPU_FRAGMENT`` for each.
    arrival, departure
        What starting costs, see :class:`~dfopt.costs.closed_form.CpuStart`.
    worth
        The worth of the CPU, whatever it holds.
    check
        Called often; may end the work by an exception.
    """

    def __init__(  # noqa: PLR0913
        self,
        options: PricedOptions,
        fragments: Rows,
        *,
        arrival: int,
        departure: int,
        worth: int,
        check: Callable[[], None],
    ) -> None:
        super().__init__(_contents, options, fragments, arrival, departure, worth, uses=options)
        self._fragments, self._classes, self._check = len(fragments), options.classes, check
        while not _contents.fill(self):
            check()

    def release(self) -> None:
        """Give memory back; after that there are no contents any more."""
        _contents.release(self)

    def largest(self, limit: int | None) -> int:
        """Return the most that is held at a cost of at most ``limit``; nothing is worth 0."""
        return int(_contents.largest(self, ANY if limit is None else limit))

    def contents(self, limit: int | None, most: int) -> list[FoundContent]:
        """Return the most valuable contents, one of each size.

        Parameters
        ----------
        limit
            The most that they cost, in the instance's time unit; None for any.
        most
            The number of contents returned is at most this, and one for a single fragment.
        """
        number = _contents.choose(self, ANY if limit is None else limit, most)
        while not _contents.find_tasks(self):
            self._check()
        chosen = np.empty(number, CONTENT)
        visits = np.empty(number * self._fragments, VISIT)
        tasks = np.empty(number * self._classes, HELD)
        checked(_contents.write(self, chosen, visits, tasks))
        next_visits = iter(visits[: chosen["visits"].sum()].tolist())
        next_tasks = iter(tasks[: chosen["tasks"].sum()].tolist())
        return [
            FoundContent(
                cost, value, tuple(islice(next_visits, of_visits)), tuple(islice(next_tasks, held))
            )
            for cost, value, of_visits, held in chosen.tolist()
        ]
