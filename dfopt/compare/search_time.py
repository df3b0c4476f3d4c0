"""The time that solvers may take for the windows that quick schedules leave open."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

SECONDS_PER_WINDOW = 2.0
"""How long they may search for the best of one window."""


class SearchTime:
    """What is left of it.

    Parameters
    ----------
    seconds
        For all windows together.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds_left = seconds

    @property
    def is_over(self) -> bool:
        """Whether none is left."""
        return self._seconds_left <= 0

    def spent(self, search: Callable[[float], Answer]) -> Answer:
        """Return what a search finds that is told how long it may take.

        Only searches are charged, so that what is found hardly depends on how busy we are.
        """
        began = time.monotonic()
        answer = search(min(SECONDS_PER_WINDOW, self._seconds_left))
        self._seconds_left -= time.monotonic() - began
        return answer
