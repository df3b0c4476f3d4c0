"""What comes of comparing a trace with the best possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dfopt.compare.cost_model import CostModel
from dfopt.trace import Quality


class Cause(StrEnum):
    """Why a charge was made; every charge has exactly one cause.

    What a dispatch pays for reading its fragment is put down to the latest earlier dispatch of
    the same fragment, on whatever CPU; what is paid for writing back is a cause of its own. So is
    what is paid under a matrix for following one's own type; what is paid for following another
    one, or nothing, is put down like a reading.
    """

    FIRST_LOAD = "first load"
    """Nobody used the fragment before."""

    REVISITED = "fragment revisited"
    """It was last used on this CPU, and another fragment came between."""

    SPLIT = "fragment split over CPUs"
    """It was last used on another CPU, while this task stayed on its own."""

    MIGRATION = "migration"
    """It was last used on another CPU, and this task comes from another CPU too."""

    UNMANAGED = "unmanaged task"
    """It is no managed task's: an unmanaged one evicts what it finds."""

    WRITE_BACK = "write-back forced"
    """A fragment that was not left clean is written back; under a matrix, what ends a CPU's work
    costs."""

    SAME_TYPE = "same type again"
    """Under a matrix: one of the same type ran before on this CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Realised:
    """What the switches of a trace cost.

    Parameters
    ----------
    total, worst
        The cost of all CPUs together, and of the one that pays most, in the model's unit.
    switches
        How many times a CPU went from one fragment to another.
    """

    total: int
    worst: int
    switches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult:
    """A trace against the best possible, when one may look so far ahead.

    Parameters
    ----------
    window
        The length: a number of dispatches, a time such as ``10ms``, or ``whole``.
    count
        How many windows there are.
    realised
        What the trace paid, on the chosen objective.
    bound
        No schedule that runs the same dispatches in the same windows pays less.
    rolling
        What a real schedule pays whose every window is the best from what the one before left in
        the caches.
    balanced
        Like ``bound``, if no CPU may run more than an even share of a window's dispatches. The
        trace need not keep to that, so it may have paid less.
    closed
        In how many windows ``bound`` is attained by a schedule, if the CPUs could begin as they
        like.
    balanced_closed
        The same for ``balanced``; where it is not all of them, the balanced optimum may be higher.
    rolling_closed
        In how many windows the rolling schedule is proven to be the best from where it began.
    """

    window: str
    count: int
    realised: int
    bound: int
    rolling: int
    balanced: int
    closed: int
    balanced_closed: int
    rolling_closed: int

    @property
    def ratio(self) -> float | None:
        """Return realised / bound: 1 if both are 0, None if only the bound is 0."""
        if self.bound:
            return self.realised / self.bound
        return None if self.realised else 1.0

    @property
    def rolling_ratio(self) -> float | None:
        """Return realised / rolling: 1 if both are 0, None if only the latter is 0."""
        if self.rolling:
            return self.realised / self.rolling
        return None if self.realised else 1.0

    @property
    def difference(self) -> int:
        """Return realised − bound."""
        return self.realised - self.bound


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentResult:
    """What one fragment did and paid: its reads, and its own write-backs.

    Parameters
    ----------
    df
        The fragment.
    dispatches, tasks, cpus
        How many dispatches and tasks used it, and on how many CPUs.
    run_time
        Of its dispatches, in the trace's unit.
    switches
        How many times a CPU went to it from another one.
    cost
        What was paid for it.
    causes
        The same by cause.
    """

    df: str
    dispatches: int
    tasks: int
    cpus: int
    run_time: int
    switches: int
    cost: int
    causes: dict[Cause, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuResult:
    """What one CPU did and paid; see :class:`FragmentResult`."""

    cpu: int
    dispatches: int
    managed: int
    fragments: int
    run_time: int
    switches: int
    cost: int
    causes: dict[Cause, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A trace against the best possible.

    Parameters
    ----------
    name
        Of the trace.
    model
        The costs under which it was compared.
    cost_unit, time_unit
        The unit of costs, and that of the trace's times.
    dispatches, managed
        How many dispatches the trace has, and how many of them have a fragment.
    realised
        What the trace paid.
    windows
        The best possible, one for each length of window that was asked for.
    causes
        What the trace paid by cause; adds up to ``realised.total``.
    fragments, cpus
        The same by fragment, the one that cost most first, and by CPU.
    unlabelled_share
        Share of the run time without a fragment.
    quality
        How far the trace can be trusted.
    is_complete
        Whether no length of window was left out because of an interrupt.
    policy
        The scheduler, if the trace names it.
    """

    name: str
    model: CostModel
    cost_unit: str
    time_unit: str | None
    dispatches: int
    managed: int
    realised: Realised
    windows: tuple[WindowResult, ...]
    causes: dict[Cause, int]
    fragments: tuple[FragmentResult, ...]
    cpus: tuple[CpuResult, ...]
    unlabelled_share: float
    quality: Quality
    is_complete: bool = True
    policy: str | None = None


def policies_of(comparisons: Sequence[Comparison]) -> list[str] | None:
    """Return the policies of comparisons; None unless all have one, and each another one."""
    policies = [one.policy for one in comparisons if one.policy is not None]
    return policies if len(set(policies)) == len(comparisons) else None
