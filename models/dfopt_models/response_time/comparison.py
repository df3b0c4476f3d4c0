"""A policy beside the baseline, for one job, and how both move when what is known of them moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dfopt.structs import replace
from dfopt_models.response_time.parameters import (
    Case,
    Measured,
    PenaltyTable,
    Range,
    penalties_at,
    penalties_of_policy,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyComparison:
    """A policy and the baseline it is measured against, for one job.

    Parameters
    ----------
    job, policy
        Their names.
    case, baseline
        The job under this policy and under the baseline.
    ranges, baseline_ranges
        What is not known exactly: parameters by the names that :class:`.Case` has for them, or
        measurements by those of :class:`.Measured`. Parameters that both cases share are in
        ``ranges`` alone.
    measured, baseline_measured
        The measurements that the cases follow from, where they do.
    penalties
        The penalties by quantum; None where they are the same for every policy.
    own_work
        Whether the baseline does whatever work the policy does.
    replications
        Pairs of the policy and the baseline, one for each replication of an experiment.
    """

    job: str
    policy: str
    case: Case
    baseline: Case
    ranges: Mapping[str, Range] = field(default_factory=dict)
    baseline_ranges: Mapping[str, Range] = field(default_factory=dict)
    measured: Measured | None = None
    baseline_measured: Measured | None = None
    penalties: PenaltyTable | None = None
    own_work: bool = False
    replications: tuple[tuple[Case, Case], ...] = ()

    @property
    def has_ranges(self) -> bool:
        """Whether anything is not known exactly."""
        return bool(self.ranges or self.baseline_ranges or self.replications)

    def with_values(
        self,
        common: Mapping[str, float],
        own: Mapping[str, float],
        theirs: Mapping[str, float],
    ) -> PolicyComparison:
        """Return the comparison with other values of what is not known exactly.

        Parameters
        ----------
        common
            Parameters that both cases share.
        own, theirs
            Parameters or measurements of the policy, and of the baseline.
        """
        case = self._moved(self.case, self.measured, common, own)
        baseline = self._moved(self.baseline, self.baseline_measured, common, theirs)
        if self.own_work:
            baseline = replace(baseline, work=case.work)
        return replace(self, case=case, baseline=baseline)

    def _moved(
        self,
        case: Case,
        measured: Measured | None,
        common: Mapping[str, float],
        values: Mapping[str, float],
    ) -> Case:
        if measured is None:
            moved = replace(case, **common, **values)
            if self.penalties is None:
                return moved
            with_affinity, without = penalties_of_policy(
                self.penalties,
                processor_seconds=moved.work + moved.waste,
                reallocations=moved.reallocations,
                affinity=moved.affinity,
                reallocation_time=moved.reallocation_time,
            )
            return replace(moved, penalty_affinity=with_affinity, penalty_no_affinity=without)
        measured = replace(measured, **values)
        shared = {
            "reallocation_time": case.reallocation_time,
            "penalty_affinity": case.penalty_affinity,
            "penalty_no_affinity": case.penalty_no_affinity,
        }
        if self.penalties is not None:
            at_interval = penalties_at(self.penalties, measured.interval)
            shared["penalty_affinity"], shared["penalty_no_affinity"] = at_interval
        return measured.case(**(shared | dict(common)))
