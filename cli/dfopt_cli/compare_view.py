"""The view of a comparison: tables, from the trace and its costs to where they were lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from dfopt.compare.compare_schedules import SchedulesComparison
from dfopt.compare.comparison import (
    Cause,
    Comparison,
    CpuResult,
    FragmentResult,
    WindowResult,
    cost_ratio,
)
from dfopt.compare.cost_model import CostModel
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.trace.fragment_titles import title
from dfopt_cli.domains_view import domains_tables
from dfopt_cli.frontier_view import frontier_tables
from dfopt_cli.printing import printable
from dfopt_cli.tables import counted, duration, pairs, plain_table, share, times

SHORT = {
    Cause.FIRST_LOAD: "first load",
    Cause.REVISITED: "revisited",
    Cause.SPLIT: "split",
    Cause.MIGRATION: "migration",
    Cause.UNMANAGED: "unmanaged",
    Cause.WRITE_BACK: "write-back",
    Cause.SAME_TYPE: "same type",
}
"""Short names of the causes, for narrow columns."""

MOST_FRAGMENTS = 10
MOST_CPUS = 16

EXPLANATION = {
    "bound": "no schedule that runs the same dispatches in the same windows costs less; weak "
    "for short windows, since every CPU may begin each window with any fragment in "
    "its cache",
    "rolling": "a real schedule that looks one window ahead; each window is the cheapest one "
    "after what the window before left in the caches",
    "balanced": "the bound if no CPU may run more than an even share of a window; the trace may "
    "have done so",
    "ignored": "dependences between tasks (a message is sent before it is received); the "
    "schedules of long windows may break them",
}

ORDER_KEPT = {
    "order kept": "dispatches start in the recorded order, and only their CPUs are chosen; where "
    "the CPU is busy, a dispatch waits, and all later ones wait, too",
    "online": "no look-ahead: the CPU that holds the fragment, else the least recently used one",
}

ORDER_FREE = "Order-free windows: as if a dispatch could run before its task was woken"
"""The heading of the windows where figures stand beside them that keep cause and effect."""


def report(comparison: Comparison) -> list[Table | Text]:
    """Return what a terminal shows of one trace, from top to bottom."""
    windows: list[Table | Text] = [windows_table(comparison), Text(""), explanation_table()]
    kept = order_kept_tables(comparison)
    in_domains = domains_tables([comparison.name], [comparison], "trace")
    losses: list[Table | Text] = [
        causes_table(comparison),
        Text(""),
        fragments_table(comparison),
        Text(""),
        cpus_table(comparison),
    ]
    subject: list[Table | Text] = [subject_table(comparison), Text("")]
    if comparison.frontier is None:
        return [*subject, *kept, *windows, Text(""), *in_domains, *losses]
    return [
        *subject,
        *frontier_tables(comparison),
        Text(""),
        *kept,
        *losses,
        Text(""),
        Text(ORDER_FREE),
        Text(""),
        *windows,
        *([Text(""), *in_domains[:-1]] if in_domains else []),
    ]


def subject_table(comparison: Comparison) -> Table:
    """Return what was compared, and what it paid."""
    return pairs(subject_rows(comparison))


def subject_rows(comparison: Comparison) -> dict[str, str]:
    """Return what was compared and what it paid, in words."""
    realised, model = comparison.realised, comparison.model
    managed = f"{comparison.managed:,} of {comparison.dispatches:,} managed"
    paid = f"{realised.total:,} in all, {realised.worst:,} on the most expensive CPU"
    if not model.counts_switches:
        paid += f"; {counted(realised.switches, 'switch')}"
    if comparison.unlabelled_share:
        managed += f"; {comparison.unlabelled_share:.1%} of the run time has no fragment"
    parallel = {}
    if comparison.parallel_share is not None:
        parallel["parallel"] = (
            f"{comparison.parallel_share:.1%} of the run time ran beside the same fragment on "
            "another CPU"
        )
    return {
        "trace": printable(comparison.name),
        "dispatches": managed,
        **parallel,
        "costs": costs(model),
        "objective": f"{model.objective}{unit_of(comparison)}",
        "assumed": assumptions(model),
        "realised": paid,
        **service_rows(comparison),
    }


def service_rows(comparison: Comparison) -> dict[str, str]:
    """Return how tasks were served, in words; nothing where a document does not say it."""
    service, unit = comparison.service, comparison.time_unit
    if service is None:
        return {}
    rows = {}
    latency, wait = service.wakeup_latency, service.wait
    if latency is not None:
        p50, p99, longest = (
            printable(duration(time, unit)) for time in (latency.p50, latency.p99, latency.longest)
        )
        found = counted(latency.count, "wake-up")
        rows["latency"] = f"p50 {p50}, p99 {p99}, longest {longest}, from {found} to running"
    if wait is not None:
        mean, p99 = (printable(duration(time, unit)) for time in (wait.mean, wait.p99))
        rows["waits"] = f"mean {mean}, p99 {p99}, from ready to running, preemptions included"
        if service.still_waiting:
            rows["waits"] += f"; {counted(service.still_waiting, 'task')} still waiting at the end"
    else:
        rows["waits"] = f"not known: {service.problem or 'no dispatch is known to have been ready'}"
    response = service.response
    # Kernel traces end amid bursts, and who sleeps is not always done: only --json has theirs.
    if response is not None and latency is not None and response.count == latency.count:
        times = (response.mean, response.p50, response.p99, response.longest)
        mean, p50, p99, longest = (printable(duration(time, unit)) for time in times)
        rows["response"] = f"mean {mean}, p50 {p50}, p99 {p99}, longest {longest}, waits included"
    if service.fairness is not None:
        index = f"Jain's index {service.fairness:.2f} of running / (running + waiting)"
        rows["fairness"] = f"{index} by what is due to each task's weight"
    rows["migrations"] = f"{service.migrations:,}"
    return rows


def unit_of(comparison: Comparison) -> str:
    """Return the unit of the costs, to stand behind the objective."""
    return f", in {printable(comparison.cost_unit)}" if comparison.cost_unit else ""


def costs(model: CostModel) -> str:
    """Return the switch costs in words."""
    penalty = model.penalty
    if isinstance(penalty, PenaltyMatrix):
        return f"matrix: by the types of two dispatches, {counted(len(penalty.types), 'type')}"
    if model.counts_switches:
        return "g: every change of fragment costs 1"
    if isinstance(penalty, PenaltyG):
        return f"g: fill {penalty.fill:,}, write_back {penalty.write_back:,} at every change"
    said = (
        "f: every change of fragment reads lines one by one: "
        f"read_line {penalty.read_line:,}, write_back {penalty.write_back:,}"
    )
    if model.lines is not None:
        most = ", or what the run time allows," if model.lines_by_run_time else ""
        said += f"; {model.lines:,} lines{most} where the trace does not say"
    return f"{said}; leaves {model.leaves} where it does not say"


def assumptions(model: CostModel) -> str:
    """Return the rest of the model in words."""
    capacity = {
        "observed": "no CPU runs more in a window than the trace's fullest one",
        "balanced": "no CPU runs more than an even share of a window",
        "unlimited": "a CPU may run any number of dispatches",
    }
    said = [
        capacity[model.capacity]
        if isinstance(model.capacity, str)
        else f"no CPU runs more than {counted(model.capacity, 'dispatch')} in a window"
    ]
    if model.cold_start:
        said.append("first loads cost")
    if model.final_write_back:
        said.append("the last write-back costs")
    if model.unmanaged == "evict":
        said.append("tasks without a fragment evict")
    if model.broken_chains == "cut":
        said.append("missing switches end a window")
    return "; ".join(said)


def balanced_cell(window: WindowResult) -> str:
    """Return the balanced optimum, or a bound of it where that is all that is known."""
    mark = "" if window.balanced_closed == window.count else "≥ "
    return f"{mark}{window.balanced:,}"


def windows_table(comparison: Comparison) -> Table:
    """Return one row a length of window; after an interrupt some are left out."""
    table = plain_table()
    table.add_column("window")
    rolling_first = shows_rolling_first([comparison])
    for heading in ("windows", *window_headings(rolling_first), "balanced", "proven"):
        table.add_column(heading, justify="right")
    for window in comparison.windows:
        table.add_row(
            printable(window.window),
            f"{window.count:,}",
            *window_cells(window, rolling_first),
            balanced_cell(window),
            share(window.closed, window.count),
        )
    if not comparison.is_complete:
        table.caption = "interrupted: other windows are left out"
        table.caption_justify = "left"
    return table


def order_kept_tables(comparison: Comparison) -> list[Table | Text]:
    """Return what choosing CPUs alone would have saved, at best and without look-ahead."""
    found = comparison.order_kept
    if found is None:
        return []
    rows = [("online", found.online, "")]
    if found.best is not None and found.bound is not None:
        unproven = "" if found.is_optimal else f" (bound {found.bound:,})"
        rows.insert(0, ("best", found.best, unproven))
    table = plain_table()
    table.add_column("order kept")
    for heading in ("cost", "ratio"):
        table.add_column(heading, justify="right")
    for name, cost, unproven in rows:
        ratio = cost_ratio(comparison.realised.total, cost)
        table.add_row(name, f"{cost:,}{unproven}", Text(times(ratio), style="bold"))
    return [table, Text(""), pairs(ORDER_KEPT, style="dim"), Text("")]


def explanation_table() -> Table:
    """Return what bound and rolling mean, and what both ignore."""
    return pairs(EXPLANATION, style="dim")


def causes_table(comparison: Comparison) -> Table:
    """Return the cost of each cause."""
    table = plain_table()
    table.add_column("lost to")
    table.add_column("cost", justify="right")
    table.add_column("share", justify="right")
    for cause, cost in (*by_size(comparison.causes), written_back(comparison.causes)):
        if cost:
            table.add_row(str(cause), f"{cost:,}", share(cost, comparison.realised.total))
    return table


def by_size(causes: Mapping[Cause, int]) -> list[tuple[Cause, int]]:
    """Return what happened with what was paid for it, the largest first; write-backs are apart.

    A write-back follows from any change of fragment, so it says nothing about what happened.
    """
    happened = [item for item in causes.items() if item[0] is not Cause.WRITE_BACK]
    return sorted(happened, key=lambda item: -item[1])


def written_back(causes: Mapping[Cause, int]) -> tuple[Cause, int]:
    """Return what was paid for write-backs."""
    return Cause.WRITE_BACK, causes.get(Cause.WRITE_BACK, 0)


def fragments_table(comparison: Comparison) -> Table:
    """Return the costliest fragments."""
    fragments = comparison.fragments
    table = plain_table()
    table.add_column(counted(len(fragments), "fragment"), overflow="fold")
    headings = ("dispatches", "tasks", "CPUs", *cost_headings(fragments))
    for heading in (*headings, "share"):
        table.add_column(heading, justify="right")
    table.add_column("mainly")
    for fragment in fragments[:MOST_FRAGMENTS]:
        table.add_row(
            printable(title(fragment.df, fragment.name, fragment.comms)),
            f"{fragment.dispatches:,}",
            f"{fragment.tasks:,}",
            str(fragment.cpus),
            *cost_cells([fragment], headings),
            share(fragment.cost, comparison.realised.total),
            main_cause(fragment.causes),
        )
    rest = fragments[MOST_FRAGMENTS:]
    if rest:
        cost = sum(fragment.cost for fragment in rest)
        table.add_row(
            f"and {len(rest)} more",
            f"{sum(fragment.dispatches for fragment in rest):,}",
            "",
            "",
            *cost_cells(rest, headings),
            share(cost, comparison.realised.total),
            "",
        )
    return table


def cpus_table(comparison: Comparison) -> Table:
    """Return what each CPU did and paid; of many CPUs the most expensive ones."""
    cpus = comparison.cpus
    shown: Sequence[CpuResult] = cpus
    if len(cpus) > MOST_CPUS:
        by_cost = sorted(cpus, key=lambda result: (-result.cost, result.cpu))
        shown = sorted(by_cost[:MOST_CPUS], key=lambda result: result.cpu)
    table = plain_table()
    table.add_column("CPU", justify="right")
    headings = ("dispatches", "managed", "fragments", *cost_headings(cpus))
    for heading in (*headings, "share"):
        table.add_column(heading, justify="right")
    table.add_column("mainly")
    for cpu in shown:
        table.add_row(
            str(cpu.cpu),
            f"{cpu.dispatches:,}",
            f"{cpu.managed:,}",
            f"{cpu.fragments:,}",
            *cost_cells([cpu], headings),
            share(cpu.cost, comparison.realised.total),
            main_cause(cpu.causes),
        )
    if len(cpus) > len(shown):
        rest = sum(cpu.cost for cpu in cpus) - sum(cpu.cost for cpu in shown)
        left = len(cpus) - len(shown)
        table.caption = f"and {left} more, which paid {rest:,} in all"
        table.caption_justify = "left"
    return table


def cost_headings(parts: Sequence[FragmentResult | CpuResult]) -> tuple[str, ...]:
    """Return the headings of switches and cost; one of them where each switch costs 1."""
    same = all(part.switches == part.cost for part in parts)
    return ("switches",) if same else ("switches", "cost")


def cost_cells(
    parts: Sequence[FragmentResult | CpuResult], headings: Sequence[str]
) -> Iterator[str]:
    """Yield how many switches some parts had, and what they paid where that has a heading."""
    yield f"{sum(part.switches for part in parts):,}"
    if "cost" in headings:
        yield f"{sum(part.cost for part in parts):,}"


def shows_rolling_first(comparisons: Sequence[Comparison]) -> bool:
    """Return whether some bound is 0, so that the ratio to it says nothing.

    Windows that are short beside the number of CPUs are like this. The rolling schedule is the
    first thing to look at then.
    """
    return any(window.ratio is None for found in comparisons for window in found.windows)


def window_headings(rolling_first: bool) -> list[str]:
    """Return the headings of :func:`window_cells`."""
    names = ("rolling", "bound") if rolling_first else ("bound", "rolling")
    return [heading for name in names for heading in (name, "ratio")]


def window_cells(window: WindowResult, rolling_first: bool) -> list[str | Text]:
    """Return bound and rolling cost, each with the ratio of what was paid to it."""
    bound: list[str | Text] = [f"{window.bound:,}", Text(times(window.ratio), style="bold")]
    rolling: list[str | Text] = [
        f"{window.rolling:,}",
        Text(times(window.rolling_ratio), style="bold"),
    ]
    return [*rolling, *bound] if rolling_first else [*bound, *rolling]


def main_cause(causes: Mapping[Cause, int], total: int | None = None) -> str:
    """Return what most was paid for, with its share of all costs if ``total`` is given.

    Write-backs are named only if nothing else was paid for.
    """
    cause, cost = by_size(causes)[0]
    if not cost:
        cause, cost = written_back(causes)
    if not cost:
        return ""
    return SHORT[cause] if total is None else f"{SHORT[cause]} {share(cost, total)}"


def schedules_tables(compared: SchedulesComparison) -> list[Table | Text]:
    """Return what a terminal shows, from top to bottom."""
    instance = compared.instance
    unit = f", in {printable(instance.time_unit)}" if instance.time_unit else ""
    if compared.is_proven:
        optimum = f"{compared.best:,}, proven"
    else:
        optimum = f"between {compared.lower_bound:,} (proven) and {compared.best:,} (found)"
    table = plain_table()
    table.add_column("schedule", overflow="fold")
    for heading in ("cost", "ratio", "difference", "most expensive\nCPU", "all CPUs"):
        table.add_column(heading, justify="right")
    table.add_column("method")
    for schedule in compared.schedules:
        table.add_row(
            printable(schedule.name),
            f"{schedule.objective:,}",
            Text(times(compared.ratio(schedule)), style="bold"),
            f"{schedule.objective - compared.lower_bound:,}",
            f"{schedule.worst:,}",
            f"{schedule.total:,}",
            printable(schedule.method) if schedule.method else "",
        )
    subject = pairs(
        {
            "instance": printable(instance.name or "without a name"),
            "objective": f"{instance.objective}{unit}",
            "optimum": optimum,
            "ratio": "cost / " + ("optimum" if compared.is_proven else "lower bound"),
        }
    )
    return [subject, Text(""), table]
