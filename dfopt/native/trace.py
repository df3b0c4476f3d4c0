"""Searches for schedules of traces, see ``core/trace``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dfopt.native.library import Integers, NativeObject, Rows, native, row

FAR = 2**60
"""More than all times of a section."""

LIMITS = row("long_wait", "wait", "long_waits")
SETTINGS = np.dtype(
    [(field, np.int64) for field in ("width", "safe", "ahead", "urgent")]
    + [
        (field, np.float64)
        for field in ("waiting", "late", "idle", "wait_price", "long_price", "patience")
    ]
)
PLACEMENT = row("start", "cpu")

SLOTS = row("first", "last")

DISPATCH = row(
    "cpu", "start", "length", "fragment", "ready_by", "previous", "waker", "waker_offset",
    "entry", "exit", "always", "first", "last",
)  # fmt: skip
CUT_TIME = row("cpu", "time")
BOUNDS = row("total", "each", "most_long")

NEVER = 2**62
"""A time after everything that happens."""

DISPATCHES_A_CALL, EVENTS_A_CALL = 32, 10_000
"""To place 32 dispatches takes some milliseconds; so do 10,000 events of the patient rule."""


class SectionLimits(NamedTuple):
    """What a section may change, and which waits are long.

    Parameters
    ----------
    long_wait
        A wait above this is long.
    wait, long_waits
        At most by this much may the sum of all waits rise, and by this the number of long ones.
    """

    long_wait: int = FAR
    wait: int = FAR
    long_waits: int = FAR


class TraceRows(NamedTuple):
    """A schedule of a trace with k dispatches that may move, and what limits other ones.

    Parameters
    ----------
    dispatches
        Rows ``DISPATCH``, shape (k,): those that may move, each after ``previous`` and ``waker``.
    fixed
        Rows ``DISPATCH``: what keeps its CPU and its time, by CPU and start.
    cuts
        Rows ``CUT_TIME``, by CPU and time.
    latest
        Shape (k,): their latest starts, or ``NEVER``.
    matrix, fragments
        Costs between fragments and their number, or of shape (0, 0) and 0.
    cpus
        The number of CPUs.
    """

    dispatches: Rows
    fixed: Rows
    cuts: Rows
    latest: Integers
    matrix: Integers
    fragments: int
    cpus: int


class Sections(NativeObject):
    """Sections of a schedule and beam searches of them, see ``core/trace/sections.hpp``.

    Parameters
    ----------
    trace
        The fields of :class:`TraceRows`.
    ready
        Shape (k,): when each dispatch was certainly not ready before, for the waits that sections
        permit.
    gives_way
        Whether dispatches start as late as they may in the given order, which leaves the most room
        to sections before them. Costs stay what they are, but waits do not.
    """

    def __init__(self, *trace: Rows | int, ready: Integers, gives_way: bool) -> None:
        super().__init__(*trace, ready, gives_way)

    @native()
    def cuts(self, first: int, distance: int) -> Integers:
        """Return where sections may end: about ``distance`` apart, where CPUs have time to spare.

        The first one is nearer by ``first``.
        """

    @native()
    def take(self, begin: int, end: int, limits: Rows, wait: int, settings: Rows) -> int:
        """Take the dispatches at ``begin`` to ``end`` - 1 in the order of starts, for a search.

        What this leaves out before ``begin`` is never taken again.

        Parameters
        ----------
        begin, end
            Which dispatches.
        limits
            One row ``LIMITS``: how long a long wait is, and by how much the sum of waits and the
            number of long ones may rise.
        wait
            For how long each dispatch may wait, unless it does already, or ``NEVER``.
        settings
            One row ``SETTINGS``, see ``core/trace/children.hpp``.
        """

    @native()
    def place(self, dispatches: int) -> int:
        """Place this number of dispatches more; return the number of those that are left.

        It is 0 also if no schedule is within the limits.
        """

    @native()
    def find(self, changes: Integers) -> int:
        """Find the best schedule of the section; return whether there is one.

        Write by how much the cost, the sum of all waits and the number of long ones change, and
        what the section cost before.
        """

    @native()
    def put_back(self) -> None:
        """Let the section run as was found."""

    @native(PLACEMENT)
    def placements(self) -> Rows:
        """Return where all dispatches run: rows ``PLACEMENT``."""


class ScheduleAnnealing(NativeObject):
    """Simulated annealing over the orders in which CPUs run dispatches, see ``core/annealing``.

    Parameters
    ----------
    dispatches, fixed, cuts, latest, matrix, fragments, cpus
        See :class:`TraceRows`.
    bounds
        One row ``BOUNDS``: at most this sum of waits; a wait above this is long; at most this
        number of long waits.
    chances
        Equally likely limits of how much dearer a change may be, in units of the temperature.
    seed
        64 random bits, not 0.
    """

    def __init__(
        self, *trace: Rows | int, bounds: Rows, chances: NDArray[np.float64], seed: int
    ) -> None:
        super().__init__(*trace, bounds, chances, seed)

    @native()
    def settle(self) -> bool:
        """Start every dispatch as early as the order permits; return if all limits are kept."""

    @native()
    def watch(self, low: int, high: int) -> None:
        """From now on change the dispatches ``low`` to ``high`` - 1; keep the schedule as it is."""

    @native()
    def anneal(self, changes: int, temperature: float) -> None:
        """Try this number of random changes; ``temperature`` is in units of cost."""

    @native()
    def keep_if_cheaper(self) -> None:
        """Keep the schedule if it is cheaper than the one that was kept."""

    @native()
    def go_back(self) -> None:
        """Go back to the schedule that was kept."""

    @native(PLACEMENT)
    def placements(self) -> Rows:
        """Return where each dispatch runs: rows ``PLACEMENT``."""


class PatientRule(NativeObject):
    """The patient rule, see ``core/trace/patient_rule.hpp`` and :func:`patient_placements`."""

    @native()
    def run(self, events: int) -> int:
        """Go on by this number of events; return how many dispatches have not started."""

    @native(PLACEMENT)
    def placements(self) -> Rows:
        """Return where each dispatch has started: rows ``PLACEMENT``."""


def patient_placements(  # noqa: PLR0913, PLR0917
    dispatches: Rows, taken: Integers, cuts: Rows, hurry_from: Integers, cpus: int, patience: int
) -> Rows:
    """Return where the patient rule starts each dispatch: rows ``PLACEMENT``.

    Parameters
    ----------
    dispatches
        Rows ``DISPATCH``: those that may move, then what is fixed.
    taken
        Which of them keep their places, by CPU and start: what is fixed, and those whose places
        are reserved.
    cuts
        Rows ``CUT_TIME``, by CPU and time.
    hurry_from
        From when on each that may move is urgent; ``NEVER`` if it is not at all.
    cpus, patience
        The number of CPUs, and for how long a dispatch waits before a CPU changes to its fragment.
    """
    rule = PatientRule(dispatches, taken, cuts, hurry_from, cpus, patience)
    while rule.run(EVENTS_A_CALL):
        pass
    return rule.placements()


@native()
def fit_prices(conditions: Rows, room: Integers, prices: Integers) -> None:
    """Lower prices to what is left in each slot after those before them.

    Then they reward no entry by more than it costs.

    Parameters
    ----------
    conditions
        Rows ``SLOTS``: the slots in which an entry meets each condition, to just before ``last``.
    room
        What an entry costs in each slot; it is lowered too.
    prices
        The price of each condition.
    """
