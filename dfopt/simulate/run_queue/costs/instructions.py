"""A matrix penalty from instructions per cycle."""

from __future__ import annotations

from collections.abc import Sequence

from dfopt.errors import InstanceError
from dfopt.problem.penalties import PenaltyMatrix


def penalty_from_ipc(
    types: Sequence[str], ipc: Sequence[Sequence[float]], work: Sequence[float]
) -> PenaltyMatrix:
    """Return what it costs to run one type after another, from their instructions per cycle.

    ``switch[i][j]`` = (1 / ``ipc[i][j]`` − 1 / best of column j) · ``work[j]``, where the best is
    the greatest ``ipc[i][j]`` over all i: a dispatch after the best predecessor costs nothing.

    Parameters
    ----------
    types
        Names.
    ipc
        Row = type of the thread before, column = type of the thread that runs; more than 0, in
        any unit that is the same within a column.
    work
        By type: the mean instructions of a dispatch, times the time of a cycle; with relative IPC
        it is the mean time of a dispatch, times its relative IPC.

    Raises
    ------
    InstanceError
        When the table is not square, or an IPC is not positive.

    References
    ----------
    Ziemba, Upadhyaya and Pai, *Analyzing the effectiveness of multicore scheduling using
    performance counters*: IPC by predecessor (its Figure 8).
    """
    if len(ipc) != len(types) or any(len(row) != len(types) for row in ipc):
        raise InstanceError(f"needs {len(types)} rows and columns, one per type", place="ipc")
    if any(value <= 0 for row in ipc for value in row):
        raise InstanceError("must be more than 0 everywhere", place="ipc")
    best = [max(column) for column in zip(*ipc, strict=True)]
    return PenaltyMatrix(
        types=tuple(types),
        switch=tuple(
            tuple(
                round((1 / value - 1 / best[column]) * work[column])
                for column, value in enumerate(row)
            )
            for row in ipc
        ),
    )
