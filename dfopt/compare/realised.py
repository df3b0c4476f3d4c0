"""The costs of the switches of a trace, and their causes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dfopt.compare.comparison_parts import Cause, CpuResult, FragmentResult, Realised
from dfopt.compare.cost_model import CostModel, TypeCosts
from dfopt.compare.dispatches import NOTHING, Dispatches, Rows, dispatches_of
from dfopt.trace import Trace
from dfopt.trace.events import Flags, Integers, Numbers
from dfopt.trace.fragment_titles import comms_of_inferred, process_names
from dfopt.trace.latest_of_same import latest_of_same
from dfopt.trace.trace import UNMANAGED

CAUSES = tuple(Cause)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Charges:
    """All charges of a trace as parallel columns: one row is one charge.

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
    """

    dispatch: Integers
    fragment: Numbers
    cause: Numbers
    cost: Integers


def charges_of(dispatches: Dispatches, model: CostModel) -> Charges:
    """Return every charge of a trace, each with its one cause."""
    if dispatches.types is not None:
        return _charges_between(dispatches, dispatches.types, model)
    previous = dispatches.previous
    changes = dispatches.changes
    cold = (previous == NOTHING) & model.cold_start
    follows = np.flatnonzero(previous >= 0)
    loads = np.flatnonzero(changes | cold)
    # Under g the whole cache is written back at every change, whatever was in it.
    written = np.where(
        changes[follows], dispatches.exit[previous[follows]] + dispatches.entry_write, 0
    )
    written += dispatches.always[previous[follows]]
    cold_loads = np.flatnonzero(cold)
    last = _last(dispatches)
    left = (
        (dispatches.exit + dispatches.always)[last]
        if model.final_write_back
        else np.zeros(len(last), int)
    )
    dispatch = [loads, follows, cold_loads, last]
    fragment = [
        dispatches.fragment[loads],
        dispatches.fragment[previous[follows]],
        dispatches.fragment[cold_loads],
        dispatches.fragment[last],
    ]
    write_back = CAUSES.index(Cause.WRITE_BACK)
    cause = [
        _read_causes(dispatches)[loads],
        *(np.full(len(rows), write_back) for rows in (follows, cold_loads, last)),
    ]
    cost = [dispatches.read[loads], written, np.full(len(cold_loads), dispatches.entry_write), left]
    paid = np.concatenate(cost) > 0
    return Charges(
        dispatch=np.concatenate(dispatch)[paid],
        fragment=np.concatenate(fragment)[paid],
        cause=np.concatenate(cause)[paid].astype(np.int32),
        cost=np.concatenate(cost)[paid],
    )


def _charges_between(dispatches: Dispatches, types: TypeCosts, model: CostModel) -> Charges:
    """Return the charges under a matrix: one for each dispatch, and one for each CPU at its end."""
    previous, fragment, last = dispatches.previous, dispatches.fragment, _last(dispatches)
    follows = previous >= 0
    before = fragment[np.maximum(previous, 0)]
    paid_for = np.where(follows, np.array(types.switch, np.int64)[before, fragment], 0)
    if model.cold_start:
        paid_for += np.where(previous == NOTHING, np.array(types.start, np.int64)[fragment], 0)
    finish = np.array(types.finish, np.int64)[fragment[last]] * model.final_write_back
    repeats = follows & (before == fragment)
    cause = np.where(repeats, CAUSES.index(Cause.SAME_TYPE), _read_causes(dispatches))
    dispatch = np.concatenate([np.arange(len(dispatches)), last])
    cost = np.concatenate([paid_for, finish])
    ends = np.full(len(last), CAUSES.index(Cause.WRITE_BACK))
    paid = cost > 0
    return Charges(
        dispatch=dispatch[paid],
        fragment=fragment[dispatch[paid]],
        cause=np.concatenate([cause, ends])[paid].astype(np.int32),
        cost=cost[paid],
    )


def _last(dispatches: Dispatches) -> Integers:
    """Return the last dispatch of each CPU, unless a gap comes after it: then nothing is known."""
    last = len(dispatches) - 1 - np.unique(dispatches.cpu[::-1], return_index=True)[1]
    latest_gap = np.full(dispatches.cpus, dispatches.start[0])
    # A gap with no dispatch after it cuts no windows.
    cuts = dispatches.gap_end <= dispatches.start[-1]
    np.maximum.at(latest_gap, dispatches.gap_cpu[cuts], dispatches.gap_end[cuts])
    return last[dispatches.start[last] >= latest_gap[dispatches.cpu[last]]]


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
        switches=int(dispatches.changes.sum()),
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
    changes = dispatches.changes
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
    changes = dispatches.changes
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
                run_time=int(dispatches.run_time[own].sum()),
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
