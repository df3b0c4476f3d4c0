"""What counts in partial schedules that fragments wait which no CPU holds."""

from __future__ import annotations

from dfopt.compare.attainable.beam_search.candidates import SOONEST_READY, URGENT_LATEST
from dfopt.compare.attainable.beam_search.child_lists import Scratch
from dfopt.compare.attainable.beam_search.layout import (
    BEFORE,
    FRAGMENT,
    PATIENCE,
    BeamStates,
    Factors,
    Section,
)
from dfopt.solvers.compilation.compiled import compiled_in_place


@compiled_in_place
def hold(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    side: int,
    x: int,
    row: int,
    cpu: int,
    change: int,
) -> None:
    """Note which fragments the CPUs hold in the child, or (with -1) forget it again."""
    for i in range(len(scratch.free)):
        last = row if i == cpu else partial.cpus[side, x, i, BEFORE]
        if last >= 0 and section.rows[last, FRAGMENT] >= 0:
            scratch.held[section.rows[last, FRAGMENT]] += change


@compiled_in_place
def price_of(section: Section, latest: int, time: int, factors: Factors, a: int) -> float:
    """Return what it counts that a fragment waits which may start at ``latest`` at the latest."""
    slack = max(latest - time, 0)
    return float(section.weights[a] * factors[PATIENCE] / (factors[PATIENCE] + slack))


@compiled_in_place
def note_waiting(section: Section, scratch: Scratch, now: int, factors: Factors) -> None:
    """Note what each fragment counts that waits at the latest start so far, and the sum."""
    fragments = scratch.fragments
    total = 0.0
    for a in range(len(scratch.held)):
        scratch.waiting[a] = 0.0
        if fragments[a, SOONEST_READY] <= now:
            scratch.waiting[a] = price_of(section, fragments[a, URGENT_LATEST], now, factors, a)
        total += scratch.waiting[a]
    scratch.waiting[len(scratch.held)] = total


@compiled_in_place
def held_price(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    side: int,
    x: int,
    row: int,
    cpu: int,
) -> float:
    """Return what those fragments count together that wait now and that the child holds."""
    hold(section, partial, scratch, side, x, row, cpu, 1)
    total = 0.0
    for i in range(len(scratch.free)):
        last = row if i == cpu else partial.cpus[side, x, i, BEFORE]
        if last >= 0 and section.rows[last, FRAGMENT] >= 0:
            a = section.rows[last, FRAGMENT]
            total += scratch.waiting[a] / scratch.held[a]
    hold(section, partial, scratch, side, x, row, cpu, -1)
    return total


@compiled_in_place
def waiting_price(
    section: Section,
    partial: BeamStates,
    scratch: Scratch,
    side: int,
    x: int,
    row: int,
    cpu: int,
    then: int,
    factors: Factors,
) -> float:
    """Return what it counts that fragments wait at a later time and that no CPU holds them."""
    fragments = scratch.fragments
    hold(section, partial, scratch, side, x, row, cpu, 1)
    total = 0.0
    for a in range(len(scratch.held)):
        if not scratch.held[a] and fragments[a, SOONEST_READY] <= then:
            total += price_of(section, fragments[a, URGENT_LATEST], then, factors, a)
    hold(section, partial, scratch, side, x, row, cpu, -1)
    return total
