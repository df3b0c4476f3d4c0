"""The costs under which a trace is compared, in words."""

from __future__ import annotations

from dfopt.compare.cost_model import CostModel
from dfopt.problem.penalties import PenaltyG, PenaltyMatrix
from dfopt.render import counted

MUCH_UNLABELLED = 0.2
"""From this share of the run time without a fragment on, what its tasks do to caches matters."""


def cost_words(model: CostModel) -> str:
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


def capacity_words(model: CostModel) -> str:
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


def unmanaged_words(model: CostModel, unlabelled: float) -> str:
    """Return what tasks without a fragment do to caches, and what else could be assumed.

    ``unlabelled`` is their share of the run time.
    """
    if model.unmanaged == "evict":
        return "tasks without a fragment evict"
    said = "tasks without a fragment leave the caches as they are"
    # A matrix has no type for them, so they cannot evict there.
    if not isinstance(model.penalty, PenaltyMatrix) and unlabelled > MUCH_UNLABELLED:
        said += ": with `unmanaged=evict` more would count"
    return said
