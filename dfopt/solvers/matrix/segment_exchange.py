"""Local search under a matrix: CPUs exchange segments of their orders.

The cost of an order is a sum over neighbours. So an exchange of two segments changes only the
switches at their four ends, whatever their lengths, and some millions of exchanges a second can be
priced. Simulated annealing decides which ones are made (Kirkpatrick, Gelatt and Vecchi 1983).
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from dfopt.problem.instance import Objective
from dfopt.solvers.compilation.compiled import compiled, load
from dfopt.solvers.interruptible import wait_for
from dfopt.solvers.search import Search

Integers = npt.NDArray[np.int64]

MOVES_PER_TASK = 50_000
"""Number of exchanges that a walk tries for each task."""

MOST_MOVES = 20_000_000
"""A walk tries at most 20,000,000 exchanges."""

MOVES_PER_CHUNK = 200_000
"""Between two looks at the clock at most 200,000 exchanges are tried."""

FAILURES = 3
"""The search gives up after 3 walks in a row without a better schedule."""

LARGEST_STATE = 1 << 24
"""All CPUs together have room for at most this number of tasks."""

HOT, COLD = 0.3, 0.01
"""The first and the last temperature, as shares of the average switch between types."""

SHARE_OF_SUM = 0.05
"""What the sum of the costs counts where the largest is to be small."""


class SegmentExchange:
    """Simulated annealing that starts from the best schedule of a search.

    Parameters
    ----------
    search
        Of an instance with a matrix, without releases and precedence, which has a schedule.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        instance, table = search.instance, search.costs
        self._random = np.random.default_rng(search.seed)
        exec_times = np.array(table.exec, dtype=np.int64)
        self._switch = np.array(table.switch, dtype=np.int64) + exec_times
        self._start = np.array(table.start, dtype=np.int64) + exec_times
        self._finish = np.array(table.finish, dtype=np.int64)
        self._idle = np.array(table.idle, dtype=np.int64)
        self._capacity = min(instance.tasks_per_cpu, instance.task_count)
        self._sizes = np.array([task_type.size for task_type in search.types], dtype=np.int64)
        self._by_worst = instance.objective is not Objective.TOTAL_PENALTY
        others = self._switch[~np.eye(len(self._switch), dtype=bool)]
        self._scale = max(1.0, float(others.mean()) if len(others) else 1.0)

    def run(self) -> None:
        """Walk until walks find nothing better."""
        search = self.search
        size = self._capacity * search.instance.cpus
        if size > LARGEST_STATE:
            return
        search.enter("exchanges of segments")
        load(first_calls, search.check)
        moves = min(MOST_MOVES, MOVES_PER_TASK * search.instance.task_count)
        failures = 0
        while failures < FAILURES:
            before = search.objective
            self._walk(moves)
            failures = 0 if search.objective != before else failures + 1

    def _walk(self, moves: int) -> None:
        orders, lengths = self._state()
        best, best_lengths = orders.copy(), lengths.copy()
        costs = np.array(
            [self.cost_of(cpu, orders[cpu, :length]) for cpu, length in enumerate(lengths)],
            dtype=np.int64,
        )
        loads = np.array(
            [self._sizes[row[:length]].sum() for row, length in zip(orders, lengths, strict=True)],
            dtype=np.int64,
        )
        room = self.search.instance.room
        known = self.search.objective
        assert known is not None
        value = np.array([known], dtype=np.int64)
        done = 0
        while done < moves:
            chunk = min(MOVES_PER_CHUNK, moves - done)
            cooled = HOT * (COLD / HOT) ** (done / moves) * self._scale
            wait_for(
                partial(
                    anneal, orders, lengths, loads, costs, best, best_lengths, value, self._sizes,
                    room, self._switch, self._start, self._finish, self._idle, self._by_worst,
                    cooled, chunk, int(self._random.integers(1 << 31)),
                ),
                self.search.check,
            )  # fmt: skip
            done += chunk
            if value[0] < known:
                known = int(value[0])
                self.search.found(
                    [
                        row[:length].tolist()
                        for row, length in zip(best, best_lengths.tolist(), strict=True)
                    ]
                )
            self.search.check()

    def cost_of(self, cpu: int, row: Integers) -> int:
        """Return what a CPU pays for an order of types."""
        if not len(row):
            return int(self._idle[cpu])
        inner = int(self._switch[row[:-1], row[1:]].sum())
        return int(self._start[cpu, row[0]]) + inner + int(self._finish[row[-1]])

    def _state(self) -> tuple[Integers, Integers]:
        """Return the best schedule: a row of types for each CPU, and how long it is."""
        search = self.search
        assert search.schedule is not None
        type_of = {
            name: number for number, types in enumerate(search.types) for name in types.names
        }
        orders = np.zeros((search.instance.cpus, self._capacity), dtype=np.int64)
        lengths = np.zeros(search.instance.cpus, dtype=np.int64)
        for cpu, claim in enumerate(search.schedule.cpus):
            lengths[cpu] = len(claim.tasks)
            orders[cpu, : lengths[cpu]] = [type_of[name] for name in claim.tasks]
        return orders, lengths


def first_calls() -> None:
    """Call the compiled functions, so that they are loaded or compiled."""
    one = np.zeros((1, 1), dtype=np.int64)
    row = np.zeros(1, dtype=np.int64)
    anneal(one, row, row, row, one, row, row, row, 1, one, one, row, row, by_worst=False,
           temperature=1.0, moves=0, seed=0)  # fmt: skip


@compiled
def neighbours_cost(  # noqa: PLR0913, PLR0917
    before: int, after: int, switch: Integers, start: Integers, finish: Integers, idle: int
) -> int:
    """Return the cost between two neighbours; −1 stands for the beginning or the end of a CPU."""
    if before < 0:
        return idle if after < 0 else int(start[after])
    return int(finish[before]) if after < 0 else int(switch[before, after])


@compiled
def block_end(row: Integers, position: int, length: int) -> int:
    """Return where the run of equal types that has a position ends."""
    end = position + 1
    while end < length and row[end] == row[position]:
        end += 1
    return end


@compiled
def anneal(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    orders: Integers,
    lengths: Integers,
    loads: Integers,
    costs: Integers,
    best: Integers,
    best_lengths: Integers,
    value: Integers,
    sizes: Integers,
    room: int,
    switch: Integers,
    start: Integers,
    finish: Integers,
    idle: Integers,
    by_worst: bool,
    temperature: float,
    moves: int,
    seed: int,
) -> None:
    """Try exchanges of segments; keep the best schedule in ``best`` and its value in ``value``."""
    np.random.seed(seed)
    cpus, capacity = orders.shape
    moved = np.zeros(capacity, dtype=np.int64)
    for _ in range(moves):
        i = np.random.randint(cpus)
        j = np.random.randint(cpus)
        if by_worst and np.random.randint(2) == 0:
            for _ in range(3):
                other = np.random.randint(cpus)
                if costs[other] > costs[i]:
                    i = other
        if i == j:
            # Within a CPU: one segment goes to another position.
            length = lengths[i]
            if length <= 1:
                continue
            p = np.random.randint(length)
            end = block_end(orders[i], p, length)
            if np.random.randint(2) == 0:
                end = min(length, p + 1 + np.random.randint(4))
            size = end - p
            if size == length:
                continue
            q = np.random.randint(length - size + 1)
            if q == p:
                continue
            # Position q among the others.
            target = q if q < p else q + size
            first, last = orders[i, p], orders[i, end - 1]
            a = orders[i, p - 1] if p > 0 else -1
            b = orders[i, end] if end < length else -1
            c = orders[i, target - 1] if target > 0 else -1
            d = orders[i, target] if target < length else -1
            change = (
                neighbours_cost(a, b, switch, start[i], finish, idle[i])
                - neighbours_cost(a, first, switch, start[i], finish, idle[i])
                - neighbours_cost(last, b, switch, start[i], finish, idle[i])
                - neighbours_cost(c, d, switch, start[i], finish, idle[i])
                + neighbours_cost(c, first, switch, start[i], finish, idle[i])
                + neighbours_cost(last, d, switch, start[i], finish, idle[i])
            )
            change_j = growth = 0
            size_i = size_j = 0
        else:
            length, length_j = lengths[i], lengths[j]
            kind = np.random.randint(4)
            p = np.random.randint(length + 1)
            q = np.random.randint(length_j + 1)
            if kind == 0:  # tails
                size_i, size_j = length - p, length_j - q
            else:
                size_i = block_end(orders[i], p, length) - p if p < length else 0
                if kind == 1 and size_i > 1:
                    size_i = 1 + np.random.randint(size_i)
                elif kind > 2:  # noqa: PLR2004
                    size_i = min(length - p, np.random.randint(capacity) + 1)
                size_j = min(size_i, length_j - q)
                if np.random.randint(3) == 0:
                    size_j = block_end(orders[j], q, length_j) - q if q < length_j else 0
                elif np.random.randint(4) == 0:
                    size_j = 0
            if length - size_i + size_j > capacity or length_j - size_j + size_i > capacity:
                continue
            if size_i + size_j == 0:
                continue
            growth = 0
            for x in range(q, q + size_j):
                growth += sizes[orders[j, x]]
            for x in range(p, p + size_i):
                growth -= sizes[orders[i, x]]
            if loads[i] + growth > room or loads[j] - growth > room:
                continue
            a = orders[i, p - 1] if p > 0 else -1
            b = orders[i, p + size_i] if p + size_i < length else -1
            c = orders[j, q - 1] if q > 0 else -1
            d = orders[j, q + size_j] if q + size_j < length_j else -1
            change = change_j = 0
            if size_i:
                first, last = orders[i, p], orders[i, p + size_i - 1]
                change -= neighbours_cost(a, first, switch, start[i], finish, idle[i])
                change -= neighbours_cost(last, b, switch, start[i], finish, idle[i])
                change_j += neighbours_cost(c, first, switch, start[j], finish, idle[j])
                change_j += neighbours_cost(last, d, switch, start[j], finish, idle[j])
                inner = 0
                for x in range(p, p + size_i - 1):
                    inner += switch[orders[i, x], orders[i, x + 1]]
                change -= inner
                change_j += inner
            else:
                change -= neighbours_cost(a, b, switch, start[i], finish, idle[i])
                change_j += neighbours_cost(c, d, switch, start[j], finish, idle[j])
            if size_j:
                first, last = orders[j, q], orders[j, q + size_j - 1]
                change_j -= neighbours_cost(c, first, switch, start[j], finish, idle[j])
                change_j -= neighbours_cost(last, d, switch, start[j], finish, idle[j])
                change += neighbours_cost(a, first, switch, start[i], finish, idle[i])
                change += neighbours_cost(last, b, switch, start[i], finish, idle[i])
                inner = 0
                for x in range(q, q + size_j - 1):
                    inner += switch[orders[j, x], orders[j, x + 1]]
                change_j -= inner
                change += inner
            else:
                change_j -= neighbours_cost(c, d, switch, start[j], finish, idle[j])
                change += neighbours_cost(a, b, switch, start[i], finish, idle[i])
        rise = float(change + change_j)
        if by_worst:
            target_cost = value[0] - 1
            rise = SHARE_OF_SUM * rise
            rise += max(0, costs[i] + change - target_cost) - max(0, costs[i] - target_cost)
            if i != j:
                rise += max(0, costs[j] + change_j - target_cost) - max(0, costs[j] - target_cost)
        if rise > 0 and np.random.random() >= np.exp(-rise / temperature):
            continue
        if i == j:
            row = orders[i]
            moved[:size] = row[p:end]
            if target < p:
                for x in range(p - 1, target - 1, -1):
                    row[x + size] = row[x]
                row[target : target + size] = moved[:size]
            else:
                for x in range(end, target):
                    row[x - size] = row[x]
                row[target - size : target] = moved[:size]
        else:
            exchange(orders[i], length, p, size_i, orders[j], q, size_j, length_j, moved)
            lengths[i] = length - size_i + size_j
            lengths[j] = length_j - size_j + size_i
            loads[i] += growth
            loads[j] -= growth
            costs[j] += change_j
        costs[i] += change
        if change + change_j < 0 or by_worst:
            now = costs.max() if by_worst else costs.sum()
            if now < value[0]:
                value[0] = now
                best[:] = orders
                best_lengths[:] = lengths


@compiled
def exchange(  # noqa: PLR0913, PLR0917
    row: Integers,
    length: int,
    p: int,
    size_i: int,
    other: Integers,
    q: int,
    size_j: int,
    length_j: int,
    moved: Integers,
) -> None:
    """Exchange two segments of two rows."""
    moved[:size_i] = row[p : p + size_i]
    shift = size_j - size_i
    if shift > 0:
        for x in range(length - 1, p + size_i - 1, -1):
            row[x + shift] = row[x]
    elif shift < 0:
        for x in range(p + size_i, length):
            row[x + shift] = row[x]
    row[p : p + size_j] = other[q : q + size_j]
    if shift < 0:
        for x in range(length_j - 1, q + size_j - 1, -1):
            other[x - shift] = other[x]
    elif shift > 0:
        for x in range(q + size_j, length_j):
            other[x - shift] = other[x]
    other[q : q + size_i] = moved[:size_i]
