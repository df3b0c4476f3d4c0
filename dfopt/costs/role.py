"""The roles that a fragment can play on one CPU, and what its tasks pay in each of them."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class Duty(IntFlag):
    """A duty of a task in a block beside running, and the price that the task pays for it.

    Prices are those of :class:`~dfopt.costs.closed_form.BlockCosts`. A task without a duty pays
    its base cost only.
    """

    NONE = 0
    OPEN = 1
    """It opens a block whose entry is not spared, and pays its entry."""

    CLOSE = 2
    """It closes a block that another fragment follows, and pays its exit."""

    END = 4
    """It is the CPU's last task, and pays its end instead of its exit."""


class Role(IntEnum):
    """The position of a fragment's blocks on a CPU, as far as it matters for costs.

    A *block* is a longest run of consecutive tasks of one fragment. Some cheapest order gives
    every fragment of a CPU one of these roles:

    ========== ============================================== ======== ==================
    Role       Its blocks                                     Number   Its tasks pay
    ========== ============================================== ======== ==================
    ``MIDDLE`` one, which pays its entry and its exit         0        entry, exit
    ``FIRST``  one, the CPU's first, whose entry is spared    1        exit
    ``LAST``   one, the CPU's last, which pays its entry      2        entry, end
    ``SPLIT``  two, the CPU's first, whose entry is spared,   1 + 2    exit of the first,
               and its last                                            entry and end of
                                                                       the last
    ``ALONE``  one, the CPU's only one, whose entry is spared 4        end
    ========== ============================================== ======== ==================

    A CPU's first block whose entry is *not* spared has the role ``MIDDLE``, or ``LAST`` if there
    is no other block. At most one fragment of a CPU takes the first end (bit 1 of the number),
    at most one takes the last end (bit 2), and beside ``ALONE`` (bit 4) there is no other fragment.

    The core works with the numbers, see ``core/pricing/priced_tasks.hpp``.
    """

    MIDDLE = 0
    FIRST = 1
    LAST = 2
    SPLIT = 3
    ALONE = 4

    @property
    def duties(self) -> Duty:
        """What the tasks of the fragment have to do; one task may do several things."""
        return _DUTIES[self]

    @property
    def excluded_by(self) -> int:
        """The bits of other fragments' roles on the same CPU that rule this role out."""
        return 7 if self is Role.ALONE else Role.ALONE | self


_DUTIES = {
    Role.MIDDLE: Duty.OPEN | Duty.CLOSE,
    Role.FIRST: Duty.CLOSE,
    Role.LAST: Duty.OPEN | Duty.END,
    Role.SPLIT: Duty.CLOSE | Duty.OPEN | Duty.END,
    Role.ALONE: Duty.END,
}
