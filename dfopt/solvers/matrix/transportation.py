"""The transportation problem with limits on its arcs, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

Table = list[list[int]]

UNREACHED = 1 << 200
"""Longer than any path."""


def go_on() -> None:
    """Let a search go on; the default of what may end it."""


def least_transport(
    supplies: Sequence[int],
    demands: Sequence[int],
    costs: Sequence[Sequence[int]],
    limits: Sequence[Sequence[int]],
    check: Callable[[], object] = go_on,
) -> tuple[int, Table] | None:
    """Return the least cost of bringing all supplies to the demands, and how much goes where.

    Parameters
    ----------
    supplies, demands
        Amounts that the rows give and the columns take, at least 0; their sums are equal.
    costs
        Of one piece from a row to a column, at least 0.
    limits
        At most this number of pieces may go from a row to a column.
    check
        Called often; what it raises ends the search.

    Returns
    -------
    tuple or None
        None where the limits leave no solution. All costs are exact, however large.

    Notes
    -----
    Successive shortest paths (Busacker and Gowen 1960): each step sends as much as it can on a
    path that is shortest given what flows already. So what flows is always the cheapest for its
    amount.
    """
    rows, columns = range(len(supplies)), range(len(demands))
    left, wanted = list(supplies), list(demands)
    room = [list(row) for row in limits]
    flow = [[0] * len(demands) for _ in rows]
    missing = sum(left)
    while missing:
        check()
        from_row, to_row, distance = _shortest_paths(left, costs, room, flow)
        last = min(
            (column for column in columns if wanted[column]),
            key=distance.__getitem__,
        )
        if distance[last] == UNREACHED:
            return None
        path = []
        column = last
        while True:
            row = from_row[column]
            path.append((row, column))
            column = to_row[row]
            if column < 0:
                break
        # Between two rows of the path something is taken back from the column between them.
        back = [(row, column) for (row, _), (_, column) in pairwise(path)]
        amount = min(
            left[path[-1][0]],
            wanted[last],
            *(room[row][column] for row, column in path),
            *(flow[row][column] for row, column in back),
        )
        for row, column in path:
            room[row][column] -= amount
            flow[row][column] += amount
        for row, column in back:
            room[row][column] += amount
            flow[row][column] -= amount
        left[path[-1][0]] -= amount
        wanted[last] -= amount
        missing -= amount
    total = sum(
        amount * cost
        for flows, prices in zip(flow, costs, strict=True)
        for amount, cost in zip(flows, prices, strict=True)
        if amount
    )
    return total, flow


def _shortest_paths(
    left: Sequence[int], costs: Sequence[Sequence[int]], room: Table, flow: Table
) -> tuple[list[int], list[int], list[int]]:
    """Return from where each column and each row is reached, and how far the columns are.

    Costs of arcs that are taken back are negative, so distances are corrected until none changes
    (Bellman and Ford).
    """
    columns = len(room[0])
    row_distance = [0 if amount else UNREACHED for amount in left]
    column_distance = [UNREACHED] * columns
    from_row, to_row = [-1] * columns, [-1] * len(left)
    fresh = [row for row, amount in enumerate(left) if amount]
    while fresh:
        changed = set()
        for row in fresh:
            base, prices = row_distance[row], costs[row]
            for column, free in enumerate(room[row]):
                if free and base + prices[column] < column_distance[column]:
                    column_distance[column] = base + prices[column]
                    from_row[column] = row
                    changed.add(column)
        again = set()
        for column in changed:
            for row, flows in enumerate(flow):
                if flows[column]:
                    reached = column_distance[column] - costs[row][column]
                    if reached < row_distance[row]:
                        row_distance[row] = reached
                        to_row[row] = column
                        again.add(row)
        fresh = sorted(again)
    return from_row, to_row, column_distance
