"""The machine at hand: passes over lines in machine code, and moves by the scheduler's interface.

No privileges are needed. Lines are read by loops in machine code. The thread is bound to one CPU,
and moves by being bound to another one. The kernel counts how often it lost its CPU.
"""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dfopt.errors import DfoptError
from dfopt_models.measure.memory import AccessOrder, FlushLevel, TimedPass

LINE = 64
"""Bytes of a line."""

WORDS = LINE // 8
"""Words of a line."""

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
    """The machine at hand, as :class:`~dfopt_models.measure.memory.Memory`.

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
        self._victims: dict[int, Chain] = {}
        self._sets: dict[int, Chain] = {}
        self._reached: dict[int, int] = {}
        self._at = 0
        self._bind()

    def close(self) -> None:
        """Let the thread run on all CPUs again."""
        os.sched_setaffinity(0, self._cpus)

    def read(self, lines: int, order: AccessOrder) -> TimedPass:
        """Read the first lines of the victim once."""
        from dfopt_models.measure.kernels import chase, read_in_order

        victim = self._victim(lines)
        if order is AccessOrder.RANDOM:
            return _timed(lambda: chase(victim, 0, lines))
        return _timed(lambda: read_in_order(victim, lines))

    def write(self, lines: int) -> TimedPass:
        """Change the first lines of the victim."""
        from dfopt_models.measure.kernels import write_lines

        victim = self._victim(lines)
        return _timed(lambda: write_lines(victim, lines))

    def sweep(self, lines: int) -> TimedPass:
        """Read this number of other lines, in the order of their addresses."""
        from dfopt_models.measure.kernels import read_in_order

        return _timed(lambda: read_in_order(self._others, lines))

    def chase(self, set_size: int, lines: int) -> TimedPass:
        """Read lines of a set in random order, from where the last such pass ended."""
        from dfopt_models.measure.kernels import chase

        chain = self._sets.get(set_size)
        if chain is None:
            chain = self._sets[set_size] = self._chain(set_size)
        start = self._reached.get(set_size, 0)

        def follow() -> None:
            self._reached[set_size] = int(chase(chain, start, lines))

        return _timed(follow)

    def move(self) -> TimedPass:
        """Go on on the other CPU."""
        self._at = 1 - self._at
        return _timed(self._bind)

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

    def _victim(self, lines: int) -> Chain:
        chain = self._victims.get(lines)
        if chain is None:
            chain = self._victims[lines] = self._chain(lines)
        return chain

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
    lost = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
    start = time.perf_counter_ns()
    act()
    spent = time.perf_counter_ns() - start
    return TimedPass(spent, resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw > lost)
