"""A wave front through a table: dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt_models.space_sharing.structures.graph_program import GraphProgram
from dfopt_models.space_sharing.structures.phases import Draws


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveFront:
    """A thread for each cell of a table, which waits for the cells above and to the left.

    The parallelism slowly grows, then slowly falls.

    Parameters
    ----------
    work
        Of all threads together, in processor-seconds, on average.
    rows, columns
        Of the table.
    variation
        Coefficient of variation of the threads' work.
    """

    work: float
    rows: int
    columns: int
    variation: float

    @property
    def most_parallel(self) -> int:
        """Most threads that can run at any time: those of a diagonal."""
        return min(self.rows, self.columns)

    def program(self, seed: int) -> GraphProgram:
        """Return the threads of one run."""
        cells = self.rows * self.columns
        successors = []
        predecessors = []
        for row in range(self.rows):
            for column in range(self.columns):
                cell = row * self.columns + column
                right = (cell + 1,) if column + 1 < self.columns else ()
                below = (cell + self.columns,) if row + 1 < self.rows else ()
                successors.append(right + below)
                predecessors.append((row > 0) + (column > 0))
        seconds = Draws(seed).seconds(cells, self.work / cells, self.variation)
        return GraphProgram(seconds, successors, predecessors)
