"""What was attainable for a trace: costs against waiting, with schedules and bounds."""

from __future__ import annotations

from enum import StrEnum

from msgspec import field

from dfopt.compare.attainable.bound.proof import WaitingProof
from dfopt.compare.attainable.switches_take_time import WithSwitches
from dfopt.compare.dispatches import Dispatches
from dfopt.structs import DocumentPart, Natural, NonNegative, Share, document_of
from dfopt.time_units import readable_time


class Scheduling(StrEnum):
    """What the schedule of a row may change, or how it was made."""

    RECORDED = "recorded"
    """It is what the trace recorded."""

    SAME_TIMELINE = "same timeline"
    """Every dispatch starts when it did; only its CPU is chosen."""

    LEAST_RECENTLY_USED = "least recently used"
    """The same timeline again. A dispatch whose fragment no idle CPU holds takes the CPU that has
    been idle for the longest time: this needs no knowledge of the future."""

    NOBODY_LATER = "nobody later"
    """No dispatch starts later than recorded."""

    LONGEST_WAIT = "longest wait"
    """No dispatch waits longer than is permitted, unless it did so in the recording."""

    SAME_MEAN_WAIT = "same mean wait"
    """Neither the mean of the waits nor their 99th percentile is larger than recorded."""

    PATIENCE = "patience"
    """An online rule: a CPU keeps to its fragment until something has waited for some time."""


class FrontierRow(DocumentPart, omit_defaults=False):
    """A schedule of a trace's dispatches, and the bound of all schedules with its limit.

    Parameters
    ----------
    scheduling
        What the schedule may change, or how it was made.
    wait
        The longest wait that is permitted; 0 for "nobody later", None where there is no such limit.
    patience
        For how long a CPU keeps to its fragment while others wait; None under other limits.
    cost
        The cost of the schedule, on all CPUs.
    bound
        No schedule with this limit costs less, whatever the lengths of its dispatches; None where
        no bound is known.
    bound_with_lengths
        No schedule with this limit costs less if its dispatches last as long as recorded, and where
        it is unknown when one was ready, it is ready when it certainly was.
    dispatches
        The number of dispatches, all managed.
    total_wait, p99_wait
        The sum of the waits of its dispatches, and their 99th percentile (nearest rank), in the
        trace's unit of time; None where it is unknown when they were ready.
    parallel_share
        The share of its run time that runs beside the same fragment on another CPU; None if there
        is no run time, or the row was read from an older file.
    switches
        The number of changes of fragment, without the first dispatches of CPUs; None if the row was
        read from an older file.
    with_switches
        What becomes of the schedule when its switches take time; None where the lengths of the
        trace's dispatches include switches or do not say so, costs are no times, or waits are
        unknown.
    schedule
        The schedule itself; None if the row was read from a file.
    proofs
        Proofs of ``bound`` and ``bound_with_lengths`` where there are any.
    """

    DERIVED = ("mean_wait", "is_optimal")
    UNWRITTEN = UNSHOWN = ("schedule", "proofs")

    scheduling: Scheduling
    wait: Natural | None = None
    patience: Natural | None = None
    cost: Natural
    bound: Natural | None = None
    bound_with_lengths: Natural | None = None
    dispatches: Natural
    total_wait: Natural | None
    p99_wait: Natural | None
    parallel_share: Share | None = None
    switches: Natural | None = None
    with_switches: WithSwitches | None = None
    schedule: Dispatches | None = None
    proofs: tuple[WaitingProof, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Whether the figures are the same; schedules and proofs do not count."""
        return isinstance(other, FrontierRow) and document_of(self) == document_of(other)

    def __hash__(self) -> int:
        """Return a number that is the same for rows with the same figures."""
        return hash((self.scheduling, self.wait, self.patience, self.cost))

    def limit(self, unit: str | None) -> str:
        """Return the longest wait that is permitted, or the patience; empty without such a time."""
        wait = self.wait if self.scheduling is Scheduling.LONGEST_WAIT else self.patience
        return "" if wait is None else readable_time(wait, unit)

    def name(self, unit: str | None) -> str:
        """Return what the row is called; ``unit`` is that of its times."""
        return f"{self.scheduling} {self.limit(unit)}".rstrip()

    @property
    def mean_wait(self) -> NonNegative | None:
        """Return the mean wait of a dispatch."""
        return None if self.total_wait is None else self.total_wait / self.dispatches

    @property
    def is_optimal(self) -> bool:
        """Return whether no schedule with this limit is cheaper, with lengths as recorded."""
        return self.cost == self.bound_with_lengths


class WaitingFrontier(DocumentPart, omit_defaults=False):
    """Costs against waiting for one trace: what was paid, and what was attainable.

    Parameters
    ----------
    rows
        One for each limit; the recorded run is the first.
    patience
        The online rule for a range of patience, the least first.
    left_out
        Why usual rows are left out; None if they are there.
    unknown
        The number of dispatches of which it is unknown when they were ready.
    kept
        The number of dispatches that have a fragment and keep CPU and time in every schedule,
        because they are of threads of the kernel that run on one CPU only.
    warnings
        What a user needs to know before trusting the waits, a line each.
    is_complete
        Whether no row was left out because of an interrupt.
    """

    rows: tuple[FrontierRow, ...]
    patience: tuple[FrontierRow, ...] = ()
    left_out: str | None = None
    unknown: Natural = 0
    kept: Natural = 0
    warnings: tuple[str, ...] = ()
    is_complete: bool = field(name="complete", default=True)
