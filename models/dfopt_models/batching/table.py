"""Gains, batches and waiting of a whole model: the rows of the command and their document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dfopt.files.formats import Format
from dfopt.structs import replace
from dfopt.table import Table, Uncertain, columns, facts, table_of
from dfopt_models.batching.model import BatchChoice, BatchingModel, choice, choices, pareto
from dfopt_models.batching.touched_lines import model_that_is_quick, simulated_misses

MOST_LENGTH = 16
"""Longer processes are not counted line by line: they repeat what shorter ones do."""

MOST_PASSES = 64
"""Batches of the Pareto curve have at most this many passes in a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GainRow:
    """A granularity.

    Parameters
    ----------
    granularity
        Integers of a thread.
    footprint
        Lines that a thread touches in a pass.
    largest_batch
        The largest batch that fits into the cache.
    batch_lines
        Lines that a batch of MAXBSIZE touches.
    gains
        By process length: how many times as fast batches are.
    limit
        The same for processes without end.
    """

    granularity: int
    footprint: float
    largest_batch: int
    batch_lines: float
    gains: tuple[float, ...]
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedMisses:
    """Lines missed in a dispatch, by the model and counted one by one.

    Parameters
    ----------
    granularity, length
        Integers and passes of a thread.
    model, counted
        In batches.
    model_without, counted_without
        In one circular queue.
    """

    granularity: int
    length: int
    model: float
    counted: float
    model_without: float
    counted_without: float


def gain_table(model: BatchingModel) -> tuple[GainRow, ...]:
    """Return a row for each granularity of the model."""
    return tuple(
        GainRow(
            granularity=granularity,
            footprint=model.footprint(granularity),
            largest_batch=model.largest_batch(granularity),
            batch_lines=model.max_batch_size * model.footprint(granularity),
            gains=tuple(model.gain(granularity, length) for length in model.lengths),
            limit=model.limit(granularity),
        )
        for granularity in model.granularities
    )


def pareto_table(model: BatchingModel, granularity: int) -> tuple[BatchChoice, ...]:
    """Return the choices of batches that no other one beats: powers of two.

    Only the number of passes in a turn, MAXBCOUNT/MAXBSIZE, decides how much is missed. So more
    passes are the only way to miss less, and a batch is as large as fits into the cache.
    """
    largest = min(model.largest_batch(granularity), model.threads(granularity))
    batches = _powers(max(1, largest))
    return pareto(choices(model, granularity, batches, _powers(MOST_PASSES)))


def counted_misses(model: BatchingModel) -> tuple[CountedMisses, ...]:
    """Return what the model says of misses, beside what is counted line by line.

    Array and cache are smaller by the same factor as long as a batch fits, so that counting is
    quick. Processes of more than :data:`MOST_LENGTH` passes are left out.
    """
    rows = []
    for granularity in model.granularities:
        quick = model_that_is_quick(model, granularity)
        lines = quick.footprint(granularity)
        for length in model.lengths:
            if length <= MOST_LENGTH:
                rows.append(
                    CountedMisses(
                        granularity=granularity,
                        length=length,
                        model=lines * quick.read_with_batches(granularity, length),
                        counted=simulated_misses(quick, granularity, length, batches=True),
                        model_without=lines * quick.read_without_batches(granularity, length),
                        counted_without=simulated_misses(quick, granularity, length, batches=False),
                    )
                )
    return tuple(rows)


def batching_document(
    model: BatchingModel,
    rows: Sequence[GainRow],
    curve: Sequence[BatchChoice],
    granularity: int,
    counted: Sequence[CountedMisses] = (),
) -> dict[str, Any]:
    """Return all of it as a document of the format ``dfopt-batching/1``."""
    document: dict[str, Any] = {
        "format": Format.BATCHING,
        "model": model.name,
        "assumed": list(model.assumed),
        "lengths": list(model.lengths),
        "gains": [
            {
                "granularity": row.granularity,
                "footprint_lines": row.footprint,
                "largest_batch": row.largest_batch,
                "batch_lines": row.batch_lines,
                "gains": list(row.gains),
                "limit": row.limit,
            }
            for row in rows
        ],
        "flat_next_line": model.flat_next_line,
        "pareto": {
            "granularity": granularity,
            "choices": [_chosen(each) for each in curve],
            "own": _chosen(own_choice(model, granularity)),
        },
    }
    if counted:
        document["counted"] = [
            {
                "granularity": row.granularity,
                "length": row.length,
                "misses": row.model,
                "counted": row.counted,
                "misses_without_batches": row.model_without,
                "counted_without_batches": row.counted_without,
            }
            for row in counted
        ]
    return document


def own_choice(model: BatchingModel, granularity: int) -> BatchChoice:
    """Return what the model's own MAXBSIZE and MAXBCOUNT mean."""
    return choice(model, granularity, model.max_batch_size, model.max_batch_count)


def _chosen(each: BatchChoice) -> dict[str, Any]:
    return {
        "max_batch_size": each.batch,
        "max_batch_count": each.dispatches,
        "misses": each.misses,
        "waiting": each.waiting,
        "dispatch": each.cost,
    }


def _powers(most: int) -> list[int]:
    return [2**power for power in range(most.bit_length()) if 2**power <= most]


PARAMETERS = {
    "cache_lines": "cache [lines]",
    "integers_of_a_line": "a line [integers]",
    "array_size": "array [integers]",
    "max_batch_size": "MAXBSIZE [threads]",
    "max_batch_count": "MAXBCOUNT [dispatches]",
    "own_lines": "own lines",
    "switch": "switch [ns]",
    "increment": "increment [ns]",
    "miss": "miss [ns]",
    "next_line": "next line [ns]",
    "creation": "creation [ns]",
    "batch_switch": "batch switch [ns]",
}
"""What the parameters are called in tables."""


def batching_tables(
    model: BatchingModel,
    rows: Sequence[GainRow],
    curve: Sequence[BatchChoice],
    granularity: int,
    counted: Sequence[CountedMisses] = (),
) -> list[Table]:
    """Return all of it as tables."""
    parameters = facts({
        shown: Uncertain(getattr(model, name), assumed=name in model.assumed)
        for name, shown in PARAMETERS.items()
    })  # fmt: skip
    notes = ["~: assumed"] if model.assumed else []
    own = own_choice(model, granularity)
    gains = columns("GRANULARITY", *(f"{length:,} :.3f" for length in model.lengths), "limit :.3f")
    tables = [
        replace(parameters, title=model.name, notes=notes),
        Table(
            "Gain by PROCESS_LENGTH",
            gains,
            [(row.granularity, *row.gains, row.limit) for row in rows],
            [
                "gain: how many times as fast batches are as one circular queue",
                "limit: the gain of processes without end; it would be the same at every "
                f"GRANULARITY if the next line took {model.flat_next_line:.1f} ns",
            ],
        ),
        table_of(
            "Batches and the cache",
            rows,
            {
                "granularity": "GRANULARITY",
                "footprint": "lines of a thread",
                "largest_batch": "largest batch that fits",
                "batch_lines": "lines of MAXBSIZE :,.0f",
            },
        ),
        table_of(
            f"Batches that no other ones beat, GRANULARITY {granularity:,}; the last as it is",
            (*curve, own),
            {
                "batch": "MAXBSIZE",
                "dispatches": "MAXBCOUNT",
                "misses": "missed lines a dispatch",
                "waiting": "waits [ns] :time",
                "cost": "a dispatch [ns] :time",
            },
            ["waits: for which a batch waits for its next turn, processes without end"],
        ),
        table_of(
            "Missed lines a dispatch, and counted line by line",
            counted,
            {
                "granularity": "GRANULARITY",
                "length": "PROCESS_LENGTH",
                "model": "in batches :.4f",
                "counted": "counted :.4f",
                "model_without": "without :.4f",
                "counted_without": "counted :.4f",
            },
        ),
    ]
    return [table for table in tables if table.rows]
