"""Tables of what was attainable, and what that comes to in words."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.render import counted
from dfopt.table import Table, Value, columns, table_of
from dfopt.time_units import readable_time
from dfopt.trace.assumed import Assumed

SCHEDULES = {
    Scheduling.SAME_TIMELINE: "only the CPUs are chosen anew",
    Scheduling.LEAST_RECENTLY_USED: "the same timeline, without foresight",
    Scheduling.NOBODY_LATER: "no dispatch starts later than recorded",
    Scheduling.SAME_MEAN_WAIT: "neither mean nor p99 are longer than recorded",
    Scheduling.PATIENCE: "a rule that does not know what arrives later: a CPU goes on with its "
    "fragment while anything of it is ready, and takes another one only when that has waited for "
    "this time (0: at once). Single dispatches may wait longer than recorded. It knows for how "
    "long each dispatch runs, and when what stays in place runs",
}
"""What the rows may change whose names do not say all of it."""

BOUND = (
    "bound: no schedule with the limit of its row costs less, however long its dispatches last; "
    "with lengths: if they last as long as recorded. It holds for its row alone: rows that let "
    "single dispatches wait longer can cost less"
)
PARALLEL = (
    "parallel: share of the run time that runs beside the same fragment on another CPU; schedules "
    "may run one after the other what ran at once"
)
WAITS = (
    "waits: from ready to running, of the dispatches that schedules may move; one whose wake-up "
    "is not recorded counts as one that does not wait"
)
WITH_SWITCHES = (
    "the same CPUs, the same order on each, and switches that take as long as they cost: each "
    "begins when its dispatch is ready and the CPU is free. Later: dispatches that then start "
    "later than recorded, and by how much at most. The bounds hold for such schedules, too"
)


def frontier_table(
    rows: Sequence[FrontierRow], cost_unit: str, time_unit: str | None, assumed: Assumed | None
) -> Table:
    """Return what each schedule costs, what is proven about it, and how long dispatches wait."""
    time = f"[{time_unit or ''}] :time"
    shown = {
        "scheduling": "scheduling",
        "wait": f"wait {time}",
        "patience": f"patience {time}",
        "cost": f"cost [{cost_unit}] :cost",
        "bound": f"bound [{cost_unit}] :cost",
        "bound_with_lengths": f"bound with lengths [{cost_unit}] :cost",
        "is_optimal": "is optimal",
        "dispatches": "dispatches",
        "total_wait": f"total wait {time}",
        "mean_wait": f"mean wait {time}",
        "p99_wait": f"p99 wait {time}",
        "parallel_share": "parallel :.1%",
    }
    table = table_of("What was attainable", rows, shown)
    return table.after("schedule", [row_name(row, time_unit, assumed) for row in rows])


def row_name(row: FrontierRow, unit: str | None, assumed: Assumed | None) -> str:
    """Return what a row of a comparison is called; nothing is recorded that was assumed."""
    is_assumed = row.scheduling is Scheduling.RECORDED and assumed is not None
    return "assumed" if is_assumed else row.name(unit)


def switches_table(
    rows: Sequence[FrontierRow], time_unit: str | None, assumed: Assumed | None
) -> Table:
    """Return what becomes of each schedule when its switches take time, where that is known."""
    timed = [row for row in rows if row.with_switches]
    time = f"[{time_unit or ''}] :time"
    shown = {
        "dispatches": "dispatches",
        "switches": "switches",
        "with_switches.later": "later",
        "with_switches.latest_by": f"by at most {time}",
        "with_switches.mean_wait": f"mean wait {time}",
        "with_switches.p99_wait": f"p99 wait {time}",
    }
    table = table_of("With the time of switches", timed, shown)
    return table.after("schedule", [row_name(row, time_unit, assumed) for row in timed])


def with_order_alone(frontier: WaitingFrontier) -> list[FrontierRow]:
    """Return the rows, and before the patient rule the same one without patience.

    What it saves is owed to the order in which it takes dispatches, and only the rest to patience.
    """
    alone = order_alone(frontier)
    return [*frontier.rows[:-1], *([] if alone is None else [alone]), *frontier.rows[-1:]]


def order_alone(frontier: WaitingFrontier) -> FrontierRow | None:
    """Return the patient rule without patience; None if that is the row of the rule itself."""
    if not frontier.rows or not frontier.rows[-1].patience:
        return None
    return next((row for row in frontier.patience if row.patience == 0), None)


def left_out(frontier: WaitingFrontier) -> list[str]:
    """Return why rows are left out."""
    reasons = {
        "left out": frontier.left_out,
        "interrupted": None if frontier.is_complete else "other rows are left out",
    }
    return [f"{name}: {reason}" for name, reason in reasons.items() if reason]


def best_of(frontier: WaitingFrontier) -> FrontierRow | None:
    """Return the schedule in which nobody waits longer; without wake-ups that of the same times."""
    found = {row.scheduling: row for row in frontier.rows}
    return found.get(Scheduling.NOBODY_LATER) or found.get(Scheduling.SAME_TIMELINE)


def outcome_table(name: str, frontier: WaitingFrontier, paid: int, unit: str) -> Table:
    """Return what was paid, what was attainable and what is impossible as figures."""
    best = best_of(frontier)
    found: list[Value] = [None, None, None]
    if best is not None:
        last = frontier.rows[-1]
        found = [best.cost, proven(best), None if last.patience is None else last.cost]
    headings = ("paid", "attainable", "impossible below", "by a rule")
    return Table(name, columns(*(f"{each} [{unit}] :cost" for each in headings)), [(paid, *found)])


def proven(row: FrontierRow) -> int:
    """Return below what no schedule with the limit of a row can go, with lengths as recorded."""
    return max(row.bound or 0, row.bound_with_lengths or 0)


def conclusion(
    frontier: WaitingFrontier, paid: int, time_unit: str | None, assumed: Assumed | None
) -> dict[str, str]:
    """Return what was attainable, what is impossible, and what a rule pays, in words."""
    best = best_of(frontier)
    if best is None:
        return {}
    recorded, last = frontier.rows[0], frontier.rows[-1]
    said = {"attainable": _attainable(best, recorded, paid, time_unit, assumed)}
    robust, with_lengths = best.bound or 0, best.bound_with_lengths or 0
    if with_lengths > robust:
        also = f"; less than {robust:,} however long they last" if robust else ""
        said["impossible"] = (
            f"less than {with_lengths:,} by '{best.scheduling}', if dispatches last as long as "
            f"recorded{also}"
        )
    elif robust:
        said["impossible"] = f"less than {robust:,} by '{best.scheduling}'"
    # What starts later once switches take time does not show that its cost is possible.
    late = best.with_switches is not None and best.with_switches.later
    least, most = proven(best), recorded.cost if late else best.cost
    if least < most:
        said["open"] = f"{least:,} to {most:,}: between what is proven and what was found"
    if last.scheduling is Scheduling.PATIENCE:
        said["by a rule"] = _by_a_rule(last, best, frontier, time_unit)
    return said


def _attainable(
    best: FrontierRow, recorded: FrontierRow, paid: int, unit: str | None, assumed: Assumed | None
) -> str:
    """Return what was found; where switches take time, whether that still holds then."""
    before = "recorded" if assumed is None else "assumed"
    meaning = SCHEDULES[best.scheduling]
    if assumed is Assumed.STARTS:
        meaning = meaning.replace("recorded", "assumed")
    named = f"by '{best.scheduling}' ({meaning})"
    if best.cost == recorded.cost:
        return f"nothing less than the {before} {best.cost:,} was found {named}"
    instead = "" if recorded.cost == paid else f" instead of {recorded.cost:,}"
    timed, late = best.with_switches, ""
    if best.scheduling is not Scheduling.SAME_TIMELINE and timed is not None and timed.later:
        late = (
            f" if switches took no time; with their time {timed.later:,} of {best.dispatches:,} "
            f"start later than recorded, by at most {readable_time(timed.latest_by, unit)}"
        )
    return f"{best.cost:,}{instead} {named}{late}"


def _by_a_rule(
    rule: FrontierRow, best: FrontierRow, frontier: WaitingFrontier, unit: str | None
) -> str:
    """Return what the patient rule pays, and for how long it lets dispatches wait."""
    recorded = frontier.rows[0]
    said = f"{rule.cost:,} by '{rule.name(unit)}', which does not know what arrives later"
    own, before = rule.p99_wait, recorded.p99_wait
    waits = ", p99 wait"
    if rule.with_switches and recorded.with_switches:
        own, before = rule.with_switches.p99_wait, recorded.with_switches.p99_wait
        waits = "; its order with the time of switches: p99 wait"
    if own is not None and before is not None:
        said += f"{waits} {readable_time(own, unit)} instead of {readable_time(before, unit)}"
    alone = order_alone(frontier)
    if alone is not None:
        said += f"; its order alone gives {alone.cost:,} ('{alone.name(unit)}')"
    if rule.cost < best.cost:
        said += "; it can be cheaper because it lets single dispatches wait longer"
    return said


def meanings(
    frontier: WaitingFrontier, *, includes_switches: bool, evicts: bool, unlabelled: float
) -> list[str]:
    """Return what the rows mean and assume."""
    rows = frontier.rows
    found = {row.scheduling for row in rows}
    waits = any(row.total_wait is not None for row in rows)
    kept = f"{counted(frontier.kept, 'dispatch')} of bound kernel threads that stay in place"
    unknown = f"{counted(frontier.unknown, 'dispatch')} whose wake-up is not recorded"
    assumed = {
        f"{'arrivals' if waits else 'starts'} and lengths as recorded": True,
        "switches cost their time but delay nothing": any(row.with_switches for row in rows),
        "lengths include switches, also where a schedule saves them": includes_switches,
        unknown: frontier.unknown and not frontier.left_out,
        f"what has no fragment stays in place ({unlabelled:.1%} of the run time)": unlabelled,
        f"{kept}{'' if evicts else ' and are not charged'}": frontier.kept,
    }
    said = {
        BOUND: any(row.bound is not None for row in rows),
        PARALLEL: any(row.parallel_share is not None for row in rows),
        WAITS: waits,
        "assumed: " + "; ".join(words for words, holds in assumed.items() if holds): rows,
    }
    return [
        *(f"{name}: {words}" for name, words in SCHEDULES.items() if name in found),
        *(words for words, holds in said.items() if holds),
    ]
