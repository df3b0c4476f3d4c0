"""What the switches of a schedule cost, and why: of a recorded trace, or of any other schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dfopt.compare.comparison_parts import Cause, CpuResult, FragmentResult, Realised
from dfopt.compare.cost_model import CostModel
from dfopt.compare.dispatches import NONE, UNKNOWN, Dispatches, Rows, dispatches_of
from dfopt.problem.penalties import PenaltyG
from dfopt.trace import Trace
from dfopt.trace.events import Flags, Integers, Numbers, latest_of_same
from dfopt.trace.fragment_titles import comms_of_inferred, process_names
from dfopt.trace.trace import UNMANAGED

CAUSES = tuple(Cause)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleSwitches:
    """The switches of a schedule, as columns with a row for each dispatch.

    Parameters
    ----------
    before
        The dispatch before it on its CPU; ``NONE`` for the first one, ``UNKNOWN`` after a cut.
    changes
        Whether that is one of another fragment.
    cost
        What is paid for going from there to the dispatch.
    last
        The last dispatches of CPUs, where no cut comes after them.
    """

    before: Rows
    changes: Flags
    cost: Integers
    last: Rows


def switches_of(dispatches: Dispatches) -> ScheduleSwitches:
    """Return the switches between dispatches that all pay.

    Those of a CPU follow each other by their starts. Where two start at once, the shorter one comes
    first, then the one in the earlier row of the trace.
    """
    fragment, cuts = dispatches.fragment, dispatches.cuts
    order = np.lexsort((dispatches.row, dispatches.end, dispatches.start, dispatches.cpu))
    cpu = dispatches.cpu[order]
    is_first = np.diff(cpu, prepend=-1) != 0
    before = np.full(len(order), NONE, np.intp)
    before[order[~is_first]] = order[:-1][~is_first[1:]]
    # The number of cuts on a CPU before a time tells whether a cut lies between two dispatches.
    passed = np.zeros(len(order), np.int64)
    for number in np.unique(cuts.cpu):
        own = dispatches.cpu == number
        times = cuts.time[cuts.cpu == number]
        passed[own] = np.searchsorted(times, dispatches.start[own], side="right")
    before[passed != np.where(before == NONE, 0, passed[before])] = UNKNOWN
    last = order[np.diff(cpu, append=-1) != 0]
    of_cpu = np.bincount(cuts.cpu, minlength=dispatches.cpus)
    follows, one = before >= 0, np.maximum(before, 0)
    changes = follows & ((fragment != fragment[one]) | ~dispatches.managed)
    if dispatches.matrix.size:
        between = dispatches.matrix[fragment[one], fragment]
    else:
        enters = dispatches.exit[one] + dispatches.entry
        between = dispatches.always[one] + np.where(changes, enters, 0)
    return ScheduleSwitches(
        before=before,
        changes=changes,
        cost=np.where(follows, between, np.where(before == NONE, dispatches.first, 0)),
        last=last[passed[last] == of_cpu[dispatches.cpu[last]]],
    )


def cost_of(dispatches: Dispatches) -> int:
    """Return what a schedule costs: the sum of all its switches."""
    paying = dispatches.paying
    switches = switches_of(paying)
    return int(switches.cost.sum() + paying.last[switches.last].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Charges:
    """All charges of a schedule as parallel columns: one row is one charge.

    Parameters
    ----------
    dispatch
        The dispatch that paid.
    fragment
        The fragment that was read or written back.
    cause
        Index into :data:`CAUSES`.
    cost
        The amount.
    changes
        For each dispatch, not for each charge: whether it followed one of another fragment.
    """

    dispatch: Integers
    fragment: Numbers
    cause: Numbers
    cost: Integers
    changes: Flags


def charges_of(dispatches: Dispatches, model: CostModel) -> Charges:
    """Return every charge of dispatches that all pay, each with its one cause."""
    switches = switches_of(dispatches)
    before, changes = switches.before, switches.changes
    cost, last = switches.cost, switches.last
    fragment, row = dispatches.fragment, np.arange(len(before))
    cause = _read_causes(dispatches)
    if dispatches.matrix.size:
        read = cost
        cause[(before >= 0) & ~changes] = CAUSES.index(Cause.SAME_TYPE)
    else:
        read = np.where(changes, dispatches.entry, np.where(before == NONE, dispatches.first, 0))
        if isinstance(model.penalty, PenaltyG):
            # At every change the whole cache is written back, whatever was in it.
            read -= model.penalty.write_back * (read > 0)
    # The rest of a switch writes back what was there before.
    held = np.where(before >= 0, fragment[np.maximum(before, 0)], fragment)
    write_back = np.full(len(row) + len(last), CAUSES.index(Cause.WRITE_BACK))
    cost = np.concatenate([read, cost - read, dispatches.last[last]])
    paid = cost > 0
    return Charges(
        dispatch=np.concatenate([row, row, last])[paid],
        fragment=np.concatenate([fragment, held, fragment[last]])[paid],
        cause=np.concatenate([cause, write_back])[paid].astype(np.int32),
        cost=cost[paid],
        changes=changes,
    )


def _read_causes(dispatches: Dispatches) -> Integers:
    """Return for each dispatch the cause of reading its fragment, whether it reads it or not."""
    used = latest_of_same(dispatches.fragment)
    moved = latest_of_same(dispatches.task)
    elsewhere = dispatches.cpu[used] != dispatches.cpu
    migrated = (moved >= 0) & (dispatches.cpu[moved] != dispatches.cpu)
    return np.select(
        [~dispatches.managed, used < 0, ~elsewhere, migrated],
        [
            CAUSES.index(Cause.UNMANAGED),
            CAUSES.index(Cause.FIRST_LOAD),
            CAUSES.index(Cause.REVISITED),
            CAUSES.index(Cause.MIGRATION),
        ],
        CAUSES.index(Cause.SPLIT),
    )


def realised_of(dispatches: Dispatches, charges: Charges) -> Realised:
    """Return the sums of all charges."""
    by_cpu = _sums(dispatches.cpu[charges.dispatch], charges.cost, dispatches.cpus)
    return Realised(
        total=int(by_cpu.sum()),
        worst=int(by_cpu.max(initial=0)),
        switches=int(charges.changes.sum()),
    )


def causes_of(charges: Charges, chosen: Flags | Rows | slice = slice(None)) -> dict[Cause, int]:
    """Return the sum of the chosen charges by cause, with 0 for causes without a charge."""
    sums = _sums(charges.cause[chosen], charges.cost[chosen], len(CAUSES))
    return {cause: int(cost) for cause, cost in zip(CAUSES, sums, strict=True)}


def _sums(key: Numbers, cost: Integers, length: int) -> Integers:
    # Not bincount with weights: its sums are floating-point.
    sums = np.zeros(length, np.int64)
    np.add.at(sums, key, cost)
    return sums


def cpu_results(trace: Trace, dispatches: Dispatches, charges: Charges) -> tuple[CpuResult, ...]:
    """Return the result of each CPU."""
    changes = charges.changes
    results = []
    for cpu in range(dispatches.cpus):
        own = dispatches.cpu == cpu
        managed = own & dispatches.managed
        causes = causes_of(charges, dispatches.cpu[charges.dispatch] == cpu)
        ran = trace.cpu == cpu
        results.append(
            CpuResult(
                cpu=cpu,
                dispatches=int(ran.sum()),
                managed=int(managed.sum()),
                fragments=len(np.unique(dispatches.fragment[managed])),
                run_time=int((trace.end - trace.start)[ran].sum()),
                switches=int(changes[own].sum()),
                cost=sum(causes.values()),
                causes=causes,
            )
        )
    return tuple(results)


def fragment_results(
    trace: Trace, dispatches: Dispatches, charges: Charges
) -> tuple[FragmentResult, ...]:
    """Return the result of each fragment, the most expensive one first."""
    changes = charges.changes
    names, comms = process_names(trace), comms_of_inferred(trace)
    paid_for = dict(_rows_of_each(charges.fragment))
    results = []
    for number, own in _rows_of_each(dispatches.fragment):
        if number == UNMANAGED:
            continue
        causes = causes_of(charges, paid_for.get(number, np.empty(0, np.intp)))
        results.append(
            FragmentResult(
                df=trace.fragments[number],
                name=names[number],
                comms=comms[number],
                dispatches=len(own),
                tasks=len(np.unique(dispatches.task[own])),
                cpus=len(np.unique(dispatches.cpu[own])),
                run_time=int(dispatches.length[own].sum()),
                switches=int(changes[own].sum()),
                cost=sum(causes.values()),
                causes=causes,
            )
        )
    return tuple(sorted(results, key=lambda result: (-result.cost, result.df)))


def _rows_of_each(key: Numbers) -> Iterator[tuple[int, Rows]]:
    """Yield every value with its rows."""
    order = np.argsort(key, kind="stable")
    values, first = np.unique(key[order], return_index=True)
    ends = [*first.tolist(), len(key)]
    for value, begin, end in zip(values.tolist(), ends, ends[1:], strict=False):
        yield value, order[begin:end]


def realised_costs(trace: Trace, model: CostModel) -> Integers:
    """Return the cost of the switch to each dispatch of a trace, row by row.

    The cost after the last dispatch of a CPU counts with that dispatch. So the sum of all rows is
    the cost of the trace.

    Raises
    ------
    DfoptError
        When no dispatch has a fragment.
    InstanceError
        When the model does not say what a dispatch costs.
    """
    dispatches = dispatches_of(trace, model)
    charges = charges_of(dispatches, model)
    costs = np.zeros(len(trace), np.int64)
    np.add.at(costs, dispatches.row[charges.dispatch], charges.cost)
    return costs
