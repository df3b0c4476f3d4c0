"""The view of what was compared: a trace, its costs, and how its tasks were served."""

from __future__ import annotations

from dfopt.compare.comparison import Comparison
from dfopt.compare.cost_model import CostModel
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.render import printable
from dfopt.time_units import readable_time
from dfopt.trace.assumed import Assumed
from dfopt_cli.failures import with_options
from dfopt_cli.tables import counted, share

MUCH_UNLABELLED = 0.2
"""From this share of the run time without a fragment on, what its tasks do to caches matters."""


def subject_rows(comparison: Comparison, *, with_windows: bool = True) -> dict[str, str]:
    """Return what was compared and what it paid, in words.

    Unless ``with_windows``, nothing is said of what only windows assume.
    """
    realised, model = comparison.realised, comparison.model
    managed = f"{comparison.managed:,} of {comparison.dispatches:,} have a fragment"
    paid = f"{realised.total:,} in all{as_time(comparison)}"
    paid += f", {realised.worst:,} on the most expensive CPU"
    if not model.counts_switches:
        paid += f"; {counted(realised.switches, 'switch')}"
    paid += movable(comparison)
    if comparison.unlabelled_share:
        managed += f"; {comparison.unlabelled_share:.1%} of the run time has none"
    assumed = "; ".join([*([in_windows(model)] if with_windows else []), *assumptions(comparison)])
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
        **({"assumed": assumed} if assumed else {}),
        "realised": paid,
        **service_rows(comparison),
    }


def as_time(comparison: Comparison) -> str:
    """Return what was paid as a time, and as a share of the run time; nothing for switches."""
    run_time = sum(cpu.run_time for cpu in comparison.cpus)
    total = comparison.realised.total
    if comparison.model.counts_switches or not run_time:
        return ""
    shown = printable(readable_time(total, comparison.cost_unit))
    paid = "" if shown.startswith(f"{total:,} ") else f"{shown}, "
    return f" ({paid}{share(total, run_time)} of the run time)"


def movable(comparison: Comparison) -> str:
    """Return what was paid by what schedules may move, where that is another sum."""
    frontier = comparison.frontier
    recorded = frontier.rows[0].cost if frontier and frontier.rows else comparison.realised.total
    if frontier is None or recorded == comparison.realised.total:
        return ""
    return f"; {recorded:,} {without_kept(comparison.model, frontier.kept)}"


def without_kept(model: CostModel, kept: int) -> str:
    """Return why schedules are charged otherwise than the trace is: kernel threads stay."""
    threads = f"{counted(kept, 'dispatch')} of bound kernel threads, which no schedule moves"
    return f"if the {threads}, only evict" if model.unmanaged == "evict" else f"without {threads}"


def service_rows(comparison: Comparison) -> dict[str, str]:
    """Return how tasks were served, in words; nothing where a document does not say it."""
    service, unit = comparison.service, comparison.time_unit
    if service is None:
        return {}
    rows = {}
    latency, wait = service.wakeup_latency, service.wait
    if latency is not None:
        p50, p99, longest = (
            printable(readable_time(time, unit))
            for time in (latency.p50, latency.p99, latency.longest)
        )
        found = counted(latency.count, "wake-up")
        rows["latency"] = f"p50 {p50}, p99 {p99}, longest {longest}, from {found} to running"
    if wait is not None:
        mean, p99 = (printable(readable_time(time, unit)) for time in (wait.mean, wait.p99))
        known = f"of the {counted(wait.count, 'dispatch')} with a fragment and a known wake-up"
        rows["waits"] = f"mean {mean}, p99 {p99}, {known}, from ready to running, preemptions too"
        if service.still_waiting:
            rows["waits"] += f"; {counted(service.still_waiting, 'task')} still waiting at the end"
    else:
        problem = with_options(service.problem or "no dispatch is known to have been ready")
        rows["waits"] = f"not known: {problem}"
    response = service.response
    # Kernel traces end amid bursts, and who sleeps is not always done: only --json has theirs.
    if response is not None and latency is not None and response.count == latency.count:
        times = (response.mean, response.p50, response.p99, response.longest)
        mean, p50, p99, longest = (printable(readable_time(time, unit)) for time in times)
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


def in_windows(model: CostModel) -> str:
    """Return how many dispatches a CPU may run in a window, in words."""
    match model.capacity:
        case "observed":
            return "no CPU runs more in a window than the trace's fullest one"
        case "balanced":
            return "no CPU runs more than an even share of a window"
        case "unlimited":
            return "a CPU may run any number of dispatches"
        case count:
            return f"no CPU runs more than {counted(count, 'dispatch')} in a window"


def assumptions(comparison: Comparison) -> list[str]:
    """Return the rest of the model in words."""
    model = comparison.model
    said = {
        "first loads cost": model.cold_start,
        "the last write-back costs": model.final_write_back,
        about_unmanaged(comparison): bool(comparison.unlabelled_share),
        not_recorded(comparison): comparison.assumed is not None,
        "missing switches end a window": model.broken_chains == "cut",
    }
    return [words for words, holds in said.items() if holds]


def not_recorded(comparison: Comparison) -> str:
    """Return what of the schedule was assumed, since the trace's source does not say it."""
    when = "when and " if comparison.assumed is Assumed.STARTS else ""
    return f"{when}on which CPU each dispatch ran"


def about_unmanaged(comparison: Comparison) -> str:
    """Return what tasks without a fragment do to caches, and what else could be assumed."""
    if comparison.model.unmanaged == "evict":
        return "tasks without a fragment evict"
    said = "tasks without a fragment leave the caches as they are"
    # A matrix has no type for them, so they cannot evict there.
    can_evict = not isinstance(comparison.model.penalty, PenaltyMatrix)
    if can_evict and comparison.unlabelled_share > MUCH_UNLABELLED:
        said += ": with --unmanaged evict more would count"
    return said
