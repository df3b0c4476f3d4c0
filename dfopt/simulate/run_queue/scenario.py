"""A workload on a machine: everything that is simulated but the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dfopt.checks import check_integer
from dfopt.problem.penalties import Penalty
from dfopt.simulate.run_queue.costs import CacheSizes
from dfopt.simulate.run_queue.machine import Machine
from dfopt.simulate.run_queue.workload import WorkloadKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A workload on a machine.

    Parameters
    ----------
    name
        What it is called; the beginning of its files' names.
    workload
        The kind of workload with its parameters.
    machine
        CPUs and overheads.
    penalty
        What switches cost, and what traces are compared under; the types of a matrix are
        fragments of the workload.
    cold_start
        Whether the first fragment on a CPU is paid for.
    caches
        Caches of lines, which then say what a burst pays instead of the penalty.
    policies
        Parameters of policies that differ from their defaults, by the policy's name.
    time_unit
        The unit of all times.
    until
        When to stop, if threads still run then; None: never.
    description, source
        Labels.
    file
        Where it is from, for errors.
    """

    name: str
    workload: WorkloadKind
    machine: Machine
    penalty: Penalty
    cold_start: bool = True
    caches: CacheSizes | None = None
    policies: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    time_unit: str = "ns"
    until: int | None = None
    description: str | None = None
    source: str | None = None
    file: str = ""

    def __post_init__(self) -> None:
        if self.until is not None:
            check_integer(self.until, "until")
