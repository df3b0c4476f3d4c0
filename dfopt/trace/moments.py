"""Moments of tasks, to be found by task and time."""

from __future__ import annotations

import numpy as np

from dfopt.trace.events import Integers, Numbers


class Moments:
    """Moments of tasks, ordered by task and time.

    Parameters
    ----------
    task, time
        Of each moment, in any order.

    Attributes
    ----------
    order
        The numbers of the moments, ordered by task and time, and then as they were given.
    task, time
        Of each moment in this order.
    """

    def __init__(self, task: Numbers, time: Integers) -> None:
        self.order = np.lexsort((time, task))
        self.task, self.time = task[self.order], time[self.order]
        # Task and time together are one number. Of a time, only its rank matters.
        self._times = np.unique(time)
        self._keys = self._key(self.task, np.searchsorted(self._times, self.time))

    def _key(self, task: Numbers, rank: Integers) -> Integers:
        return task * np.int64(len(self._times) + 1) + rank

    def first(self, task: Numbers) -> Integers:
        """Return the place of each task's first moment, or of the next task's."""
        return np.searchsorted(self.task, task)

    def since(self, task: Numbers, time: Integers) -> Integers:
        """Return the place of each task's first moment not before a time, or of the next task's."""
        return np.searchsorted(self._keys, self._key(task, np.searchsorted(self._times, time)))

    def after(self, task: Numbers, time: Integers) -> Integers:
        """Return the place of each task's first moment after a time, or of the next task's."""
        rank = np.searchsorted(self._times, time, "right")
        return np.searchsorted(self._keys, self._key(task, rank))

    def following(self, task: Numbers, time: Integers) -> Integers:
        """Return the number of each task's first moment not before a time; -1 if there is none."""
        place = self.since(task, time)
        is_there = np.append(self.task, -1)[place] == task
        return np.where(is_there & (place < len(self.task)), np.append(self.order, -1)[place], -1)

    def count(self, task: Numbers, time: Integers) -> Integers:
        """Return how many moments of each task have come by a time."""
        if not len(self.task):  # as in most recordings; long columns need not be searched for
            return np.zeros(len(task), np.int64)
        return self.after(task, time) - self.first(task)
