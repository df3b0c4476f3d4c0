"""The view of a frontier: what was attainable at which waiting, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling
from dfopt.compare.comparison import Comparison
from dfopt.render import printable
from dfopt.time_units import readable_time
from dfopt.trace.lengths import Lengths
from dfopt_cli.failures import with_options
from dfopt_cli.tables import counted, pairs, plain_table

SCHEDULES = {
    Scheduling.SAME_TIMELINE: "only the CPUs are chosen anew",
    Scheduling.LEAST_RECENTLY_USED: "the same timeline, without foresight",
    Scheduling.NOBODY_LATER: "no dispatch starts later than recorded",
    Scheduling.SAME_MEAN_WAIT: "neither mean nor p99 are longer than recorded",
}
"""What the rows may change whose names do not say all of it."""

BOUND = (
    "no schedule with the limit of its row costs less, however long its dispatches last{but}; with "
    "lengths: if they last as long as recorded. It holds for its row alone: rows that let single "
    "dispatches wait longer can cost less"
)
BUT = " (with the same mean wait: if none lasts longer than recorded)"
PATIENCE = (
    "a rule that does not know what arrives later: a CPU goes on with its fragment while anything "
    "of it is ready, and takes another one only when that has waited for this time (0: at once). "
    "Single dispatches may wait longer than recorded. It knows for how long each dispatch runs{but}"
)
AND_WHAT_STAYS = ", and when what stays in place runs"
WAITS = (
    "from ready to running, of the dispatches that schedules may move; one whose wake-up is not "
    "recorded counts as one that does not wait"
)
ASSUMED = "arrivals and lengths as recorded"
NO_TIME = "switches cost their time but delay nothing"
WITH_SWITCHES = (
    "the same CPUs, the same order on each, and switches that take as long as they cost: each "
    "begins when its dispatch is ready and the CPU is free. Later: dispatches that then start "
    "later than recorded, and by how much at most. The bounds hold for such schedules, too"
)
INCLUDED = "lengths include switches, also where a schedule saves them"
ASSUMED_TIMELINE = "starts and lengths as recorded"

PARALLEL = (
    "share of the run time that runs beside the same fragment on another CPU; schedules may run "
    "one after the other what ran at once"
)
"""What :func:`parallel_cell` shows."""

NOTHING = "–"
"""Stands where there is no figure."""


def frontier_tables(comparison: Comparison, *, verbose: bool = True) -> list[Table | Text]:
    """Return one row for each limit on waiting; if ``verbose``, also what the rows assume."""
    rows = comparison.frontier.rows if comparison.frontier else ()
    if not rows:
        return [explanation([comparison])]
    table = plain_table()
    add_frontier_columns(table)
    has_parallel = verbose and any(row.parallel_share is not None for row in rows)
    if has_parallel:
        table.add_column("parallel", justify="right")
    for row in with_order_alone(comparison):
        cells = row_cells(row, comparison)
        if has_parallel:
            cells.append(parallel_cell(row.parallel_share))
        table.add_row(*cells)
    shown = [table, Text(""), *switches_tables(comparison)]
    if verbose:
        return [*shown, explanation([comparison], has_parallel=has_parallel)]
    return [*shown, *problem_tables(comparison)]


def problem_tables(comparison: Comparison) -> list[Table | Text]:
    """Return why rows are left out, if any are."""
    said = left_out([comparison])
    return [pairs(said, style="dim")] if said else []


def left_out(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return why rows are left out."""
    frontiers = [comparison.frontier for comparison in comparisons if comparison.frontier]
    said = {}
    reasons = dict.fromkeys(frontier.left_out for frontier in frontiers if frontier.left_out)
    if reasons:
        said["left out"] = with_options("; ".join(reasons))
    if not all(frontier.is_complete for frontier in frontiers):
        said["interrupted"] = "other rows are left out"
    return said


def switches_tables(comparison: Comparison) -> list[Table | Text]:
    """Return what becomes of each schedule when its switches take time, where that is known."""
    rows = comparison.frontier.rows if comparison.frontier else ()
    if not any(row.with_switches for row in rows):
        return []
    unit = comparison.time_unit
    table = plain_table()
    table.add_column("with the time of switches")
    for heading in ("switches", "later", "by at\nmost", "mean\nwait", "p99\nwait"):
        table.add_column(heading, justify="right")
    for row in rows:
        if row.with_switches is None:
            continue
        found = row.with_switches
        table.add_row(
            shown_row_name(row, comparison),
            NOTHING if row.switches is None else f"{row.switches:,}",
            Text(f"{found.later:,}", style="bold"),
            *(
                printable(readable_time(time, unit))
                for time in (found.latest_by, row.mean_wait_with_switches or 0, found.p99_wait)
            ),
        )
    return [table, Text("")]


def frontiers_table(names: Sequence[str], comparisons: Sequence[Comparison], called: str) -> Table:
    """Return the rows of several traces, one trace after the other."""
    table = plain_table()
    table.add_column(called, overflow="fold")
    add_frontier_columns(table)
    for name, comparison in zip(names, comparisons, strict=True):
        first = name
        for row in with_order_alone(comparison):
            if is_shown_beside(row):
                table.add_row(first, *row_cells(row, comparison))
                first = ""
    return table


def with_order_alone(comparison: Comparison) -> list[FrontierRow]:
    """Return the rows, and before the patient rule the same one without patience.

    What it saves is owed to the order in which it takes dispatches, and only the rest to patience.
    """
    frontier = comparison.frontier
    shown = [] if frontier is None else list(frontier.rows)
    alone = order_alone(comparison)
    if alone is not None:
        shown.insert(len(shown) - 1, alone)
    return shown


def order_alone(comparison: Comparison) -> FrontierRow | None:
    """Return the patient rule without patience; None if that is the row of the rule itself."""
    frontier = comparison.frontier
    if frontier is None or not frontier.rows or not frontier.rows[-1].patience:
        return None
    return next((row for row in frontier.patience if row.patience == 0), None)


def is_shown_beside(row: FrontierRow) -> bool:
    """Return whether a row is shown beside those of other traces.

    A placement without foresight says little there.
    """
    return row.scheduling is not Scheduling.LEAST_RECENTLY_USED


def add_frontier_columns(table: Table) -> None:
    """Add the columns that :func:`row_cells` fills."""
    table.add_column("schedule")
    for heading in ("cost", "bound", "bound with\nlengths", "mean\nwait", "p99\nwait"):
        table.add_column(heading, justify="right")


def row_cells(row: FrontierRow, comparison: Comparison) -> list[str | Text]:
    """Return the name of a row, its costs and its waits."""
    unit = comparison.time_unit
    return [
        shown_row_name(row, comparison),
        Text(f"{row.cost:,}", style="bold"),
        *(NOTHING if cost is None else f"{cost:,}" for cost in (row.bound, row.bound_with_lengths)),
        *(
            NOTHING if wait is None else printable(readable_time(wait, unit))
            for wait in (row.mean_wait, row.p99_wait)
        ),
    ]


def parallel_cell(share: float | None) -> str:
    """Return the share of the run time that runs beside the same fragment on another CPU."""
    return NOTHING if share is None else f"{share:.1%}"


def shown_row_name(row: FrontierRow, comparison: Comparison) -> str:
    """Return what a row of a comparison is called; nothing is recorded that was assumed."""
    if row.scheduling is Scheduling.RECORDED and comparison.assumed is not None:
        return "assumed"
    return row_name(row, comparison.time_unit)


def row_name(row: FrontierRow, unit: str | None) -> str:
    """Return what a row is called: its limit, or its rule."""
    match row.scheduling:
        case Scheduling.LONGEST_WAIT:
            assert row.wait is not None
            return f"{row.scheduling} {printable(readable_time(row.wait, unit))}"
        case Scheduling.PATIENCE:
            assert row.patience is not None
            return f"{row.scheduling} {printable(readable_time(row.patience, unit))}"
    return str(row.scheduling)


def explanation(comparisons: Sequence[Comparison], *, has_parallel: bool = False) -> Table:
    """Return what the rows mean and assume, and why some are left out.

    ``has_parallel`` says that the table has a column about what ran in parallel.
    """
    frontiers = [comparison.frontier for comparison in comparisons if comparison.frontier]
    rows = [row for frontier in frontiers for row in frontier.rows]
    found = {row.scheduling for row in rows if len(comparisons) == 1 or is_shown_beside(row)}
    schedules = [f"{name}: {words}" for name, words in SCHEDULES.items() if name in found]
    said = {"schedule": "; ".join(schedules)} if schedules else {}
    bounded = {row.scheduling for row in rows if row.bound is not None}
    if bounded:
        said["bound"] = BOUND.format(but=BUT if Scheduling.SAME_MEAN_WAIT in bounded else "")
    if any(row.scheduling is Scheduling.PATIENCE for row in rows):
        stays = any(comparison.unlabelled_share for comparison in comparisons)
        said["patience"] = PATIENCE.format(but=AND_WHAT_STAYS if stays else "")
    if has_parallel:
        said["parallel"] = PARALLEL
    if rows:
        waits = any(row.total_wait is not None for row in rows)
        if waits:
            said["waits"] = WAITS
        timed = any(row.with_switches for row in rows)
        included = any(
            comparison.lengths is Lengths.WITH_SWITCHES and not comparison.model.counts_switches
            for comparison in comparisons
        )
        said["assumed"] = "; ".join(
            [
                ASSUMED if waits else ASSUMED_TIMELINE,
                *[NO_TIME] * timed,
                *[INCLUDED] * included,
                *doubts(comparisons),
            ]
        )
        if timed and len(comparisons) == 1:
            said["with time"] = WITH_SWITCHES
    return pairs({**said, **left_out(comparisons)}, style="dim")


def doubts(comparisons: Sequence[Comparison]) -> list[str]:
    """Return what else the rows assume."""
    frontiers = [comparison.frontier for comparison in comparisons if comparison.frontier]
    unknown = sum(frontier.unknown for frontier in frontiers if not frontier.left_out)
    kept = sum(frontier.kept for frontier in frontiers)
    said = []
    if unknown:
        said.append(f"{counted(unknown, 'dispatch')} whose wake-up is not recorded")
    unlabelled = [comparison.unlabelled_share for comparison in comparisons]
    if any(unlabelled):
        least, most = (f"{share:.1%}" for share in (min(unlabelled), max(unlabelled)))
        shares = most if least == most else f"{least} to {most}"
        said.append(f"what has no fragment stays in place ({shares} of the run time)")
    if kept:
        charged = "" if comparisons[0].model.unmanaged == "evict" else " and are not charged"
        threads = f"{counted(kept, 'dispatch')} of bound kernel threads"
        said.append(f"{threads} that stay in place{charged}")
    return said
