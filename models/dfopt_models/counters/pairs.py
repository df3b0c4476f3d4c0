"""What a dispatch pays for what ran before it: instructions per cycle by pairs of task types.

A long dispatch leaves another cache behind than a short one. So the dispatches of a thread type
may be two task types, such as ``PHP`` and ``long PHP``.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from dfopt_models.counters.model import AfterType, CountedType, CountersModel
from dfopt_models.counters.samples import NOBODY, CountedDispatches, Floats, Integers
from dfopt_models.errors import ModelError

LEAST_SAMPLES = 30
"""A mean over fewer dispatches is not given."""

RESAMPLES = 200
"""Times that the dispatches of a pair are drawn anew for its standard error."""

MOST_DRAWN = 2_000
"""Pairs with more dispatches are divided into this number of parts, which are drawn anew."""

LONGEST_SERIES = 5
"""Series of a type with at least this number of predecessors count as one."""


class Mean(StrEnum):
    """How instructions per cycle are averaged."""

    TOTAL = "total"
    DISPATCHES = "dispatches"


def long_threshold(dispatches: CountedDispatches) -> int:
    """Return the slice length that explains best how fast the next dispatch of another type is.

    Of all thresholds tried, it leaves the least variance of instructions per cycle, relative to
    the mean of the type, within the dispatches after a short and after a long other type.

    Returns
    -------
    int
        A length in nanoseconds. Dispatches that ran at least this long are long.
    """
    ipc = dispatches.ipc.copy()
    for kind in np.unique(dispatches.type):
        ipc[dispatches.type == kind] /= ipc[dispatches.type == kind].mean()
    after_other = (
        (dispatches.previous_type != NOBODY)
        & (dispatches.predecessors == 0)
        & (dispatches.previous_length > 0)
    )
    lengths, ipc = dispatches.previous_length[after_other], ipc[after_other]
    if len(ipc) < LEAST_SAMPLES:
        return int(dispatches.length.max()) + 1
    order = np.argsort(lengths, kind="stable")
    lengths, ipc = lengths[order], ipc[order]
    # Split before each place: the variance between both sides, from running sums.
    places = np.flatnonzero(lengths[1:] > lengths[:-1]) + 1
    if not len(places):
        return int(dispatches.length.max()) + 1
    sums = np.concatenate([[0.0], np.cumsum(ipc)])
    below, above = sums[places], sums[-1] - sums[places]
    between = below**2 / places + above**2 / (len(ipc) - places)
    return int(lengths[places[int(np.argmax(between))]])


def task_types(dispatches: CountedDispatches, long_ns: int) -> tuple[tuple[str, ...], Integers]:
    """Return the names of the task types, and for each dispatch the place of its own.

    A thread type is divided into a short and a long one if both have :data:`LEAST_SAMPLES`.
    """
    is_long = dispatches.length >= long_ns
    names: list[str] = []
    codes = np.zeros(len(dispatches), dtype=np.int64)
    for kind in np.unique(dispatches.type):
        own = dispatches.type == kind
        name = dispatches.samples.types[kind]
        codes[own] = len(names)
        names.append(name)
        long_ones = own & is_long
        if LEAST_SAMPLES <= long_ones.sum() <= own.sum() - LEAST_SAMPLES:
            codes[long_ones] = len(names)
            names.append(f"long {name}")
    return tuple(names), codes


def counters_model(
    dispatches: CountedDispatches,
    *,
    long_ns: int,
    name: str,
    mean: Mean = Mean.TOTAL,
    seed: int = 0,
) -> CountersModel:
    """Return what samples say of each task type and of each pair.

    Parameters
    ----------
    dispatches
        The dispatches.
    long_ns
        Dispatches of at least this length are long, nanoseconds.
    name
        The model's name.
    mean
        How instructions per cycle are averaged. For the time that is lost the total is right.
    seed
        Of the draws for standard errors.

    Raises
    ------
    ModelError
        When no task type has :data:`LEAST_SAMPLES` dispatches.
    """
    names, codes = task_types(dispatches, long_ns)
    previous = _previous_task_types(dispatches, names, long_ns)
    generator = np.random.default_rng(seed)
    types = []
    for task_type, task_name in enumerate(names):
        own = codes == task_type
        if own.sum() < LEAST_SAMPLES:
            continue
        cells = []
        for before, before_name in enumerate(names):
            pair = np.flatnonzero(own & (previous == before))
            if len(pair) >= LEAST_SAMPLES:
                ipc, error = _mean_and_error(dispatches, pair, mean, generator)
                cells.append(
                    AfterType(type=before_name, ipc=ipc, dispatches=len(pair), standard_error=error)
                )
        series = np.minimum(dispatches.predecessors, LONGEST_SERIES)
        candidates = [cell.ipc for cell in cells] + [
            _mean(dispatches, chosen, mean)
            for length in range(1, LONGEST_SERIES + 1)
            if len(chosen := np.flatnonzero(own & (series == length))) >= LEAST_SAMPLES
        ]
        best = max(candidates, default=_mean(dispatches, np.flatnonzero(own), mean))
        types.append(
            CountedType(
                name=task_name,
                dispatches=int(own.sum()),
                best_ipc=best,
                best_dispatch=float(
                    dispatches.instructions[own].mean() / (best * dispatches.clock_ghz)
                ),
                after=tuple(cells),
            )
        )
    if not types:
        raise ModelError(
            f"no thread type has {LEAST_SAMPLES} dispatches; record for longer, or merge types"
        )
    return CountersModel(name=name, types=tuple(types))


def _previous_task_types(
    dispatches: CountedDispatches, names: tuple[str, ...], long_ns: int
) -> Integers:
    """Return the task type of what ran before each dispatch; :data:`NOBODY` if that is unknown."""
    places = {name: place for place, name in enumerate(names)}
    result = np.full(len(dispatches), NOBODY, dtype=np.int64)
    for kind, name in enumerate(dispatches.samples.types):
        after = dispatches.previous_type == kind
        result[after] = places.get(name, NOBODY)
        if f"long {name}" in places:
            result[after & (dispatches.previous_length >= long_ns)] = places[f"long {name}"]
            result[after & (dispatches.previous_length == 0)] = NOBODY
    return result


def _mean(dispatches: CountedDispatches, chosen: NDArray[np.int64], mean: Mean) -> float:
    if mean is Mean.DISPATCHES:
        return float(dispatches.ipc[chosen].mean())
    return float(dispatches.instructions[chosen].sum() / dispatches.cycles[chosen].sum())


def _mean_and_error(
    dispatches: CountedDispatches,
    chosen: NDArray[np.int64],
    mean: Mean,
    generator: np.random.Generator,
) -> tuple[float, float]:
    """Return the mean over a pair's dispatches, and its standard error by the bootstrap."""
    if mean is Mean.DISPATCHES:
        above, below = dispatches.ipc[chosen], np.ones(len(chosen))
    else:
        above, below = dispatches.instructions[chosen], dispatches.cycles[chosen]
    # Sums over parts of equal size stand for their dispatches where there are very many.
    parts = min(len(chosen), MOST_DRAWN)
    edges = np.arange(parts) * len(chosen) // parts
    sums: tuple[Floats, Floats] = (np.add.reduceat(above, edges), np.add.reduceat(below, edges))
    drawn = generator.integers(parts, size=(RESAMPLES, parts))
    means = sums[0][drawn].sum(axis=1) / sums[1][drawn].sum(axis=1)
    return float(above.sum() / below.sum()), float(means.std(ddof=1))
