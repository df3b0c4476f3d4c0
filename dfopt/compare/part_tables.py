"""Tables of the parts of a comparison with every figure, and what these come to in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.comparison_parts import (
    Cause,
    CpuResult,
    FragmentResult,
    OrderKept,
    WindowResult,
    cost_ratio,
)
from dfopt.compare.domains import DomainComparison
from dfopt.problem.cache_domains import cpu_ranges
from dfopt.render import counted
from dfopt.table import Table, Uncertain, Value, columns, table_of
from dfopt.time_units import readable_time
from dfopt.trace.fragment_titles import title
from dfopt.trace.service import Service
from dfopt.trace.trace import Assumed

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
    "with lengths: if they last as long as recorded, and are ready when schedules may start them. "
    "It holds for its row alone: rows that let single dispatches wait longer can cost less"
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


FRONTIER = {
    "scheduling": "scheduling",
    "wait": "wait :time",
    "patience": "patience :time",
    "cost": "cost :cost",
    "bound": "bound :cost",
    "bound_with_lengths": "bound with lengths :cost",
    "is_optimal": "is optimal",
    "dispatches": "dispatches",
    "total_wait": "total wait :time",
    "mean_wait": "mean wait :time",
    "p99_wait": "p99 wait :time",
    "parallel_share": "parallel :.1%",
}
"""What each schedule costs, what is proven about it, and how long dispatches wait."""

SWITCHES = {
    "dispatches": "dispatches",
    "switches": "switches",
    "with_switches.later": "later",
    "with_switches.latest_by": "by at most :time",
    "with_switches.mean_wait": "mean wait :time",
    "with_switches.p99_wait": "p99 wait :time",
}
"""What becomes of each schedule when its switches take time."""


def row_name(row: FrontierRow, unit: str | None, assumed: Assumed | None) -> str:
    """Return what a row of a comparison is called; nothing is recorded that was assumed."""
    is_assumed = row.scheduling is Scheduling.RECORDED and assumed is not None
    return "assumed" if is_assumed else row.name(unit)


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


def outcome_table(name: str, frontier: WaitingFrontier, paid: int) -> Table:
    """Return what was paid, what was attainable and what is impossible as figures."""
    best = best_of(frontier)
    found: list[Value] = [None, None, None]
    if best is not None:
        last = frontier.rows[-1]
        found = [best.cost, proven(best), None if last.patience is None else last.cost]
    headings = ("paid :cost", "attainable :cost", "impossible below :cost", "by a rule :cost")
    return Table(name, columns(*headings), [(paid, *found)])


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


def windows_table(windows: Sequence[WindowResult]) -> Table:
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
        *("window", "count", "realised :cost", "bound :cost", "ratio :ratio", "rolling :cost"),
        *("rolling ratio :ratio", "balanced :cost", "difference :cost", "proven :.1%", "closed"),
        *("balanced closed", "rolling closed"),
    )
    # If no window has a ratio, there is no such column.
    notes = [NO_RATIO] if len({window.ratio is None for window in windows}) > 1 else []
    return Table(ORDER_FREE, columns(*headings), rows, notes)


def order_kept_table(kept: OrderKept, paid: int) -> Table:
    """Return what choosing CPUs alone would have saved, at best and without look-ahead."""
    found = [("best", kept.best, kept.bound), ("online", kept.online, None)]
    rows = [
        (name, cost, None if cost == bound else bound, "all saved" if ratio is None else ratio)
        for name, cost, bound in found
        if cost is not None
        for ratio in [cost_ratio(paid, cost)]
    ]
    headings = columns("order kept", "cost :cost", "bound :cost", "ratio :ratio")
    return Table("Other CPUs, the same order", headings, rows)


def by_size(causes: Mapping[Cause, int]) -> list[tuple[Cause, int]]:
    """Return what was paid by cause, the largest first and write-backs last.

    A write-back follows from any change of fragment, so it says nothing about what happened.
    """
    found = [(cause, causes.get(cause, 0)) for cause in Cause]
    return sorted(found, key=lambda item: (item[0] is Cause.WRITE_BACK, -item[1]))


def main_cause(causes: Mapping[Cause, int]) -> tuple[Cause | None, int]:
    """Return what most was paid for, and what; write-backs only if there is nothing else."""
    return next((item for item in by_size(causes) if item[1]), (None, 0))


def causes_table(causes: Mapping[Cause, int], paid: int) -> Table:
    """Return the cost of each cause, and what those mean that cost something."""
    found = by_size(causes)
    rows = [(cause, cost, cost / paid if paid else None) for cause, cost in found]
    notes = [f"{cause}: {cause.meaning}" for cause, cost in found if cost]
    headings = columns("cause", "cost :cost", "share :.1%")
    return Table("What it was lost to", headings, rows, notes)


def fragments_table(fragments: Sequence[FragmentResult], paid: int) -> Table:
    """Return who used each fragment, and what was paid for it."""
    first = {"df": "df", "name": "name", "dispatches": "dispatches", "tasks": "tasks"}
    table = _paid(fragments, {**first, "cpus": "CPUs"}, paid)
    return table.after("fragment", [title(one.df, one.name, one.comms) for one in fragments])


def cpus_table(cpus: Sequence[CpuResult], paid: int) -> Table:
    """Return what each CPU did and paid."""
    if len(cpus) > MOST_CPUS:
        cpus = sorted(cpus, key=lambda found: (-found.cost, found.cpu))
    first = {"cpu": "CPU", "dispatches": "dispatches", "managed": "managed"}
    return _paid(cpus, {**first, "fragments": "fragments"}, paid)


def _paid(
    parts: Sequence[FragmentResult | CpuResult], first: Mapping[str, str], paid: int
) -> Table:
    shown = {"run_time": "run time :time", "switches": "switches", "cost": "cost :cost"}
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


def service_table(service: Service) -> Table:
    """Return for how long tasks waited, and how long it took to serve them."""
    latency, response = service.wakeup_latency, service.response
    # Kernel traces end amid bursts, and who sleeps is not always done: only --json has theirs.
    if latency is None or response is None or response.count != latency.count:
        response = None
    found = {"latency": latency, "wait": service.wait, "response": response}
    headings = columns("time", "count", "mean :time", "p50 :time", "p99 :time", "longest :time")
    rows = [
        (name, times.count, times.mean, times.p50, times.p99, times.longest)
        for name, times in found.items()
        if times is not None
    ]
    return Table(SERVED, headings, rows)
