"""Kernels on a CPU of the machine at hand, as :class:`~dfopt_models.measure.slices.Processor`."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from dfopt_models.measure.memory import TimedPass
from dfopt_models.measure.slices import TimedSlice
from dfopt_models.measure.this_machine import WORDS, ThisMachine

KERNELS = {
    "chase": "follow a chain through half of the cache, and change each line",
    "product": "multiply matrices that fill three quarters of the cache, block by block",
    "stream": "change lines one after another, four times as many as the cache holds",
    "nothing": "do nothing; what a unit takes by itself",
}
"""The kernels by their names, and what they do."""

STREAM_LINES = 1024
"""Lines of a unit of ``stream``."""

PRODUCT_SHARE = 0.75
"""Of the cache, which the three matrices of ``product`` fill at most."""

PARTNER = """
import os, sys
read, write, times = map(int, sys.argv[1:])
os.write(write, b".")
for _ in range(times):
    os.read(read, 1)
    os.write(write, b".")
"""
"""A process that answers; first it says that it is there."""


class ThisProcessor(ThisMachine):
    """The machine at hand with kernels.

    Parameters
    ----------
    seed
        Of the random orders.
    """

    kernels = tuple(KERNELS)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._units: dict[str, Callable[[], object]] = {}

    def work(self, kernel: str, units: int) -> TimedSlice:
        """Go on with a kernel for some units."""
        unit = self._units.get(kernel)
        if unit is None:
            unit = self._units[kernel] = self._unit(kernel)
        ends = np.zeros(units + 1, np.int64)
        clock = time.perf_counter_ns
        lost = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
        ends[0] = clock()
        for position in range(1, units + 1):
            unit()
            ends[position] = clock()
        is_interrupted = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw > lost
        return TimedSlice(np.diff(ends).tolist(), is_interrupted)

    def switch(self, times: int) -> TimedPass:
        """Let two processes on this CPU wake each other, until it changed hands this often.

        What the pipes take without another process is subtracted.
        """
        rounds = times // 2
        here, there = os.pipe(), os.pipe()
        command = [sys.executable, "-S", "-c", PARTNER, str(here[0]), str(there[1]), str(rounds)]
        with subprocess.Popen(command, pass_fds=(here[0], there[1])):
            os.read(there[0], 1)
            lost = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
            start = time.perf_counter_ns()
            for _ in range(rounds):
                os.write(here[1], b".")
                os.read(there[0], 1)
            spent = time.perf_counter_ns() - start
        start = time.perf_counter_ns()
        for _ in range(times):
            os.write(here[1], b".")
            os.read(here[0], 1)
        spent -= time.perf_counter_ns() - start
        is_interrupted = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw > lost
        for end in (*here, *there):
            os.close(end)
        return TimedPass(max(0, spent), is_interrupted)

    def _unit(self, kernel: str) -> Callable[[], object]:
        """Return what does one unit of a kernel."""
        from dfopt_models.measure.workloads import (
            BLOCK,
            chase_and_change,
            multiply_block,
            stream,
        )

        if kernel == "chase":
            lines = self.cache_lines // 2
            chain = self._chain(lines)
            return lambda: chase_and_change(chain, 0, lines)
        if kernel == "stream":
            words = np.zeros(4 * self.cache_lines * WORDS, np.int64)
            parts = len(words) // WORDS // STREAM_LINES
            part = iter_round(parts)
            return lambda: stream(words, next(part) * STREAM_LINES, STREAM_LINES)
        if kernel == "product":
            bytes_of_matrix = PRODUCT_SHARE * self.cache_lines * WORDS * 8 / 3
            size = max(BLOCK, int((bytes_of_matrix / 8) ** 0.5) // BLOCK * BLOCK)
            left, right, product = (np.full(size * size, 1e-3) for _ in range(3))
            step = iter_round((size // BLOCK) ** 3)
            return lambda: multiply_block(left, right, product, size, next(step))
        return lambda: None


def iter_round(length: int) -> Iterator[int]:
    """Yield 0 to length - 1 for ever."""
    while True:
        yield from range(length)
