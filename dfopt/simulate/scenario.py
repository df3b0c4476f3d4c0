"""A scenario: all that is simulated apart from the policy, with the costs of switches."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, field

from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import CacheDomains, cache_domains, cpus_of
from dfopt.problem.instance import CpuCount
from dfopt.problem.penalties import Penalty, PenaltyMatrix
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.workload import ThreadSetting
from dfopt.structs import Checked, DocumentPart, Natural, replace
from dfopt.type_reader import reader

USUAL_UNIT = "ns"
"""The unit of times where a scenario does not say it."""


class LockDistribution(StrEnum):
    """How the times vary for which locks of run queues are held."""

    CONSTANT = "constant"
    EXPONENTIAL = "exponential"


class DomainRow(DocumentPart):
    """CPUs that share a last-level cache.

    Parameters
    ----------
    cpus
        Their numbers, or a list of ranges such as ``0-3,8``.
    name
        What the domain is called, for people.
    """

    cpus: tuple[Natural, ...] | str
    name: str | None = None


DomainRows = tuple[DomainRow, ...]


def _domains(value: Any) -> CacheDomains:
    """Return the domains that a document writes as a text or as tables."""
    if isinstance(value, CacheDomains):
        return value
    if isinstance(value, str):
        return cache_domains(value)
    rows: DomainRows = reader(DomainRows)(value)
    cpus = (cpus_of(row.cpus) if isinstance(row.cpus, str) else row.cpus for row in rows)
    return CacheDomains(tuple(cpus))


class Machine(Checked):
    """CPUs, and the time that the scheduler itself takes.

    Parameters
    ----------
    cpus
        Number of CPUs.
    switch_time
        Time that a switch to another thread takes before the dispatch, in the simulation's unit.
    lock_time
        The time for which an operation on a run queue holds its lock; 0: locks are always free.
    lock_distribution
        How that time varies; ``lock_time`` is its mean.
    lock_doubling
        With this number of CPUs spinning on it a lock is held for twice as long, and in
        proportion with others; 0: those who spin slow nobody down.
    wake_time
        Time from when an idle CPU is called until it asks the policy for a thread.
    call_time
        Time that a CPU takes to call idle CPUs, all those together that it calls at once.
    interrupt_time
        Time that a CPU takes to serve an interrupt, apart from what the policy asks for.
    domains
        The CPUs that share a last-level cache; None: all CPUs are alike.
    near_read_line
        Under f: time to read a line that another CPU of the domain holds; None: as any other.
    near_fill
        Under g: time to fill the cache with what another CPU of the domain holds; None: as with
        anything else.
    """

    cpus: CpuCount
    switch_time: Natural = 0
    lock_time: Natural = 0
    lock_distribution: LockDistribution = LockDistribution.CONSTANT
    lock_doubling: Natural = 0
    wake_time: Natural = 0
    call_time: Natural = 0
    interrupt_time: Natural = 0
    domains: Annotated[
        CacheDomains | None,
        Meta(
            extra={"reader": _domains},
            extra_json_schema={
                "replaced_by": {
                    "anyOf": [
                        {"type": "string"},
                        {"type": "array", "items": {"$ref": "#/$defs/DomainRow"}},
                    ]
                }
            },
        ),
    ] = None
    near_read_line: Natural | None = None
    near_fill: Natural | None = None

    @property
    def known_domains(self) -> CacheDomains:
        """The cache domains; where none are given, all CPUs are one."""
        return self.domains or CacheDomains((tuple(range(self.cpus)),))

    def __post_init__(self) -> None:
        """Check that domains and what is near fit together."""
        super().__post_init__()
        if self.domains is not None:
            self.domains.check_cpus(self.cpus)
        for place in ("near_read_line", "near_fill"):
            near = getattr(self, place)
            if near is not None and self.domains is None:
                raise InstanceError(
                    "needs to know which CPUs are near each other; give domains", place=place
                )


class ScenarioValues(Checked):
    """What a scenario and the document that describes it have in common.

    Parameters
    ----------
    name
        Its name; by default that of its file.
    machine
        CPUs, and the time that the scheduler itself takes.
    penalty
        What a CPU pays to go from one fragment to the next.
    cold_start
        Whether the first fragment on a CPU is paid for.
    caches
        Caches of lines. With them a burst pays for lines that it misses instead of the penalty.
    threads
        Values of its threads that replace those of the workload, one after the other.
    policies
        Parameters of policies that differ from their defaults, by the policy's name.
    time_unit
        The unit of all times.
    until
        When to stop, if threads still run then.
    description, source
        Labels.
    """

    name: str | None = None
    time_unit: str = USUAL_UNIT
    until: Natural | None = None
    cold_start: bool = True
    description: str | None = None
    source: str | None = None
    machine: Machine
    penalty: Penalty
    caches: CacheSizes | None = None
    threads: tuple[ThreadSetting, ...] = field(name="thread", default=())
    policies: dict[str, dict[str, Any]] = field(name="policy", default_factory=dict)


class Scenario(ScenarioValues):
    """A workload on a machine.

    The names of its files begin with its own. The penalty counts in the simulation, and when its
    traces are compared; the types of a matrix are fragments of the workload.

    Parameters
    ----------
    workload
        The kind of workload with its parameters.
    file
        The file that it was read from, for errors.
    """

    name: str
    workload: Any
    file: str = ""

    def __post_init__(self) -> None:
        """Check that the costs of distances mean something."""
        super().__post_init__()
        self._check_distances()

    @property
    def near(self) -> tuple[CacheDomains, Penalty] | None:
        """Which CPUs are near each other, and the penalty there; None: distances do not count."""
        machine = self.machine
        costs = {"read_line": machine.near_read_line, "fill": machine.near_fill}
        given = {name: cost for name, cost in costs.items() if cost is not None}
        if machine.domains is None or not given:
            return None
        return machine.domains, replace(self.penalty, **given)

    def _check_distances(self) -> None:
        penalty, machine = self.penalty, self.machine
        for name, near, far in (
            ("near_read_line", machine.near_read_line, "read_line"),
            ("near_fill", machine.near_fill, "fill"),
        ):
            if near is None:
                continue
            place = f"machine.{name}"
            if self.caches is not None:
                raise InstanceError(
                    "means nothing where caches of lines say what a burst pays; remove it",
                    place=place,
                )
            if not hasattr(penalty, far):
                is_matrix = isinstance(penalty, PenaltyMatrix)
                why = "has a matrix, which knows no distances" if is_matrix else f"has no {far}"
                raise InstanceError(
                    f"means nothing to a penalty that {why}; remove it or change the penalty",
                    place=place,
                )
            if near > getattr(penalty, far):
                raise InstanceError(
                    f"is {near}, more than the penalty's {far}; what is near costs at most as much",
                    place=place,
                )
        if self.caches is not None and self.caches.far_hit is not None and machine.domains is None:
            raise InstanceError(
                "needs to know which CPUs share a cache; give machine.domains",
                place="caches.far_hit",
            )
