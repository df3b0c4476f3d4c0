"""The view of several comparisons, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.comparison import Comparison, policies_of
from dfopt.render import printable
from dfopt.time_units import readable_time
from dfopt_cli.domains_view import domains_tables
from dfopt_cli.failures import with_options
from dfopt_cli.frontier_view import (
    NOTHING,
    PARALLEL,
    SCHEDULES,
    explanation,
    frontiers_table,
    left_out,
    parallel_cell,
)
from dfopt_cli.losses_view import main_cause, written_back
from dfopt_cli.order_free_view import (
    EXPLANATION,
    ORDER_FREE,
    WINDOW_HEADINGS,
    window_cells,
)
from dfopt_cli.subject_view import about_unmanaged, costs, unit_of
from dfopt_cli.tables import LARGE, pairs, plain_table, share

CONCLUSIONS = {
    "attainable": f"the cost that was found for '{Scheduling.NOBODY_LATER}' "
    f"({SCHEDULES[Scheduling.NOBODY_LATER]}), or without wake-ups for "
    f"'{Scheduling.SAME_TIMELINE}'; nothing below the next column is possible then, with lengths "
    "as recorded, and what lies between the two is open",
    "by a rule": "it does not know what arrives later, and lets single dispatches wait longer",
}

MORE = "-v shows the costs and waits of every schedule."

SERVICE = {
    "latency": "from woken up to running",
    "wait": "the same, and from preempted to running",
    "fairness": "Jain's index of running / (running + waiting) by what is due to each task's "
    "weight",
}


def side_by_side(
    comparisons: Sequence[Comparison], *, with_windows: bool = False, verbose: bool = False
) -> list[Table | Text]:
    """Return what a terminal shows of several traces: one row for each, or for every window.

    Where each trace names another policy they are called by these, and costs for each dispatch
    let runs of different length compare. Windows have a place beside what was attainable only if
    someone asked ``with_windows``.
    """
    policies = policies_of(comparisons)
    names = list(map(printable, policies or [comparison.name for comparison in comparisons]))
    called = "trace" if policies is None else "policy"
    has_frontier = any(comparison.frontier for comparison in comparisons)
    with_windows = with_windows or not all(
        comparison.frontier and comparison.frontier.rows for comparison in comparisons
    )
    blank = Text("")
    words = models(comparisons) | unmanaged_words(comparisons)
    if policies is not None:
        words["traces"] = ", ".join(printable(comparison.name) for comparison in comparisons)
    shown: list[Table | Text] = []
    if has_frontier:
        shown += [conclusions_table(names, comparisons, called), blank]
        words = {**CONCLUSIONS, **words, **left_out(comparisons)}
        if verbose:
            shown += [frontiers_table(names, comparisons, called), blank]
            shown += [explanation(comparisons), blank]
        if with_windows:
            shown += [Text(ORDER_FREE), blank]
    if with_windows:
        shown += [windows_of_each(names, comparisons, called), blank]
        words |= {name: EXPLANATION[name] for name in ("bound", "rolling", "ignored") if verbose}
    if knows_parallel(comparisons):
        words["parallel"] = PARALLEL
    return [
        *shown,
        *domains_tables(names, comparisons, called, verbose=verbose),
        losses_table(names, comparisons, called),
        blank,
        *service_tables(names, comparisons, called),
        pairs({**words, **service_words(comparisons)}, style="dim"),
        *([blank, Text(MORE, style="dim")] if has_frontier and not verbose else []),
    ]


def conclusions_table(
    names: Sequence[str], comparisons: Sequence[Comparison], called: str
) -> Table:
    """Return one row a trace: what it comes to."""
    table = plain_table()
    table.add_column(called, overflow="fold")
    for heading in ("paid", "attainable", "impossible\nbelow", "by a\nrule"):
        table.add_column(heading, justify="right")
    for name, comparison in zip(names, comparisons, strict=True):
        rows = (
            {row.scheduling: row for row in comparison.frontier.rows} if comparison.frontier else {}
        )
        best = rows.get(Scheduling.NOBODY_LATER) or rows.get(Scheduling.SAME_TIMELINE)
        rule = rows.get(Scheduling.PATIENCE)
        proven = None if best is None else max(best.bound or 0, best.bound_with_lengths or 0)
        found = (best and best.cost, proven, rule and rule.cost)
        table.add_row(
            name,
            f"{comparison.realised.total:,}",
            *(NOTHING if cost is None else f"{cost:,}" for cost in found),
        )
    return table


def windows_of_each(names: Sequence[str], comparisons: Sequence[Comparison], called: str) -> Table:
    """Return one row for each trace and length of window."""
    several = any(len(comparison.windows) > 1 for comparison in comparisons)
    table = plain_table()
    table.add_column(called, overflow="fold")
    if several:
        table.add_column("window")
    for heading in ("realised", *WINDOW_HEADINGS):
        table.add_column(heading, justify="right")
    for name, comparison in zip(names, comparisons, strict=True):
        first = name
        for window in comparison.windows:
            cells = [f"{window.realised:,}", *window_cells(window)]
            if several:
                cells = [printable(window.window), *cells]
            table.add_row(first, *cells)
            first = ""
    return table


def knows_parallel(comparisons: Sequence[Comparison]) -> bool:
    """Return whether it is known of some trace what ran in parallel."""
    return any(comparison.parallel_share is not None for comparison in comparisons)


def losses_table(names: Sequence[str], comparisons: Sequence[Comparison], called: str) -> Table:
    """Return one row a trace: how often it changed fragments, what each paid, and why most."""
    writes = any(written_back(comparison.causes)[1] for comparison in comparisons)
    has_parallel = knows_parallel(comparisons)
    table = plain_table()
    table.add_column(called, overflow="fold")
    headings = ("dispatches", "cost\nof each", "switches")
    for heading in (*headings, "par-\nallel") if has_parallel else headings:
        table.add_column(heading, justify="right")
    table.add_column("mainly lost to")
    if writes:
        table.add_column("write-\nback", justify="right")
    for name, comparison in zip(names, comparisons, strict=True):
        total = comparison.realised.total
        cells = [
            f"{comparison.managed:,}",
            average(total / max(1, comparison.managed)),
            f"{comparison.realised.switches:,}",
            *([parallel_cell(comparison.parallel_share)] if has_parallel else []),
            main_cause(comparison.causes, total),
        ]
        if writes:
            cells.append(share(written_back(comparison.causes)[1], total))
        table.add_row(name, *cells)
    return table


def average(cost: float) -> str:
    """Return a mean cost."""
    return f"{cost:,.0f}" if cost >= LARGE else f"{cost:.3g}"


def service_tables(
    names: Sequence[str], comparisons: Sequence[Comparison], called: str
) -> list[Table | Text]:
    """Return one row a trace: how its tasks were served, beside its cost."""
    if all(comparison.service is None for comparison in comparisons):
        return []
    table = plain_table()
    table.add_column(called, overflow="fold")
    for heading in ("cost", "latency\np50", "latency\np99", "wait\nmean", "fairness", "migrations"):
        table.add_column(heading, justify="right")
    for name, comparison in zip(names, comparisons, strict=True):
        service = comparison.service
        latency = None if service is None else service.wakeup_latency
        wait = None if service is None else service.wait
        times: list[float | None] = [None, None] if latency is None else [latency.p50, latency.p99]
        times = [*times, None if wait is None else wait.mean]
        table.add_row(
            name,
            f"{comparison.realised.total:,}",
            *(
                NOTHING if time is None else printable(readable_time(time, comparison.time_unit))
                for time in times
            ),
            NOTHING if service is None or service.fairness is None else f"{service.fairness:.2f}",
            NOTHING if service is None else f"{service.migrations:,}",
        )
    return [table, Text("")]


def service_words(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return what the columns about service mean, and why some have no figure."""
    found = [comparison.service for comparison in comparisons if comparison.service is not None]
    if not found:
        return {}
    words = dict(SERVICE)
    for problem in dict.fromkeys(service.problem for service in found if service.problem):
        words[NOTHING] = with_options(problem)
    return words


def unmanaged_words(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return what tasks without a fragment are assumed to do, where any trace has some."""
    if not any(comparison.unlabelled_share for comparison in comparisons):
        return {}
    return {
        "caches": about_unmanaged(
            max(comparisons, key=lambda comparison: comparison.unlabelled_share)
        )
    }


def models(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return the costs that all traces were compared under, or those of each one."""
    said = {
        printable(comparison.name): (
            f"{costs(comparison.model)}; {comparison.model.objective}{unit_of(comparison)}"
        )
        for comparison in comparisons
    }
    return {"costs": next(iter(said.values()))} if len(set(said.values())) == 1 else said
