"""Local search where no task waits: CPUs exchange segments of their orders.

The cost of an order is a sum over neighbours. So an exchange of two segments changes only the
switches at their ends, whatever their lengths, and millions of exchanges a second can be priced.
Simulated annealing decides which ones are made (Kirkpatrick, Gelatt and Vecchi 1983).
"""

from __future__ import annotations

from functools import partial
from math import exp
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dfopt.problem.instance import Objective
from dfopt.solvers.compilation.compiled import compiled_in_place
from dfopt.solvers.compilation.machine_code import MachineCode
from dfopt.solvers.interruptible import wait_for
from dfopt.solvers.search import Search

Integers = npt.NDArray[np.int64]

MOVES_PER_TASK = 50_000
"""Number of exchanges that a long walk tries for each task."""

MOST_MOVES = 20_000_000
"""A walk tries at most 20,000,000 exchanges."""

SHORTER, GROWTH = 625, 5
"""The first walk is 625 times shorter than a long one, each later one five times longer."""

MOVES_PER_CHUNK = 100_000
"""Between two looks at the clock at most 100,000 exchanges are tried."""

PLAIN_MOVES, PLAIN_CHUNK = 5_000, 500
"""A walk in plain Python, and what it does between two looks at the clock."""

FAILURES = 3
"""The search gives up after 3 long walks in a row without a better schedule."""

LARGEST_STATE = 1 << 24
"""All CPUs together have room for at most this number of tasks."""

HOT, MILD, COLD = 0.3, 0.05, 0.01
"""The first and the last temperature, as shares of the average switch between types.

The first walk begins mild, since it has no time to cool down from more.
"""

LONGEST = 8
"""Segments that are no blocks of equal tasks have at most 8 tasks, but for ends of orders."""

LOOPS = MachineCode("dfopt.solvers.heuristics.segment_exchange:first_calls")


class CpuOrders(NamedTuple):
    """What m CPUs run, each at most k tasks, of n types.

    Parameters
    ----------
    rows
        (m, k + 2). The types that each CPU runs, behind n plus its own number, which stands for
        its beginning, and before n, which stands for its end.
    lengths, loads, costs
        (m,). How many tasks each CPU runs, their size, and what it pays.
    """

    rows: Integers
    lengths: Integers
    loads: Integers
    costs: Integers


class SegmentExchange:
    """Simulated annealing that starts from the best schedule of a search.

    Parameters
    ----------
    search
        Of an instance without releases and precedence, which has a schedule.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self._random = np.random.default_rng(search.seed)
        self._between = search.costs.between()
        self._capacity = min(search.instance.tasks_per_cpu, search.instance.task_count)
        self._sizes = np.array([task_type.size for task_type in search.types], dtype=np.int64)
        self._by_worst = search.instance.objective is not Objective.TOTAL_PENALTY
        self._moved = np.zeros(self._capacity, dtype=np.int64)
        count = len(search.types)
        switches = self._between[:count, :count]
        mean = (switches.sum() - np.trace(switches)) / max(1, count * (count - 1))
        self._scale = max(1.0, float(mean))

    def run(self, effort: float = 1.0) -> None:
        """Walk until long walks find nothing better; the first walks are short.

        Parameters
        ----------
        effort
            Scales the length of the walks.
        """
        search = self.search
        if self._capacity * search.instance.cpus > LARGEST_STATE:
            return
        search.enter("exchanges of segments")
        LOOPS.walk_meanwhile(lambda: self.walk(PLAIN_MOVES, MILD, is_plain=True), search.check)
        longest = int(effort * min(MOST_MOVES, MOVES_PER_TASK * search.instance.task_count))
        moves, hot, failures = max(1, longest // SHORTER), MILD, 0
        while failures < FAILURES:
            before = search.objective
            self.walk(moves, hot)
            if moves == longest:
                failures = 0 if search.objective != before else failures + 1
            moves, hot = min(longest, moves * GROWTH), HOT

    def walk(self, moves: int, hot: float = HOT, *, is_plain: bool = False) -> None:
        """Walk from the best schedule of the search, and report what is better.

        Parameters
        ----------
        moves
            The walk cools down while this number of exchanges are tried, or sooner where less time
            is left.
        hot
            The first temperature.
        is_plain
            Whether plain Python is at work, in this thread and in smaller steps.
        """
        search = self.search
        known = search.objective
        assert known is not None
        orders = self.orders()
        best, best_lengths = orders.rows.copy(), orders.lengths.copy()
        value = np.array([known], dtype=np.int64)
        done, chunk = 0, PLAIN_CHUNK if is_plain else MOVES_PER_CHUNK
        time_left = search.time_left
        while done < moves:
            cooled = max(done / moves, search.over_of(time_left))
            tried = min(chunk, moves - done)
            call = partial(
                anneal, self._between, self._sizes, search.instance.room, self._by_worst, orders,
                self._moved, best, best_lengths, value,
                hot * (COLD / hot) ** cooled * self._scale, tried,
                int(self._random.integers(1 << 31)),
            )  # fmt: skip
            call() if is_plain else wait_for(call, search.check)
            done += tried
            if value[0] < known:
                known = int(value[0])
                rows = zip(best, best_lengths.tolist(), strict=True)
                search.found([row[1 : length + 1].tolist() for row, length in rows])
            search.check()

    def orders(self) -> CpuOrders:
        """Return the best schedule of the search."""
        search = self.search
        assert search.schedule is not None
        cpus, end = search.instance.cpus, len(search.types)
        rows = np.full((cpus, self._capacity + 2), end, dtype=np.int64)
        rows[:, 0] += 1 + np.arange(cpus)
        lengths, loads = np.zeros(cpus, dtype=np.int64), np.zeros(cpus, dtype=np.int64)
        for cpu, order in enumerate(search.orders_of(search.schedule)):
            lengths[cpu] = len(order)
            rows[cpu, 1 : len(order) + 1] = order
            loads[cpu] = self._sizes[order].sum()
        return CpuOrders(rows, lengths, loads, self.costs_of(rows, lengths))

    def costs_of(self, rows: Integers, lengths: Integers) -> Integers:
        """Return what each CPU pays."""
        return np.array(
            [
                self._between[row[: length + 1], row[1 : length + 2]].sum()
                for row, length in zip(rows, lengths.tolist(), strict=True)
            ],
            dtype=np.int64,
        )


def first_calls() -> None:
    """Call the compiled functions, so that they are loaded or compiled."""
    table, row = np.zeros((2, 2), dtype=np.int64), np.zeros(1, dtype=np.int64)
    orders = CpuOrders(np.ones((1, 2), dtype=np.int64), row, row, row)
    anneal(table, row, 1, False, orders, row, orders.rows, row, row, 1.0, 0, 0)


@compiled_in_place
def block_end(rows: Integers, cpu: int, place: int, behind: int) -> int:
    """Return where the run of equal types that has a place ends."""
    end = place + 1
    while end < behind and rows[cpu, end] == rows[cpu, place]:
        end += 1
    return end


@compiled_in_place
def path_cost(between: Integers, rows: Integers, cpu: int, first: int, last: int) -> int:
    """Return the cost of the switches from one place of a CPU to another one."""
    cost = 0
    for place in range(first, last):
        cost += between[rows[cpu, place], rows[cpu, place + 1]]
    return cost


@compiled_in_place
def weight(cost: int, scale: float) -> float:
    """Return what a CPU adds to the energy: near the largest cost it grows as the cost does."""
    part = cost / scale
    return part * part * part * part * scale / 4


@compiled_in_place
def anneal(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    between: Integers,
    sizes: Integers,
    room: int,
    by_worst: bool,
    orders: CpuOrders,
    moved: Integers,
    best: Integers,
    best_lengths: Integers,
    value: Integers,
    temperature: float,
    moves: int,
    seed: int,
) -> None:
    """Try exchanges of segments; keep the best schedule in ``best`` and its value in ``value``."""
    np.random.seed(seed)
    rows, lengths, loads, costs = orders.rows, orders.lengths, orders.loads, orders.costs
    cpus, capacity = len(rows), rows.shape[1] - 2
    total = 0
    for cpu in range(cpus):
        total += costs[cpu]
    for _ in range(moves):
        i, j = np.random.randint(cpus), np.random.randint(cpus)
        if by_worst and np.random.randint(2) == 0:
            for _ in range(3):
                other = np.random.randint(cpus)
                if costs[other] > costs[i]:
                    i = other
        length, length_j = lengths[i], lengths[j]
        size_i = size_j = growth = change = change_j = 0
        is_reversed = False
        p, q = 1 + np.random.randint(length + 1), 1 + np.random.randint(length_j + 1)
        if i == j:
            if p > length or length == 1:
                continue
            kind = np.random.randint(3)
            if kind == 0:  # A segment is reversed.
                is_reversed = True
                p, q = min(p, q), max(p, q)
                if p == q or q > length:
                    continue
                a, b, first, last = rows[i, p - 1], rows[i, q + 1], rows[i, p], rows[i, q]
                change = between[a, last] + between[first, b] - between[a, first] - between[last, b]
                for x in range(p, q):
                    change += between[rows[i, x + 1], rows[i, x]]
                    change -= between[rows[i, x], rows[i, x + 1]]
            else:  # A segment goes to another place: before the one that stands at q.
                size_i = block_end(rows, i, p, length + 1) - p
                if kind == 1:
                    size_i = min(length + 1 - p, 1 + np.random.randint(4))
                if p <= q <= p + size_i:
                    continue
                first, last = rows[i, p], rows[i, p + size_i - 1]
                a, b, c, d = rows[i, p - 1], rows[i, p + size_i], rows[i, q - 1], rows[i, q]
                change = (
                    between[a, b] - between[a, first] - between[last, b]
                    - between[c, d] + between[c, first] + between[last, d]
                )  # fmt: skip
        else:
            kind = np.random.randint(4)
            if kind == 0:  # ends of orders
                size_i, size_j = length + 1 - p, length_j + 1 - q
            else:
                if p <= length:
                    size_i = block_end(rows, i, p, length + 1) - p
                if kind == 1 and size_i > 1:
                    size_i = 1 + np.random.randint(size_i)
                elif kind == 2:  # noqa: PLR2004
                    size_i = min(length + 1 - p, 1 + np.random.randint(LONGEST))
                answer = np.random.randint(4)
                if answer == 0:
                    if q <= length_j:
                        size_j = block_end(rows, j, q, length_j + 1) - q
                elif answer == 1:
                    size_j = min(size_i, length_j + 1 - q)
            if length - size_i + size_j > capacity or length_j - size_j + size_i > capacity:
                continue
            if size_i + size_j == 0:
                continue
            for x in range(q, q + size_j):
                growth += sizes[rows[j, x]]
            for x in range(p, p + size_i):
                growth -= sizes[rows[i, x]]
            if loads[i] + growth > room or loads[j] - growth > room:
                continue
            # Between a and b on the one CPU and between c and d on the other one.
            a, b, c, d = rows[i, p - 1], rows[i, p + size_i], rows[j, q - 1], rows[j, q + size_j]
            change = -path_cost(between, rows, i, p - 1, p + size_i)
            change_j = -path_cost(between, rows, j, q - 1, q + size_j)
            if size_i:
                first, last = rows[i, p], rows[i, p + size_i - 1]
                change_j += path_cost(between, rows, i, p, p + size_i - 1)
                change_j += between[c, first] + between[last, d]
            else:
                change_j += between[c, d]
            if size_j:
                first, last = rows[j, q], rows[j, q + size_j - 1]
                change += path_cost(between, rows, j, q, q + size_j - 1)
                change += between[a, first] + between[last, b]
            else:
                change += between[a, b]
        rise = float(change + change_j)
        if by_worst:
            scale = max(1.0, float(value[0]))
            rise = weight(costs[i] + change, scale) - weight(costs[i], scale)
            if i != j:
                rise += weight(costs[j] + change_j, scale) - weight(costs[j], scale)
        if rise > 0 and np.random.random() >= exp(-rise / temperature):
            continue
        if is_reversed:
            while p < q:
                rows[i, p], rows[i, q] = rows[i, q], rows[i, p]
                p, q = p + 1, q - 1
        elif i == j:
            shift(rows, i, p, size_i, q, moved)
        else:
            exchange(rows, i, p, size_i, length, j, q, size_j, length_j, moved)
            lengths[i] = length - size_i + size_j
            lengths[j] = length_j - size_j + size_i
            loads[i] += growth
            loads[j] -= growth
            costs[j] += change_j
        costs[i] += change
        total += change + change_j
        now = total
        if by_worst:
            now = max(costs[i], costs[j])
            if now < value[0]:
                for cpu in range(cpus):
                    now = max(now, costs[cpu])
        if now < value[0]:
            value[0] = now
            for cpu in range(cpus):
                best_lengths[cpu] = lengths[cpu]
                for x in range(lengths[cpu] + 1):
                    best[cpu, x] = rows[cpu, x]


@compiled_in_place
def shift(  # noqa: PLR0913, PLR0917
    rows: Integers, cpu: int, start: int, size: int, target: int, moved: Integers
) -> None:
    """Move a segment of a CPU before what stands at another place."""
    for x in range(size):
        moved[x] = rows[cpu, start + x]
    if target < start:
        for x in range(start - 1, target - 1, -1):
            rows[cpu, x + size] = rows[cpu, x]
        place = target
    else:
        for x in range(start + size, target):
            rows[cpu, x - size] = rows[cpu, x]
        place = target - size
    for x in range(size):
        rows[cpu, place + x] = moved[x]


@compiled_in_place
def exchange(  # noqa: PLR0913, PLR0917
    rows: Integers,
    i: int,
    p: int,
    size_i: int,
    length_i: int,
    j: int,
    q: int,
    size_j: int,
    length_j: int,
    moved: Integers,
) -> None:
    """Exchange two segments of two CPUs, with what stands behind them up to the ends."""
    for x in range(size_i):
        moved[x] = rows[i, p + x]
    make_room(rows, i, p + size_i, length_i + 1, size_j - size_i)
    for x in range(size_j):
        rows[i, p + x] = rows[j, q + x]
    make_room(rows, j, q + size_j, length_j + 1, size_i - size_j)
    for x in range(size_i):
        rows[j, q + x] = moved[x]


@compiled_in_place
def make_room(rows: Integers, cpu: int, first: int, last: int, growth: int) -> None:
    """Move what stands at some places of a CPU by a number of places."""
    if growth > 0:
        for x in range(last, first - 1, -1):
            rows[cpu, x + growth] = rows[cpu, x]
    elif growth < 0:
        for x in range(first, last + 1):
            rows[cpu, x + growth] = rows[cpu, x]
