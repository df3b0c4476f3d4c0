"""The view of what a comparison comes to, in a few words."""

from __future__ import annotations

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling
from dfopt.compare.comparison import Comparison
from dfopt.render import printable
from dfopt.time_units import readable_time
from dfopt.trace.assumed import Assumed
from dfopt_cli.frontier_view import SCHEDULES, order_alone, row_name
from dfopt_cli.losses_view import by_size
from dfopt_cli.subject_view import as_time, movable, not_recorded
from dfopt_cli.tables import counted, share


def conclusion_rows(comparison: Comparison) -> dict[str, str]:
    """Return what was paid, what was attainable, what is impossible, and what a rule pays.

    Without schedules that keep cause and effect it is about the longest window instead.
    """
    rows = comparison.frontier.rows if comparison.frontier else ()
    found = {row.scheduling: row for row in rows}
    best = found.get(Scheduling.NOBODY_LATER) or found.get(Scheduling.SAME_TIMELINE)
    said = {"paid": paid(comparison)}
    if comparison.assumed is not None:
        where = not_recorded(comparison)
        said = {"assumed": f"{said['paid']}; the source does not say {where}, so this is assumed"}
    if best is None:
        return said | in_any_order(comparison)
    said["attainable"] = attainable(best, comparison)
    if comparison.assumed is Assumed.STARTS:
        said["attainable"] = said["attainable"].replace("later than recorded", "later than assumed")
    proven = impossible(best)
    if proven:
        said["impossible"] = proven
    least = max(best.bound or 0, best.bound_with_lengths or 0)
    # What starts later once switches take time does not show that its cost is possible.
    late = best.with_switches is not None and best.with_switches.later
    most = rows[0].cost if late else best.cost
    if least < most:
        said["open"] = f"{least:,} to {most:,}: between what is proven and what was found"
    rule = found.get(Scheduling.PATIENCE)
    if rule is not None:
        said["by a rule"] = by_a_rule(rule, best, found.get(Scheduling.RECORDED), comparison)
    return said


def in_any_order(comparison: Comparison) -> dict[str, str]:
    """Return what windows say whose dispatches may run in any order."""
    if not comparison.windows:
        return {}
    last = comparison.windows[-1]
    return {
        "order-free": f"{last.rolling:,} found, and less than {last.bound:,} impossible, if "
        f"dispatches may run in any order within windows ({printable(last.window)})"
    }


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
    if best.cost == recorded:
        before = "recorded" if comparison.assumed is None else "assumed"
        return f"nothing less than the {before} {best.cost:,} was found by {named(best)}"
    instead = "" if recorded == comparison.realised.total else f" instead of {recorded:,}"
    timed = best.with_switches
    if best.scheduling is not Scheduling.SAME_TIMELINE and timed is not None and timed.later:
        return (
            f"{best.cost:,}{instead} by {named(best)} if switches took no time; with their time "
            f"{timed.later:,} of {best.dispatches:,} start later than recorded, by at most "
            f"{printable(readable_time(timed.latest_by, comparison.time_unit))}"
        )
    return f"{best.cost:,}{instead} by {named(best)}"


def named(best: FrontierRow) -> str:
    """Return the name of a schedule as in the table, and what it means."""
    return f"'{best.scheduling}' ({SCHEDULES[best.scheduling]})"


def impossible(best: FrontierRow) -> str:
    """Return below what no schedule with the same limit can go; nothing if that is not known."""
    robust, with_lengths = best.bound or 0, best.bound_with_lengths or 0
    if robust >= with_lengths:
        return f"less than {robust:,} by '{best.scheduling}'" if robust else ""
    said = f"less than {with_lengths:,} by '{best.scheduling}', if dispatches last as long as"
    return f"{said} recorded" + (f"; less than {robust:,} however long they last" if robust else "")


def by_a_rule(
    rule: FrontierRow, best: FrontierRow, recorded: FrontierRow | None, comparison: Comparison
) -> str:
    """Return what the patient rule pays, and for how long it lets dispatches wait."""
    unit = comparison.time_unit
    said = f"{rule.cost:,} by '{row_name(rule, unit)}', which does not know what arrives later"
    timed = [row.with_switches for row in (rule, recorded) if row and row.with_switches]
    if len(timed) == len((rule, recorded)):
        own, before = (printable(readable_time(found.p99_wait, unit)) for found in timed)
        said += f"; its order with the time of switches: p99 wait {own} instead of {before}"
    elif rule.p99_wait is not None and recorded is not None and recorded.p99_wait is not None:
        own, before = (
            printable(readable_time(row.p99_wait or 0, unit)) for row in (rule, recorded)
        )
        said += f", p99 wait {own} instead of {before}"
    alone = order_alone(comparison)
    if alone is not None:
        said += f"; its order alone gives {alone.cost:,} ('{row_name(alone, unit)}')"
    if rule.cost < best.cost:
        said += "; it can be cheaper because it lets single dispatches wait longer"
    return said
