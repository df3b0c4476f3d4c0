"""A proof of a bound within a waiting limit: prices of conditions, and what they prove.

Take one stretch of time, and a schedule within the limit. A *visit* is a maximal run of consecutive
dispatches of one fragment on a CPU. A CPU *holds* a fragment from the start of a visit to it until
the next visit there starts. What it holds first in the stretch counts as held from the beginning.
For each fragment,

- x(t) is the number of CPUs that hold it at time t;
- e(u, v] is the number of visits to it that start later than u and not later than v, without the
  first ones of CPUs.

The bound is worked out from the prices by weak duality, in integers and without any solver. The
schedule meets each condition of :class:`StretchPrices`: what it has of something is at least what
is required. So (price x (what it has - what is required)) is at least 0, and the cost is at least
what is left after it is subtracted, for all conditions. That is a sum over CPUs, and what a CPU
does is a path through time, see :mod:`dfopt.compare.attainable.bound.stretches`. Therefore::

    cost ≥ sum of prices x what is required + sum over CPUs of the cheapest path

for every choice of prices of at least 0. Poor prices make a poor bound, never a wrong one.

The cost of a schedule is at least the sum over disjoint stretches of what its visits there pay,
since each switch between two dispatches that start in one stretch belongs to that stretch alone.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from msgspec import Meta, field
from msgspec.structs import fields

from dfopt.checks import LARGEST_TOTAL
from dfopt.compare.attainable.bound.stretches import (
    CpuPaths,
    TraceStretch,
    whole_stretch,
)
from dfopt.compare.dispatches import Dispatches
from dfopt.errors import FileError
from dfopt.native.cpu_path import CONDITION
from dfopt.native.library import Rows as Records
from dfopt.native.library import rows_of
from dfopt.structs import DocumentPart, Natural, Record, Signed
from dfopt.trace.events import Integers, no_times
from dfopt.type_reader import described_value


def _column(value: object) -> Integers:
    """Return a column; refuse anything but an array of integers from -2^62 to 2^62."""
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(value, list):
        raise FileError(f"must be an array […], not {described_value(value)}")
    for position, entry in enumerate(value):
        if type(entry) is not int or not -LARGEST_TOTAL <= entry <= LARGEST_TOTAL:
            raise FileError(
                f"must be an integer from -2^62 to 2^62, not {described_value(entry)}",
                place=f"[{position}]",
            )
    return np.array(value, np.int64)


Column = Annotated[
    Integers,
    Meta(
        extra={"reader": _column, "required": True},
        extra_json_schema={
            "type": "array",
            "items": {"type": "integer", "minimum": -LARGEST_TOTAL, "maximum": LARGEST_TOTAL},
            "required": True,
        },
    ),
]
"""A column of integers, ``int64``, which is an array in a document."""

LARGEST = 2**59
"""No sum of prices, of times, or of their products may exceed this, so that 64 bits hold it."""


class DispatchPrices(DocumentPart, eq=False):
    """Prices of single dispatches.

    Parameters
    ----------
    dispatch
        Rows of the :class:`~dfopt.compare.dispatches.Dispatches`, each at most once.
    price
        The price for each of them.
    """

    dispatch: Column = field(default_factory=no_times)
    price: Column = field(default_factory=no_times)


class TimePrices(DocumentPart, eq=False):
    """Prices of a fragment at points of time.

    Parameters
    ----------
    fragment
        Numbers of fragments.
    time
        The points of time.
    price
        The price for each of them.
    """

    fragment: Column = field(default_factory=no_times)
    time: Column = field(default_factory=no_times)
    price: Column = field(default_factory=no_times)


class StretchPrices(DocumentPart, eq=False):
    """The prices of one stretch of time.

    Dispatch j of length p starts no earlier than r and no later than d. If its recorded length is
    0, ``hits`` has r - 1 in the place of r, and the other conditions ignore it. The conditions
    speak only of dispatches whose r and d lie in the stretch.

    Parameters
    ----------
    begin, end
        The stretch is from ``begin`` to just before ``end``. No cut of the recording lies strictly
        between them.
    hits
        x(r) + e(r, d] ≥ 1 for the fragment of dispatch j.
    held
        x(t) ≥ M: as many dispatches of the fragment have d ≤ t < r + p, so they are running.
    services
        Some CPU runs j once: from a time between r and d on, for its length, beside its blocks.
    """

    begin: Signed
    end: Signed
    hits: DispatchPrices = field(default_factory=DispatchPrices)
    held: TimePrices = field(default_factory=TimePrices)
    services: DispatchPrices = field(default_factory=DispatchPrices)


class WaitingProof(DocumentPart, eq=False):
    """Prices that prove a lower bound on the cost of every schedule within a waiting limit.

    Parameters
    ----------
    wait
        No dispatch starts more than this after it was ready in the recording, or else later than it
        started there.
    uses_lengths
        Whether dispatches are as long as recorded. Otherwise they may have any length above 0, and
        ``held`` and ``services`` are empty.
    as_in_schedules
        Whether dispatches with these lengths are also ready when the schedules of comparisons take
        them to be. Otherwise they may have been ready at any time that the recording leaves open.
    scale
        All prices are multiples of 1/scale of a unit of cost.
    stretches
        Disjoint stretches, ordered by time. Their bounds add up.
    """

    wait: Natural
    uses_lengths: bool
    as_in_schedules: bool = False
    scale: Natural
    stretches: tuple[StretchPrices, ...]


class CheckedBound(Record):
    """What a proof was found to prove.

    Parameters
    ----------
    value
        No schedule within the limit costs less; None where the proof is faulty.
    problems
        What is wrong with the proof: at most one sentence for each of its stretches.
    """

    value: int | None
    problems: tuple[str, ...]


class FaultyProofError(Exception):
    """A proof relies on a condition that is not known to hold, or is no proof at all."""


def check_proof(dispatches: Dispatches, proof: WaitingProof) -> CheckedBound:
    """Return the bound that a proof proves, or what is wrong with it."""
    try:
        if proof.scale < 1:
            raise FaultyProofError("scale: must be at least 1")
        if not 0 <= proof.wait <= LARGEST:
            raise FaultyProofError("wait: must be from 0 to 2^59")
        whole = whole_stretch(
            dispatches,
            proof.wait,
            uses_lengths=proof.uses_lengths,
            as_in_schedules=proof.as_in_schedules,
        )
        costs = (whole.entry, whole.exit, whole.opening, whole.closing)
        _check_size(max(int(cost.max()) for cost in costs), proof.scale, "a cost x scale")
    except FaultyProofError as fault:
        return CheckedBound(value=None, problems=(str(fault),))
    # Visits cost a multiple of the unit, in each stretch and in all together.
    unit = whole.unit * proof.scale
    problems = []
    numerator, before = 0, -LARGEST
    for position, stretch in enumerate(proof.stretches):
        try:
            if stretch.begin < before:
                raise FaultyProofError("it begins before the stretch before it ends")
            _check_stretch(stretch, proof, whole, dispatches.cuts.time)
            proven = max(0, _proven_by(stretch, proof.scale, whole))
        except FaultyProofError as fault:
            problems.append(f"stretches[{position}]: {fault}")
        else:
            numerator += -(-proven // unit) * unit
        before = stretch.end
    if problems:
        return CheckedBound(value=None, problems=tuple(problems))
    return CheckedBound(value=whole.constant + numerator // proof.scale, problems=())


def _check_size(factor: int, other: int, name: str) -> None:
    """Refuse a product that 64 bits may not hold."""
    if factor * other > LARGEST:
        raise FaultyProofError(f"{name} can exceed 2^59; take a smaller scale")


def _check_stretch(
    stretch: StretchPrices, proof: WaitingProof, whole: TraceStretch, cuts: Integers
) -> None:
    """Refuse what is no stretch, or names dispatches of which its conditions may not speak."""
    begin, end = stretch.begin, stretch.end
    if not -LARGEST < begin < end < LARGEST:
        raise FaultyProofError("end: must be after begin")
    if ((begin < cuts) & (cuts < end)).any():
        raise FaultyProofError("a cut of the recording lies between its begin and its end")
    ranges = {
        "price": (0, LARGEST),
        "dispatch": (0, len(whole.dispatch) - 1),
        "time": (begin, end - 1),
        "fragment": (0, int(whole.fragment.max())),
    }
    for name in ("hits", "held", "services"):
        table = getattr(stretch, name)
        columns = {column.name: getattr(table, column.name) for column in fields(table)}
        if len({len(column) for column in columns.values()}) > 1:
            raise FaultyProofError(f"{name}: must have columns of one length")
        for column, values in columns.items():
            least, most = ranges[column]
            if ((values < least) | (values > most)).any():
                raise FaultyProofError(f"{name}.{column}: must be from {least} to {most}")
        prices = table.price
        if len(prices) and name != "hits" and not proof.uses_lengths:
            raise FaultyProofError(f"{name}: must be empty, since lengths are not used")
        _check_size(int(prices.max(initial=0)), len(prices) * 4, f"{name}: the sum of prices")
    for name, first in (("hits", whole.seen_from), ("services", whole.first)):
        rows = getattr(stretch, name).dispatch
        if (first[rows] < begin).any() or (whole.last[rows] >= end).any():
            raise FaultyProofError(f"{name}.dispatch: one may start outside the stretch")
    services = stretch.services.dispatch
    if len(np.unique(services)) < len(services):
        raise FaultyProofError("services.dispatch: names a dispatch twice")
    if (whole.length[services] == 0).any():
        raise FaultyProofError("services.dispatch: one has no length")


def _proven_by(prices: StretchPrices, scale: int, whole: TraceStretch) -> int:
    """Return what the prices of a stretch prove, times the scale."""
    stretch = whole.part(prices.begin, prices.end)
    hits, held, services = prices.hits, prices.held, prices.services
    running = stretch.running(held.fragment, held.time)
    if (running == 0).any():
        time = int(held.time[running == 0][0])
        raise FaultyProofError(f"held: nothing of the fragment must run at {time}")
    fragment = np.concatenate([whole.fragment[hits.dispatch], held.fragment])
    price = np.concatenate([hits.price, held.price])
    fragments = np.unique(np.concatenate([fragment, whole.fragment[services.dispatch]]))
    if not len(fragments):
        return 0
    conditions = rows_of(
        CONDITION,
        fragment=np.searchsorted(fragments, fragment),
        begin=np.concatenate([whole.seen_from[hits.dispatch], held.time]),
        end=np.concatenate([whole.last[hits.dispatch], held.time]),
        count=np.concatenate([np.ones_like(hits.price), running]),
    )
    paths = CpuPaths(stretch, fragments, conditions, scale)
    _check_entries(paths, conditions, price)
    order = np.argsort(whole.first[services.dispatch], kind="stable")
    value, _ = paths.proven(
        price,
        np.searchsorted(stretch.dispatch, services.dispatch[order]),
        services.price[order],
    )
    return value


def _check_entries(paths: CpuPaths, conditions: Records, prices: Integers) -> None:
    """Refuse prices that reward an entry by more than it costs."""
    for number in np.unique(conditions["fragment"]):
        chosen, changes = conditions["fragment"] == number, paths.changes["fragment"] == number
        own, price, of_paths = conditions[chosen], prices[chosen], paths.changes[changes]
        # What an entry costs less its rewards, from each time on.
        time = np.concatenate([of_paths["time"], own["begin"] + 1, own["end"] + 1])
        step = np.concatenate([of_paths["entry"], -price, price])
        order = np.argsort(time, kind="stable")
        left = int(paths.costs["entry"][number]) + np.cumsum(step[order])
        is_last = np.append(np.diff(time[order]) > 0, True)
        if (left[is_last] < 0).any():
            raise FaultyProofError(
                "the prices of hits around an entry exceed its cost; write the proof anew with the "
                "comparison"
            )
