"""The view of what a comparison comes to, in a few words."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling
from dfopt.compare.comparison import Comparison
from dfopt_cli.frontier_view import order_alone
from dfopt_cli.losses_view import by_size
from dfopt_cli.printing import printable
from dfopt_cli.subject_view import as_time, movable
from dfopt_cli.tables import counted, duration, pairs, share

LITTLE_SAVED, MUCH_SAVED = 0.9, 0.75
"""From which share of the recorded cost on little is saved, and up to which one much is."""


def conclusion_tables(comparison: Comparison) -> list[Table | Text]:
    """Return what a comparison comes to as a part of the output, if there is anything to say."""
    said = conclusion_rows(comparison)
    return [Text("In short", style="bold"), Text(""), pairs(said)] if said else []


def conclusion_rows(comparison: Comparison) -> dict[str, str]:
    """Return what was paid, what was attainable, what is impossible, and what a rule pays.

    There is nothing to conclude from a comparison without schedules that keep cause and effect.
    """
    rows = comparison.frontier.rows if comparison.frontier else ()
    found = {row.scheduling: row for row in rows}
    best = found.get(Scheduling.NOBODY_LATER) or found.get(Scheduling.SAME_TIMELINE)
    if best is None:
        return {}
    said = {"paid": paid(comparison), "attainable": attainable(best, comparison)}
    said["attainable"] += little_room(best, found)
    proven = impossible(best)
    if proven:
        said["impossible"] = proven
    rule = found.get(Scheduling.PATIENCE)
    if rule is not None:
        said["by a rule"] = by_a_rule(rule, best, found.get(Scheduling.RECORDED), comparison)
    return said


def paid(comparison: Comparison) -> str:
    """Return what was paid, and what most of it was lost to."""
    total = comparison.realised.total
    if comparison.model.counts_switches:
        amount = counted(total, "switch")
    else:
        amount = f"{total:,} {printable(comparison.cost_unit)}{as_time(comparison)}"
    cause, cost = by_size(comparison.causes)[0]
    said = f"{amount}, mainly lost to: {cause} ({share(cost, total)})" if cost else amount
    return f"{said}{movable(comparison)}"


def attainable(best: FrontierRow, comparison: Comparison) -> str:
    """Return what the best schedule paid in which nobody waits longer than recorded.

    Where switches take time, it says whether that still holds then.
    """
    recorded = comparison.frontier.rows[0].cost if comparison.frontier else None
    instead = "" if recorded == comparison.realised.total else f" instead of {recorded:,}"
    if best.scheduling is Scheduling.SAME_TIMELINE:
        return f"{best.cost:,}{instead} with every dispatch at its time, on the best CPU"
    timed = best.with_switches
    if timed is not None and timed.later:
        return (
            f"{best.cost:,}{instead} if switches took no time; with their time {timed.later:,} of "
            f"{best.dispatches:,} start later than recorded, by at most "
            f"{printable(duration(timed.latest_by, comparison.time_unit))}"
        )
    return f"{best.cost:,}{instead} with nobody waiting longer than recorded"


def little_room(best: FrontierRow, found: Mapping[Scheduling, FrontierRow]) -> str:
    """Return which row to look at where nobody may wait longer and hardly anything is saved."""
    recorded, budget = found.get(Scheduling.RECORDED), found.get(Scheduling.SAME_MEAN_WAIT)
    if best.scheduling is not Scheduling.NOBODY_LATER or recorded is None or budget is None:
        return ""
    if best.cost < LITTLE_SAVED * recorded.cost or budget.cost > MUCH_SAVED * recorded.cost:
        return ""
    return (
        "; where CPUs are seldom idle, hardly any dispatch can start earlier. Look at the row "
        f"'{Scheduling.SAME_MEAN_WAIT}', where some may start later: {budget.cost:,}"
    )


def impossible(best: FrontierRow) -> str:
    """Return below what no schedule with the same limit can go; nothing if that is not known."""
    robust, with_lengths = best.bound or 0, best.bound_with_lengths or 0
    limit = "then" if best.scheduling is Scheduling.SAME_TIMELINE else "with nobody waiting longer"
    if robust >= with_lengths:
        return f"less than {robust:,} {limit}" if robust else ""
    said = f"less than {with_lengths:,} {limit}, if dispatches last as long as recorded"
    return f"{said}; less than {robust:,} however long they last" if robust else said


def by_a_rule(
    rule: FrontierRow, best: FrontierRow, recorded: FrontierRow | None, comparison: Comparison
) -> str:
    """Return what the patient rule pays, and for how long it lets dispatches wait."""
    unit = comparison.time_unit
    patience = printable(duration(rule.patience or 0, unit))
    said = f"{rule.cost:,} without knowing what arrives later (patience {patience})"
    timed = [row.with_switches for row in (rule, recorded) if row and row.with_switches]
    if len(timed) == len((rule, recorded)):
        own, before = (printable(duration(found.p99_wait, unit)) for found in timed)
        said += f"; its order with the time of switches: p99 wait {own} instead of {before}"
    elif rule.p99_wait is not None and recorded is not None and recorded.p99_wait is not None:
        own, before = (printable(duration(row.p99_wait or 0, unit)) for row in (rule, recorded))
        said += f", p99 wait {own} instead of {before}"
    alone = order_alone(comparison)
    if alone is not None:
        said += f"; its order alone gives {alone.cost:,} (patience 0)"
    if rule.cost < best.cost:
        said += "; it can be cheaper because it lets single dispatches wait longer"
    return said
