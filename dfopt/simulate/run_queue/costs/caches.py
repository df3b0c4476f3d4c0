"""Caches of lines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSizes:
    """Caches with least-recently-used replacement and a write-invalidate protocol.

    Parameters
    ----------
    lines
        Lines of each CPU's own cache.
    miss
        Time to read a line from memory.
    write_back
        Time to write a line back to memory.
    shared_lines
        Lines of a second level that all CPUs share; 0: there is none.
    shared_hit
        Time to read a line from it.
    """

    lines: int
    miss: int
    write_back: int = 0
    shared_lines: int = 0
    shared_hit: int = 0
