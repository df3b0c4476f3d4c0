"""Pricing: the contents of CPUs that are worth most at some prices, see ``core/pricing``."""

from __future__ import annotations

import numpy as np

from dfopt.native.library import Integers, NativeObject, Rows, native, row

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
CONTENT = row("cost", "value", "visits")
VISIT = row("fragment", "token", "classes")
HELD = row("task_class", "count")

EXITS, ENDS = 1, 2
"""Duties beside opening a block: closing one, and being the CPU's last task. They add up."""


class PricingTables(NativeObject):
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

    @native()
    def __init__(  # noqa: PLR0913
        self,
        fragments: Rows,
        classes: Rows,
        *,
        entries: Integers,
        rows: Integers,
        grid: Integers,
        unit: int,
        capacity: int,
        duties: int,
    ) -> None: ...


class PricedOptions(NativeObject):
    """What each fragment offers to a CPU at some prices.

    Parameters
    ----------
    tables
        The instance.
    cost
        The price of a unit of cost; 0 where costs are limited instead.
    classes, tokens, fragments, bonuses
        Rows ``CLASS_PRICE``, ``TOKEN_PRICE``, ``FRAGMENT_PRICE`` and ``BONUS``.
    """

    @native()
    def __init__(  # noqa: PLR0913
        self,
        tables: PricingTables,
        *,
        cost: int,
        classes: Rows,
        tokens: Rows,
        fragments: Rows,
        bonuses: Rows,
    ) -> None: ...

    @native()
    def take_over(self, known: PricedOptions) -> None:
        """Take over options at the same prices of a problem that differs in changed fragments."""

    @native()
    def advance(self) -> bool:
        """Go on for some hundredths of a second; return whether all options are found."""


class PricedContents(NativeObject):
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
    """

    @native()
    def __init__(
        self, options: PricedOptions, fragments: Rows, *, arrival: int, departure: int, worth: int
    ) -> None: ...

    @native()
    def advance(self) -> bool:
        """Go on for some hundredths of a second; return whether all that is asked for is known.

        That is first what is worth most, then the tasks of the contents that are chosen.
        """

    @native()
    def release(self) -> None:
        """Give memory back; after that there are no contents any more."""

    @native()
    def largest(self, limit: int) -> int:
        """Return the most that is held at a cost of at most ``limit``; nothing is worth 0."""

    @native()
    def choose(self, limit: int, most: int) -> None:
        """Choose the most valuable contents, one of each size.

        Parameters
        ----------
        limit
            The most that they cost, in the instance's time unit.
        most
            At most this number are chosen, and one for a single fragment.
        """

    @native(CONTENT)
    def chosen(self) -> Rows:
        """Return rows ``CONTENT``; the cost is of no use where costs are priced."""

    @native(VISIT)
    def visits(self) -> Rows:
        """Return rows ``VISIT``: the fragments of one content after the other.

        They have the token that pays for the block, or -1, and say of how many classes there are
        tasks.
        """

    @native(HELD)
    def tasks(self) -> Rows:
        """Return rows ``HELD``: the tasks of one visit after the other."""
