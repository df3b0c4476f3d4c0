"""Tables of the parts of a comparison, with every figure of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dfopt.compare.comparison_parts import (
    Cause,
    CpuResult,
    FragmentResult,
    OrderKept,
    WindowResult,
    cost_ratio,
)
from dfopt.compare.domains.domain_pairs import DomainComparison
from dfopt.problem.cache_domains import cpu_ranges
from dfopt.table import Table, Uncertain, columns, table_of
from dfopt.trace.fragment_titles import title
from dfopt.trace.service import Service

MOST_CPUS = 16
"""Of more CPUs than that, those come first that paid most."""

WINDOWS = (
    "bound: no schedule costs less that runs the same dispatches in the same windows, and on no "
    "CPU more of them than is assumed; weak for short windows, since every CPU may begin each "
    "window with any fragment in its cache",
    "rolling: a real schedule of this kind that looks one window ahead; each window is the "
    "cheapest one after what the window before left in the caches",
    "balanced: the bound if no CPU may run more than an even share of a window; the trace may "
    "have done so",
    "ignored: dependences between tasks (a message is sent before it is received); the schedules "
    "of long windows may break them",
)
ORDER_KEPT = (
    "order kept: dispatches start in the recorded order, and only their CPUs are chosen; where "
    "the CPU is busy, a dispatch waits, and all later ones wait, too. A CPU may run any number, "
    "so the bounds of windows, which limit that, do not hold here",
    "online: no look-ahead: the CPU that holds the fragment, else the least recently used one",
)
DOMAINS = (
    "pairs: a fragment and a domain where it runs, window by window; n domains make n pairs",
    "least: no schedule of the same dispatches in the same windows has fewer pairs: each domain "
    "has its CPUs for as long as the window lasts; ratio: pairs / least",
    "arrivals: of fragments: one runs in another domain than before, or for the first time; "
    "bound: no such schedule has fewer",
    "crossings: of threads: one with a fragment runs in another domain than before. They have no "
    "bound, since data cross only where a fragment arrives",
)
SERVICE = (
    "latency: from woken up to running",
    "wait: the same, and from preempted to running, of dispatches with a known wake-up",
    "response: waits included, from woken up to asleep again, within the trace",
    "fairness: Jain's index of running / (running + waiting) by what is due to each task's weight",
)
"""What the tables mean, column by column."""

SERVED = "How tasks were served"
ORDER_FREE = "Order-free windows: even before a task was woken"

NO_RATIO = "–: no ratio: the bound is 0, so it says nothing"


def windows_table(windows: Sequence[WindowResult], unit: str) -> Table:
    """Return what was possible if the order within a window did not matter."""
    rows = [
        (
            *(window.window, window.count, window.realised, window.bound, window.ratio),
            *(window.rolling, window.rolling_ratio),
            Uncertain(window.balanced, is_bound=window.balanced_closed < window.count),
            window.difference,
            window.closed / window.count if window.count else None,
            *(window.closed, window.balanced_closed, window.rolling_closed),
        )
        for window in windows
    ]
    headings = (
        *("window", "count", f"realised [{unit}] :cost", f"bound [{unit}] :cost", "ratio :ratio"),
        *(f"rolling [{unit}] :cost", "rolling ratio :ratio", f"balanced [{unit}] :cost"),
        *(f"difference [{unit}] :cost", "proven :.1%", "closed", "balanced closed"),
        "rolling closed",
    )
    # If no window has a ratio, there is no such column.
    notes = [NO_RATIO] if len({window.ratio is None for window in windows}) > 1 else []
    return Table(ORDER_FREE, columns(*headings), rows, notes)


def order_kept_table(kept: OrderKept, paid: int, unit: str) -> Table:
    """Return what choosing CPUs alone would have saved, at best and without look-ahead."""
    found = [("best", kept.best, kept.bound), ("online", kept.online, None)]
    rows = [
        (name, cost, None if cost == bound else bound, "all saved" if ratio is None else ratio)
        for name, cost, bound in found
        if cost is not None
        for ratio in [cost_ratio(paid, cost)]
    ]
    headings = ("order kept", f"cost [{unit}] :cost", f"bound [{unit}] :cost", "ratio :ratio")
    return Table("Other CPUs, the same order", columns(*headings), rows)


def by_size(causes: Mapping[Cause, int]) -> list[tuple[Cause, int]]:
    """Return what was paid by cause, the largest first and write-backs last.

    A write-back follows from any change of fragment, so it says nothing about what happened.
    """
    found = [(cause, causes.get(cause, 0)) for cause in Cause]
    return sorted(found, key=lambda item: (item[0] is Cause.WRITE_BACK, -item[1]))


def main_cause(causes: Mapping[Cause, int]) -> tuple[Cause | None, int]:
    """Return what most was paid for, and what; write-backs only if there is nothing else."""
    return next((item for item in by_size(causes) if item[1]), (None, 0))


def causes_table(causes: Mapping[Cause, int], paid: int, unit: str) -> Table:
    """Return the cost of each cause, and what those mean that cost something."""
    found = by_size(causes)
    rows = [(cause, cost, cost / paid if paid else None) for cause, cost in found]
    notes = [f"{cause}: {cause.meaning}" for cause, cost in found if cost]
    headings = columns("cause", f"cost [{unit}] :cost", "share :.1%")
    return Table("What it was lost to", headings, rows, notes)


def fragments_table(
    fragments: Sequence[FragmentResult], paid: int, cost_unit: str, time_unit: str | None
) -> Table:
    """Return who used each fragment, and what was paid for it."""
    first = {"df": "df", "name": "name", "dispatches": "dispatches", "tasks": "tasks"}
    table = _paid(fragments, {**first, "cpus": "CPUs"}, paid, cost_unit, time_unit)
    return table.after("fragment", [title(one.df, one.name, one.comms) for one in fragments])


def cpus_table(
    cpus: Sequence[CpuResult], paid: int, cost_unit: str, time_unit: str | None
) -> Table:
    """Return what each CPU did and paid."""
    if len(cpus) > MOST_CPUS:
        cpus = sorted(cpus, key=lambda found: (-found.cost, found.cpu))
    first = {"cpu": "CPU", "dispatches": "dispatches", "managed": "managed"}
    return _paid(cpus, {**first, "fragments": "fragments"}, paid, cost_unit, time_unit)


def _paid(
    parts: Sequence[FragmentResult | CpuResult],
    first: Mapping[str, str],
    paid: int,
    cost_unit: str,
    time_unit: str | None,
) -> Table:
    shown = {
        "run_time": f"run time [{time_unit or ''}] :time",
        "switches": "switches",
        "cost": f"cost [{cost_unit}] :cost",
    }
    table = table_of("", parts, {**first, **shown})
    rows = [
        (*row, one.cost / paid if paid else None, getattr(main_cause(one.causes)[0], "short", None))
        for row, one in zip(table.rows, parts, strict=True)
    ]
    return Table("", (*table.columns, *columns("share :.1%", "mainly")), rows)


def domains_table(domains: DomainComparison) -> Table:
    """Return in how many domains fragments ran, and in how few they fit."""
    rows = [
        (
            *(window.window, window.count, window.pairs),
            Uncertain(window.bound, is_bound=window.proven < window.count),
            *(window.ratio, domains.arrivals, window.arrivals_bound, domains.far_migrations),
        )
        for window in domains.windows
    ]
    headings = (
        *("window", "count", "pairs", "least", "ratio :ratio", "arrivals", "bound"),
        "crossings",
    )
    where = "; ".join(map(cpu_ranges, domains.domains))
    return Table(f"Cache domains: CPUs {where}", columns(*headings), rows)


def service_table(service: Service, unit: str | None) -> Table:
    """Return for how long tasks waited, and how long it took to serve them."""
    latency, response = service.wakeup_latency, service.response
    # Kernel traces end amid bursts, and who sleeps is not always done: only --json has theirs.
    if latency is None or response is None or response.count != latency.count:
        response = None
    found = {"latency": latency, "wait": service.wait, "response": response}
    times = (f"{name} [{unit or ''}] :time" for name in ("mean", "p50", "p99", "longest"))
    rows = [
        (name, times.count, times.mean, times.p50, times.p99, times.longest)
        for name, times in found.items()
        if times is not None
    ]
    return Table(SERVED, columns("time", "count", *times), rows)
