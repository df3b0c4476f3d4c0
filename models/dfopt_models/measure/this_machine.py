"""The machine at hand: passes over lines in machine code, and moves by the scheduler's interface.

No privileges are needed. Lines are read by loops of the core. The thread is bound to one CPU,
and moves by being bound to another one. The kernel counts how often it lost its CPU.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from pathlib import Path

import numpy as np

from dfopt.errors import DfoptError
from dfopt.native import lines as passes
from dfopt.native.lines import BLOCK
from dfopt_models.measure.machine import LINE, WORDS, AccessOrder, FlushLevel, TimedPass, TimedSlice

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

PAGE_LINES = 64
"""Lines of a page: a random order stays within a page until it is read, to spare the TLB."""

STRETCH_PAGES = 64
"""Pages of a stretch, within which a random order stays too: what walks through tables of pages
cost is then the same for few lines and for many."""

CACHES = Path("/sys/devices/system/cpu")

SWEEPS, MEMORY_SWEEPS = 8, 2
"""A sweep reads this number of times the cache before the level; the last cache is large."""

SETS = 4
"""A set at a level has this number of times the lines of the cache before it."""

SIZES = {"K": 1024, "M": 1024**2, "G": 1024**3}

Chain = np.ndarray[tuple[int], np.dtype[np.int64]]
"""Words, eight of which are a line."""


class ThisMachine:
    """The machine at hand, as :class:`~dfopt_models.measure.machine.Processor`.

    Parameters
    ----------
    seed
        Of the random orders.

    Raises
    ------
    DfoptError
        When the system does not tell the sizes of the caches.
    """

    def __init__(self, seed: int = 0) -> None:
        self._cpus = sorted(os.sched_getaffinity(0))
        sizes = cache_sizes(self._cpus[0])
        self._draws = np.random.default_rng(seed)
        self.has_other_cpu = len(self._cpus) > 1
        self.cache_lines = sizes[-2] // LINE if len(sizes) > 1 else sizes[-1] // LINE
        before = [size // LINE for size in sizes[1:]] or [sizes[0] // LINE]
        names = [f"L{number}" for number in range(3, len(sizes) + 1)] + ["memory"]
        self.levels = tuple(
            FlushLevel(
                name=name,
                sweep=(MEMORY_SWEEPS if name == "memory" else SWEEPS) * lines,
                set_size=SETS * lines,
                has_random_flush=name != "memory",
            )
            for name, lines in zip(names, before, strict=False)
        )
        most = max(level.sweep for level in self.levels)
        self._others = np.ones(most * WORDS, np.int64)
        self._victim, self._set = cache(self._chain), cache(self._chain)
        self._reached: defaultdict[int, int] = defaultdict(int)
        self._unit = cache(self._new_unit)
        self._at = 0
        self._bind()

    def close(self) -> None:
        """Let the thread run on all CPUs again."""
        os.sched_setaffinity(0, self._cpus)

    def read(self, lines: int, order: AccessOrder) -> TimedPass:
        """Read the first lines of the victim once."""
        victim = self._victim(lines)
        if order is AccessOrder.RANDOM:
            return _timed(lambda: passes.chase(victim, 0, lines))
        return _timed(lambda: passes.read_in_order(victim, lines))

    def write(self, lines: int) -> TimedPass:
        """Change the first lines of the victim."""
        victim = self._victim(lines)
        return _timed(lambda: passes.change(victim, 0, lines, 1))

    def sweep(self, lines: int) -> TimedPass:
        """Read this number of other lines, in the order of their addresses."""
        return _timed(lambda: passes.read_in_order(self._others, lines))

    def chase(self, set_size: int, lines: int) -> TimedPass:
        """Read lines of a set in random order, from where the last such pass ended."""
        chain = self._set(set_size)

        def follow() -> None:
            start = self._reached[set_size]
            self._reached[set_size] = passes.chase(chain, start, lines)

        return _timed(follow)

    def move(self) -> TimedPass:
        """Go on on the other CPU."""
        self._at = 1 - self._at
        return _timed(self._bind)

    def work(self, kernel: str, units: int) -> TimedSlice:
        """Go on with a kernel for some units."""
        unit = self._unit(kernel)
        ends = np.zeros(units + 1, np.int64)
        clock = time.perf_counter_ns
        lost = _times_lost()
        ends[0] = clock()
        for position in range(1, units + 1):
            unit()
            ends[position] = clock()
        is_interrupted = _times_lost() > lost
        return TimedSlice(np.diff(ends).tolist(), is_interrupted)

    def switch(self, times: int) -> TimedPass:
        """Let two processes on this CPU wake each other, until it changed hands this often.

        What the pipes take without another process is subtracted.
        """
        rounds = times // 2
        here, there = os.pipe(), os.pipe()
        command = [sys.executable, "-S", "-c", PARTNER, str(here[0]), str(there[1]), str(rounds)]

        def pass_on(times: int, answers: int) -> None:
            for _ in range(times):
                os.write(here[1], b".")
                os.read(answers, 1)

        with subprocess.Popen(command, pass_fds=(here[0], there[1])):
            os.read(there[0], 1)
            switched = _timed(lambda: pass_on(rounds, there[0]))
        alone = _timed(lambda: pass_on(times, here[0]))
        for end in (*here, *there):
            os.close(end)
        return TimedPass(
            max(0, switched.nanoseconds - alone.nanoseconds),
            switched.is_interrupted or alone.is_interrupted,
        )

    @property
    def cpu(self) -> int:
        """The number of the CPU that the thread is bound to."""
        return self._cpus[self._at]

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Leave the CPU to others for the block, where there is another one."""
        if self.has_other_cpu:
            os.sched_setaffinity(0, {self._cpus[1 - self._at]})
        try:
            yield
        finally:
            self._bind()

    def _bind(self) -> None:
        os.sched_setaffinity(0, {self._cpus[self._at]})

    def _chain(self, lines: int) -> Chain:
        """Return lines, each of which says in its first word where the next one begins."""
        stretches = self._shuffled(np.arange(lines), STRETCH_PAGES * PAGE_LINES)
        pages = [page for stretch in stretches for page in self._shuffled(stretch, PAGE_LINES)]
        for page in pages:
            self._draws.shuffle(page)
        order = np.concatenate(pages)
        chain = np.zeros(lines * WORDS, np.int64)
        chain[order * WORDS] = np.roll(order, -1) * WORDS
        return chain

    def _shuffled(self, numbers: Chain, length: int) -> list[Chain]:
        """Return parts of this length, in random order."""
        parts = [numbers[first : first + length] for first in range(0, len(numbers), length)]
        self._draws.shuffle(parts)
        return parts

    def _new_unit(self, kernel: str) -> Callable[[], object]:
        """Return what does one unit of a kernel."""
        if kernel == "chase":
            lines = self.cache_lines // 2
            chain = self._chain(lines)
            return lambda: passes.chase_and_change(chain, 0, lines)
        if kernel == "stream":
            words = np.zeros(4 * self.cache_lines * WORDS, np.int64)
            parts = len(words) // WORDS // STREAM_LINES
            part = cycle(range(parts))
            return lambda: passes.change(words, next(part) * STREAM_LINES, STREAM_LINES, 0)
        if kernel == "product":
            bytes_of_matrix = PRODUCT_SHARE * self.cache_lines * LINE / 3
            size = max(BLOCK, int((bytes_of_matrix / 8) ** 0.5) // BLOCK * BLOCK)
            left, right, product = (np.full(size * size, 1e-3) for _ in range(3))
            step = cycle(range((size // BLOCK) ** 3))
            return lambda: passes.multiply_block(left, right, product, size, next(step))
        return lambda: None


def cache_sizes(cpu: int, folder: Path = CACHES) -> list[int]:
    """Return the bytes of a CPU's caches of data, by level.

    Raises
    ------
    DfoptError
        When the system does not tell them.
    """
    sizes: dict[int, int] = {}
    for index in sorted((folder / f"cpu{cpu}" / "cache").glob("index*")):
        try:
            content = (index / "type").read_text().strip()
            level = int((index / "level").read_text())
            found = re.fullmatch(r"(\d+)([KMG])", (index / "size").read_text().strip())
        except (OSError, ValueError):
            continue
        if found and content in ("Data", "Unified"):
            sizes[level] = int(found[1]) * SIZES[found[2]]
    if not sizes:
        raise DfoptError(
            f"the system does not tell the sizes of its caches ({folder}/cpu{cpu}/cache), so that "
            "none can be measured; measure on another machine"
        )
    return [sizes[level] for level in sorted(sizes)]


def conditions() -> dict[str, str | float]:
    """Return what may disturb a measurement: the CPU, its governor, the load, and the time."""
    found = re.search(r"^model name\s*:\s*(.*)$", _text(Path("/proc/cpuinfo")), re.MULTILINE)
    governor = _text(CACHES / "cpu0" / "cpufreq" / "scaling_governor").strip()
    return {
        "cpu": found[1] if found else "unknown",
        "governor": governor or "unknown",
        "load": round(os.getloadavg()[0], 2),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _timed(act: Callable[[], object]) -> TimedPass:
    lost = _times_lost()
    start = time.perf_counter_ns()
    act()
    spent = time.perf_counter_ns() - start
    return TimedPass(spent, _times_lost() > lost)


def _times_lost() -> int:
    """Return how often the thread lost its CPU against its will."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
