"""Simulations for the page on cache domains: what is run, on which machine, and what comes out."""

import shlex
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from dfopt import replace
from dfopt.compare import WHOLE, CostModel, compare_trace
from dfopt.compare.cost_model_choice import ModelChoice, with_dispatch_costs
from dfopt.problem.cache_domains import CacheDomains, cache_domains
from dfopt.simulate import POLICIES, Scenario, read_scenario, scenario_of_trace
from dfopt.simulate.caches import penalty_caches
from dfopt.simulate.simulation import run_of, simulate_once
from dfopt.simulate.workload import Burst
from dfopt.trace import Trace, read_trace
from dfopt.trace.labels import keep_only, labelled

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDINGS = ("hackbench-4", "hackbench-16")
CHAT = "chat"
MILLISECOND, SECOND = 1e6, 1e9

READ_LINE, WRITE_BACK, LINES = 100, 5_000, 64
"""What a change costs in recordings, in ns: every line that is read, and what is written back."""

QUARTER, HALF = 4, 2
"""By what the time of a line is divided if another CPU of the domain holds it."""

SLICES = {2: 1_500_000, 4: 2_250_000, 8: 3_000_000}
"""EEVDF's time slice in Linux, by the number of CPUs: 0.75 ms times 1 + log2 of it."""

SWITCH_TIMES = (1_000, 1_500, 2_000, 2_500, 3_000)
"""Times of a switch, by which the runs of a recording differ."""

Settings = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Variant:
    """A policy with parameters."""

    label: str
    policy: str
    settings: Settings = ()


EEVDF = Variant("eevdf", "eevdf")
CACHE_AWARE = Variant("cache-aware, processes", "cache-aware")
BY_FRAGMENT = Variant("cache-aware, fragments", "cache-aware", (("group", "fragment"),))
RUSTY = Variant("scx-rusty", "scx-rusty")
LINUX_O1 = Variant("linux-o1", "linux-o1")
DATA_AFFINITY = Variant("data-affinity", "data-affinity")
PATIENCE = Variant("patience", "patience")

VARIANTS = (EEVDF, CACHE_AWARE, BY_FRAGMENT, RUSTY, LINUX_O1, DATA_AFFINITY, PATIENCE)


@dataclass(frozen=True)
class Case:
    """A workload on a machine, several times.

    Parameters
    ----------
    workload
        A recording, or the chat.
    domains
        The CPUs that share a cache, as on the command line.
    nearer
        By what the time of a line is divided if another CPU of the domain holds it.
    read_line
        The time of any other line.
    settings
        Of the workload.
    varied, values
        The parameter by which runs differ, and its values.
    has_linux_slice
        Whether EEVDF has Linux's time slice for this number of CPUs; else it has its default.
    """

    workload: str
    domains: str
    nearer: int = QUARTER
    read_line: int = READ_LINE
    settings: Settings = ()
    varied: str = "machine.switch_time"
    values: tuple[int, ...] = SWITCH_TIMES
    has_linux_slice: bool = True

    @property
    def is_recording(self) -> bool:
        """Whether the workload is a recorded trace."""
        return self.workload in RECORDINGS

    @property
    def topology(self) -> CacheDomains:
        """The domains."""
        return cache_domains(self.domains)

    @property
    def near(self) -> int:
        """The time of a line that another CPU of the domain holds."""
        return self.read_line // self.nearer

    @property
    def has_near(self) -> bool:
        """Whether some CPU has another one in its domain."""
        return any(len(cpus) > 1 for cpus in self.topology.members)

    @property
    def has_one_domain(self) -> bool:
        """Whether all CPUs share a cache."""
        return len(self.topology.members) == 1

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The policies that fit."""
        unfit = (CACHE_AWARE, BY_FRAGMENT) if self.has_one_domain else ()
        return tuple(variant for variant in VARIANTS if variant not in unfit)

    def changed(self, variant: Variant, value: int) -> dict[str, object]:
        """Return the settings of a run, by their names on the command line."""
        found = dict(self.settings)
        if not self.is_recording:
            found["machine.cpus"] = self.topology.cpus
            found["penalty.read_line"] = self.read_line
        found[self.varied] = value
        if self.has_near:
            found["machine.near_read_line"] = self.near
        parameters = dict(variant.settings)
        if self.has_linux_slice and variant.policy in ("eevdf", "cache-aware"):
            parameters["time_slice"] = SLICES[self.topology.cpus]
        return found | {f"policy.{variant.policy}.{key}": one for key, one in parameters.items()}

    def scenario(self, variant: Variant, value: int) -> Scenario:
        """Return the scenario of a run."""
        settings = self.changed(variant, value) | {"machine.domains": self.topology}
        if self.is_recording:
            return scenario_of_trace(recording(self.workload, self.read_line), settings)
        return read_scenario(self.workload, settings)

    def command(self, *variants: Variant) -> str:
        """Return the command that simulates the first run of some policies."""
        words = ["dfopt", "simulate", "run-queue"]
        if self.is_recording:
            words += [f"{self.workload}.txt.gz", "--df", "wakeups", "--only", "sched-messaging"]
            words += ["--read-line", str(self.read_line), "--write-back", str(WRITE_BACK)]
            words += ["--lines", str(LINES)]
        else:
            words += [self.workload]
        words += ["--domains", self.domains]
        settings: dict[str, object] = {}
        for variant in variants:
            words += ["--policy", variant.policy]
            settings |= self.changed(variant, self.values[0])
        for key, value in settings.items():
            words += ["--set", f"{key}={value}"]
        return shlex.join(words)


@lru_cache(maxsize=4)
def recording(name: str, read_line: int = READ_LINE) -> Trace:
    """Return a recorded trace with inferred fragments, and what its switches cost."""
    trace = labelled(read_trace(EXAMPLES / f"{name}.txt.gz"), "wakeups").trace
    trace = keep_only(trace, "sched-messaging")
    choice = ModelChoice(read_line=read_line, write_back=WRITE_BACK, lines=LINES)
    return with_dispatch_costs(trace, choice)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a run shows; times are in milliseconds.

    Parameters
    ----------
    changes
        Of fragment, on all CPUs.
    arrivals
        How many times a fragment ran in another domain than before, or for the first time.
    penalty, share
        What changes cost, and its share of the CPUs' time until the end.
    p50, p99
        Of the time from a wake-up until the thread runs.
    waited
        By all threads together, from ready to running; in seconds.
    fairness
        Jain's index.
    end
        When the last thread ended.
    least_changes, least_arrivals
        No schedule of the same dispatches has less.
    at_the_end
        The share of the changes that are in the last third of the time and go from one fragment
        of a room to the other one.
    """

    changes: int
    arrivals: int
    penalty: float
    share: float
    p50: float
    p99: float
    waited: float
    fairness: float
    end: float
    least_changes: int | None = None
    least_arrivals: int | None = None
    at_the_end: float = 0.0


Run = tuple[Case, Variant, int]


def figures_of(run: Run) -> Figures:
    """Simulate once. What is proven is looked for in the first run alone."""
    case, variant, value = run
    scenario = case.scenario(variant, value)
    done = simulate_once(scenario, POLICIES[variant.policy], seed=0, refuses_unfit=True)
    found = run_of(done, scenario=scenario.name, seed=0)
    return traced(
        done.trace,
        case,
        penalty=found.penalty.total,
        end=found.end,
        proves=value == case.values[0],
    )


def recorded_figures(case: Case) -> Figures:
    """Return the figures of the recording itself, where this machine pays for its switches."""
    trace = recording(case.workload, case.read_line)
    penalty = trace.header.penalty
    caches = penalty_caches(
        penalty,
        trace.fragments,
        trace.cpus,
        cold_start=bool(trace.header.cold_start),
        near=(case.topology, replace(penalty, read_line=case.near)) if case.has_near else None,
    )
    columns = (trace.cpu, trace.fragment, trace.lines, trace.leaves)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    paid = sum(
        caches[cpu].enter(Burst(1, fragment, max(0, lines), max(0, leaves)))
        for cpu, fragment, lines, leaves in rows
    )
    end = int(trace.end.max() - trace.start.min())
    return traced(trace, case, penalty=paid, end=end, proves=True)


def traced(trace: Trace, case: Case, *, penalty: int, end: int, proves: bool) -> Figures:
    """Return the figures of a trace, recorded or simulated."""
    compared = compare_trace(
        trace,
        CostModel(),
        windows=(WHOLE,) if proves else (),
        domains=case.topology,
        workers=1,
        waits=None,
    )
    service = compared.service
    changes = changes_of(trace)
    late = changes.time > trace.start.min() + 2 * (trace.end.max() - trace.start.min()) / 3
    in_a_room = changes.before // 2 == changes.after // 2
    figures = Figures(
        changes=len(changes.time),
        arrivals=compared.domains.arrivals,
        penalty=penalty / MILLISECOND,
        share=penalty / (trace.cpus * end),
        p50=service.wakeup_latency.p50 / MILLISECOND,
        p99=service.wakeup_latency.p99 / MILLISECOND,
        waited=service.wait.mean * service.wait.count / SECOND,
        fairness=service.fairness,
        end=end / MILLISECOND,
        at_the_end=float((late & in_a_room).mean()) if len(late) else 0.0,
    )
    if not proves:
        return figures
    # The first fragment of a CPU is free here, so changes are what is counted.
    return replace(
        figures,
        least_changes=int(compared.windows[0].bound),
        least_arrivals=compared.domains.windows[0].arrivals_bound,
    )


@dataclass(frozen=True)
class Changes:
    """The changes of fragment on all CPUs: when, from which fragment, and to which."""

    time: np.ndarray
    before: np.ndarray
    after: np.ndarray


def changes_of(trace: Trace) -> Changes:
    """Return the changes of a trace."""
    rows = np.flatnonzero(trace.fragment >= 0)
    rows = rows[np.argsort(trace.cpu[rows], kind="stable")]
    cpu, fragment = trace.cpu[rows], trace.fragment[rows]
    differ = (cpu[1:] == cpu[:-1]) & (fragment[1:] != fragment[:-1])
    return Changes(trace.start[rows[1:]][differ], fragment[:-1][differ], fragment[1:][differ])


class Results:
    """The figures of many runs, by default done by all processors there are."""

    def __init__(
        self, cases: Iterable[tuple[Case, Sequence[Variant]]], processes: int | None = None
    ) -> None:
        runs = list(
            dict.fromkeys(
                run for case, variants in cases for run in product((case,), variants, case.values)
            )
        )
        if processes == 1:
            self._found = {run: figures_of(run) for run in runs}
            return
        with ProcessPoolExecutor(processes) as pool:
            self._found = dict(zip(runs, pool.map(figures_of, runs), strict=True))

    def of(self, case: Case, variant: Variant) -> list[Figures]:
        """Return the figures of all runs."""
        return [self._found[case, variant, value] for value in case.values]

    def values(self, case: Case, variant: Variant, name: str) -> list[float]:
        """Return a figure of all runs."""
        return [getattr(figures, name) for figures in self.of(case, variant)]
