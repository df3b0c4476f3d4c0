"""Random proofs of bounds on tiny recordings: their conditions hold, their prices are arbitrary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise
from random import Random

import numpy as np

from dfopt.compare.attainable.arrivals import Arrivals
from dfopt.compare.attainable.bound.check_proof import check_proof
from dfopt.compare.attainable.bound.permitted_starts import permitted_starts
from dfopt.compare.attainable.bound.proof import (
    CompletionPrices,
    DelayPrices,
    DispatchPrices,
    FragmentPrices,
    FragmentTimes,
    IntervalPrices,
    PeriodPrices,
    StretchPrices,
    TimePrices,
    WaitingProof,
)
from dfopt.compare.attainable.waiting_limit import WaitingLimit
from dfopt.trace.events import Integers

SCALE = 12
DELAYS = (1, 2, 5)


def random_proof(random: Random, arrivals: Arrivals, limit: WaitingLimit) -> WaitingProof:
    """Draw a proof with one to three stretches."""
    uses_lengths = random.random() < 0.7
    starts = permitted_starts(arrivals, limit, uses_lengths=uses_lengths)
    begin = int(starts.earliest.min()) - random.randint(0, 1)
    end = int((arrivals.start + arrivals.length).max()) + random.choice((1, 10, 40))
    cuts = {int(time) for time in arrivals.cut_time}
    cuts |= {random.randint(begin, end) for _ in range(random.choice((0, 0, 0, 1, 2)))}
    ends = sorted({begin, end} | {time for time in cuts if begin < time < end})
    wait_price = random.choice((0, 1, 2, 6)) if limit.total is not None else 0
    proof = WaitingProof(
        limit=limit,
        uses_lengths=uses_lengths,
        scale=SCALE,
        stretches=(),
        delays=np.array(DELAYS, np.int64),
        wait_price=wait_price,
    )
    stretches = tuple(
        _random_stretch(random, arrivals, proof, first, last) for first, last in pairwise(ends)
    )
    return replace(proof, stretches=stretches)


def _random_stretch(
    random: Random, arrivals: Arrivals, proof: WaitingProof, begin: int, end: int
) -> StretchPrices:
    starts = permitted_starts(arrivals, proof.limit, uses_lengths=proof.uses_lengths)
    seen_from = starts.earliest - (arrivals.length == 0)
    largest = SCALE * max(1, int(arrivals.costs.entry.max(initial=0)))
    fragments = sorted(set(arrivals.fragment.tolist()))
    starting = [j for j in range(len(arrivals)) if begin <= seen_from[j] and starts.latest[j] < end]

    def price() -> int:
        return random.choice((0, 0, 1, SCALE // 2, SCALE, random.randint(0, largest)))

    def columns(*rows: tuple[int, ...]) -> tuple[Integers, ...]:
        return tuple(np.array(column, np.int64) for column in zip(*rows, strict=True))

    def time() -> int:
        return random.randint(begin, end - 1)

    stretch = StretchPrices(begin=begin, end=end)
    if starting:
        dispatch, prices = columns(*((j, price()) for j in starting))
        stretch = replace(stretch, hits=DispatchPrices(dispatch=dispatch, price=prices))
    late = [
        (j, k, random.randint(0, proof.wait_price * step))
        for j in range(len(arrivals))
        for k, (delay, step) in enumerate(zip(DELAYS, np.diff(DELAYS, prepend=0), strict=True))
        if delay <= starts.slack[j]
        and begin <= seen_from[j]
        and starts.undelayed[j] + delay < end
        and proof.wait_price
    ]
    if late:
        dispatch, delay, prices = columns(*late)
        stretch = replace(stretch, delays=DelayPrices(dispatch=dispatch, delay=delay, price=prices))
    rows = [(time(), price()) for _ in range(random.randint(0, 4))]
    rows += [(int(starts.earliest[j]), price()) for j in starting if random.random() < 0.5]
    rows = [row for row in rows if begin <= row[0]]
    if rows:
        times, prices = columns(*rows)
        stretch = replace(stretch, times=TimePrices(time=times, price=prices))
    if random.random() < 0.5:
        rows = [(a, random.randint(0, SCALE)) for a in fragments if random.random() < 0.8]
        if rows:
            fragment, prices = columns(*rows)
            stretch = replace(stretch, exits=FragmentPrices(fragment=fragment, price=prices))
    if random.random() < 0.3:
        fragment, times = columns(*((random.choice(fragments), time()) for _ in range(4)))
        stretch = replace(stretch, points=FragmentTimes(fragment=fragment, time=times))
    if proof.uses_lengths and starting:
        stretch = _with_lengths(random, arrivals, proof, stretch, starting)
    return stretch


def _with_lengths(
    random: Random,
    arrivals: Arrivals,
    proof: WaitingProof,
    stretch: StretchPrices,
    starting: list[int],
) -> StretchPrices:
    """Add rows that use the lengths of dispatches."""
    starts = permitted_starts(arrivals, proof.limit, uses_lengths=True)
    begin, end = stretch.begin, stretch.end
    started, finished, mandatory, energy = [], [], [], []
    periods = []
    for _ in range(random.randint(0, 5)):
        i, j = random.choice(starting), random.choice(starting)
        if arrivals.fragment[i] != arrivals.fragment[j] or not arrivals.length[i]:
            continue
        fragment = int(arrivals.fragment[i])
        first = int(min(starts.earliest[i], starts.earliest[j]))
        last = int(max(starts.latest[i], starts.latest[j]))
        due = int(max((starts.latest + arrivals.length)[[i, j]]))
        price = random.randint(0, 2 * SCALE)
        started.append((fragment, first, last, price))
        finished.append((fragment, first, last, due, random.randint(0, SCALE)))
        low, high = int(starts.latest[i]), int(starts.earliest[i] + arrivals.length[i])
        if low < min(high, end):
            mandatory.append((fragment, low, min(high, end), price))
        low, high = random.randint(begin, end - 1), random.randint(begin, end)
        if low < high:
            rate = random.randint(0, 3)
            energy.append((fragment, low, high, rate))
            periods.append((low, high, rate))
    if random.random() < 0.3:
        periods.append((begin, end, random.randint(0, 2)))

    def table(kind: type, rows: list[tuple[int, ...]]) -> object:
        names = [field.name for field in fields(kind)]
        if not rows:
            return kind()
        return kind(
            **{
                name: np.array(column, np.int64)
                for name, column in zip(names, zip(*rows, strict=True), strict=True)
            }
        )

    return replace(
        stretch,
        started=table(IntervalPrices, started),
        finished=table(CompletionPrices, finished),
        mandatory=table(IntervalPrices, mandatory),
        energy=table(IntervalPrices, energy),
        periods=table(PeriodPrices, periods),
    )


def improved_proofs(
    random: Random, arrivals: Arrivals, proof: WaitingProof, steps: int
) -> Iterator[tuple[WaitingProof, int]]:
    """Change one price after the other, and keep what raises the bound; yield proofs and bounds."""
    value = check_proof(arrivals, proof).value
    assert value is not None
    yield proof, value
    for _ in range(steps):
        other = _with_another_price(random, proof)
        found = check_proof(arrivals, other)
        if found.value is not None and found.value >= value:
            proof, value = other, found.value
            yield proof, value


def _with_another_price(random: Random, proof: WaitingProof) -> WaitingProof:
    stretches = list(proof.stretches)
    position = random.randrange(len(stretches))
    stretch = stretches[position]
    tables = [
        column.name
        for column in fields(stretch)[2:]
        if hasattr(getattr(stretch, column.name), "price")
        and len(getattr(stretch, column.name).price)
    ]
    if not tables:
        return proof
    name = random.choice(tables)
    table = getattr(stretch, name)
    price = table.price.copy()
    row = random.randrange(len(price))
    step = random.choice((-SCALE, -SCALE // 2, -1, 1, SCALE // 2, SCALE))
    price[row] = max(0, price[row] + step)
    stretches[position] = replace(stretch, **{name: replace(table, price=price)})
    return replace(proof, stretches=tuple(stretches))


def tampered_proof(random: Random, proof: WaitingProof) -> WaitingProof:
    """Return a proof with other numbers at a few places, wherever they are."""
    stretches = list(proof.stretches)
    for _ in range(random.randint(1, 4) if stretches else 0):
        position = random.randrange(len(stretches))
        stretch = stretches[position]
        columns = [
            (table.name, column.name)
            for table in fields(stretch)[2:]
            for column in fields(getattr(stretch, table.name))
            if len(getattr(getattr(stretch, table.name), column.name))
        ]
        if not columns:
            continue
        name, column = random.choice(columns)
        table = getattr(stretch, name)
        numbers = getattr(table, column).copy()
        row = random.randrange(len(numbers))
        step = random.choice((-2, -1, 1, 2, 5))
        numbers[row] += step * (proof.scale // 2 if column == "price" else 1)
        changed = replace(table, **{column: numbers})
        stretches[position] = replace(stretch, **{name: changed})
    return replace(proof, stretches=tuple(stretches))
