"""Random proofs of bounds on tiny recordings: their conditions hold, their prices are arbitrary."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import numpy as np
from msgspec.structs import fields

from dfopt import replace
from dfopt.compare.attainable.bound.proof import (
    DispatchPrices,
    StretchPrices,
    TimePrices,
    WaitingProof,
    check_proof,
)
from dfopt.compare.attainable.bound.start_windows import start_windows
from dfopt.compare.dispatches import Dispatches
from dfopt.trace.events import Integers

SCALE = 12


def random_proof(random: Random, arrivals: Dispatches, wait: int) -> WaitingProof:
    """Draw a proof with one to three stretches."""
    uses_lengths, as_in_schedules = random.random() < 0.7, random.random() < 0.5
    earliest, _ = start_windows(
        arrivals, wait, uses_lengths=uses_lengths, as_in_schedules=as_in_schedules
    )
    begin = int(earliest.min()) - random.randint(0, 1)
    end = int((arrivals.start + arrivals.length).max()) + random.choice((1, 10, 40))
    cuts = {int(time) for time in arrivals.cuts.time}
    cuts |= {random.randint(begin, end) for _ in range(random.choice((0, 0, 0, 1, 2)))}
    ends = sorted({begin, end} | {time for time in cuts if begin < time < end})
    proof = WaitingProof(
        wait=wait,
        uses_lengths=uses_lengths,
        as_in_schedules=as_in_schedules,
        scale=SCALE,
        stretches=(),
    )
    stretches = tuple(
        _random_stretch(random, arrivals, proof, first, last) for first, last in pairwise(ends)
    )
    return affordable(arrivals, replace(proof, stretches=stretches))


def affordable(arrivals: Dispatches, proof: WaitingProof) -> WaitingProof:
    """Halve the prices of hits until they reward no entry by more than it costs."""
    while "exceed its cost" in " ".join(check_proof(arrivals, proof).problems):
        proof = replace(
            proof,
            stretches=tuple(
                replace(stretch, hits=replace(stretch.hits, price=stretch.hits.price // 2))
                for stretch in proof.stretches
            ),
        )
    return proof


def _random_stretch(
    random: Random, arrivals: Dispatches, proof: WaitingProof, begin: int, end: int
) -> StretchPrices:
    earliest, latest = start_windows(
        arrivals,
        proof.wait,
        uses_lengths=proof.uses_lengths,
        as_in_schedules=proof.as_in_schedules,
    )
    seen_from = earliest - (arrivals.length == 0)
    largest = SCALE * max(1, int(arrivals.entry.max(initial=0)))
    starting = [j for j in range(len(arrivals)) if begin <= seen_from[j] and latest[j] < end]

    def price() -> int:
        return random.choice((0, 0, 1, SCALE // 2, SCALE, random.randint(0, largest)))

    def columns(*rows: tuple[int, ...]) -> tuple[Integers, ...]:
        return tuple(np.array(column, np.int64) for column in zip(*rows, strict=True))

    stretch = StretchPrices(begin=begin, end=end)
    if starting:
        dispatch, prices = columns(*((j, price()) for j in starting))
        stretch = replace(stretch, hits=DispatchPrices(dispatch=dispatch, price=prices))
    if not proof.uses_lengths:
        return stretch
    long = [j for j in starting if arrivals.length[j]]
    if long:
        dispatch, prices = columns(*((j, 2 * price()) for j in long))
        stretch = replace(stretch, services=DispatchPrices(dispatch=dispatch, price=prices))
    certain = [
        (int(arrivals.fragment[j]), random.randint(low, min(high, end) - 1), price())
        for j in long
        for low, high in [(int(latest[j]), int(earliest[j] + arrivals.length[j]))]
        if low < high
    ]
    if certain:
        fragment, time, prices = columns(*certain)
        stretch = replace(stretch, held=TimePrices(fragment=fragment, time=time, price=prices))
    return stretch


def improved_proofs(
    random: Random, arrivals: Dispatches, proof: WaitingProof, steps: int
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
