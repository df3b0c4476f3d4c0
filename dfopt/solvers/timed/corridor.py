"""A neighbourhood of a schedule: all in which no task passes another one that is far away.

The tasks of a schedule stand in a list in the order of their starts. In a neighbour a task may
come before another one only if it is less than ``reach`` places behind it in this list. There are
exponentially many neighbours, and layers of partial schedules find the best of them, because
only few sets of tasks can come first (for tours: Balas and Simonetti 2001).
"""

from __future__ import annotations

import numpy as np

from dfopt.solvers.timed.tables import Integers, TimedTables


def corridor(tables: TimedTables, order: Integers, reach: int) -> TimedTables:
    """Return the tables of an instance where only neighbours of a list of all tasks are left.

    Bounds that follow from them hold among the neighbours alone.
    """
    place = np.argsort(order)
    is_far = place[:, None] - place[None, :] >= reach
    return tables._replace(earlier=tables.earlier | is_far)
