"""The time line of a CPU: where a dispatch fits, and what it costs that it follows another one."""

from __future__ import annotations

from dfopt.compare.attainable.beam_search.layout import (
    ALWAYS,
    CUT,
    ELEMENT,
    ELEMENT_AFTER,
    END,
    ENTRY,
    EVICTS,
    EXIT,
    FIRST,
    FIXED_END,
    FRAGMENT,
    LAST,
    NOTHING,
    PASSED_AT_END,
    ROLE,
    START,
    UNKNOWN,
    Section,
)
from dfopt.solvers.compilation.compiled import compiled_in_place


@compiled_in_place
def fitting(section: Section, cpu: int, passed: int, start: int, length: int) -> tuple[int, int]:
    """Return when a dispatch fits at or after ``start``, and what it passes on its CPU until then.

    ``passed`` is the first row of ``Section.fixed`` that may lie ahead.
    """
    fixed, end = section.fixed, section.cpus[cpu, FIXED_END]
    while passed < end:
        if fixed[passed, ROLE] == CUT:
            if fixed[passed, START] > start:
                # A block may follow that makes the dispatch start after the cut.
                ahead = passed + 1
                while ahead < end and fixed[ahead, ROLE] == CUT:
                    ahead += 1
                if ahead == end or start + length <= fixed[ahead, START]:
                    break
                start = max(start, fixed[ahead, END])
                passed = ahead
                continue
        elif start + length <= fixed[passed, START]:
            break
        start = max(start, fixed[passed, END])
        passed += 1
    return start, passed


@compiled_in_place
def meeting(section: Section, before: int, after: int) -> int:
    """Return what it costs that one element follows another one on a CPU."""
    rows, matrix = section.rows, section.matrix
    if before == NOTHING:
        return int(rows[after, FIRST])
    if before == UNKNOWN:
        return 0
    if matrix.shape[0] > 0:
        return int(matrix[rows[before, FRAGMENT], rows[after, FRAGMENT]])
    cost = rows[before, ALWAYS]
    if rows[before, FRAGMENT] != rows[after, FRAGMENT]:
        cost += rows[before, EXIT] + rows[after, ENTRY]
    return int(cost)


@compiled_in_place
def following(section: Section, before: int, passed: int, end: int, after: int) -> int:
    """Return what it costs that ``after`` follows, with rows ``passed`` to ``end`` in between.

    If ``after`` is ``NOTHING``, nothing follows on the CPU.
    """
    fixed = section.fixed
    total = 0
    for row in range(passed, end):
        if fixed[row, ROLE] == CUT:
            before = UNKNOWN
        elif fixed[row, ROLE] == EVICTS:
            total += meeting(section, before, fixed[row, ELEMENT])
            before = fixed[row, ELEMENT]
    if after != NOTHING:
        return int(total + meeting(section, before, after))
    if before >= 0:
        total += section.rows[before, LAST]
    return int(total)


@compiled_in_place
def closing(section: Section, cpu: int, before: int, passed: int) -> int:
    """Return what follows costs after the last dispatch of the section on a CPU."""
    end, after = section.cpus[cpu, PASSED_AT_END], section.cpus[cpu, ELEMENT_AFTER]
    return following(section, before, passed, end, after)
