"""An instance whose task types cost each other what counters said."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyMatrix
from dfopt_models.counters.model import CountersModel
from dfopt_models.errors import ModelError


def counters_instance(
    model: CountersModel,
    *,
    tasks: int,
    cpus: int,
    objective: Objective = Objective.MAX_PENALTY,
    resolution: int = 1,
) -> Instance:
    """Return an instance whose task types cost each other what was measured.

    Parameters
    ----------
    model
        The model.
    tasks
        Their number; each type gets the share of its dispatches, rounded to a whole number.
    cpus
        The number of CPUs.
    objective
        What is minimised.
    resolution
        Penalties are rounded to multiples of this, nanoseconds.

    Raises
    ------
    ModelError
        When a penalty is not known.
    """
    if model.unknown_pairs:
        before, after = model.unknown_pairs[0]
        raise ModelError(
            f"{len(model.unknown_pairs)} of {len(model.types) ** 2} penalties are unknown, such as "
            f"that of {after!r} after {before!r}; add them to a file of the model"
        )
    names = [task_type.name for task_type in model.types]
    switch = tuple(
        tuple(_rounded(after.penalty(before), resolution) for after in model.types)
        for before in names
    )
    counts = _apportioned([task_type.dispatches for task_type in model.types], tasks)
    return Instance(
        cpus=cpus,
        penalty=PenaltyMatrix(types=tuple(names), switch=switch),
        objective=objective,
        tasks=tuple(
            Task(id=name, type=name, count=count)
            for name, count in zip(names, counts, strict=True)
            if count
        ),
        name=model.name,
        time_unit="ns",
    )


def _rounded(penalty: float | None, resolution: int) -> int:
    assert penalty is not None
    return resolution * round(max(0.0, penalty) / resolution)


def _apportioned(shares: Sequence[float], total: int) -> list[int]:
    """Return whole numbers in proportion to shares, by largest remainders."""
    whole = sum(shares)
    exact = [share * total / whole for share in shares]
    counts = [int(value) for value in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: counts[place] - exact[place])
    for place in by_remainder[: total - sum(counts)]:
        counts[place] += 1
    return counts
