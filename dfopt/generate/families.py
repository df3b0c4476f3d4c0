"""Families whose tasks share data fragments: ``zipf``, ``uniform`` and ``tight``.

They differ in how many tasks use each fragment. Under the penalty f every task then draws, by
itself, the lines it reads and the state in which it leaves its fragment; under g neither counts
and neither is drawn. Tasks ``t0``, ``t1``, … stand fragment by fragment, ``DF1`` first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from itertools import accumulate, pairwise
from math import isclose, isfinite
from random import Random
from typing import Literal, TypedDict, Unpack

from dfopt.checks import check_integer
from dfopt.errors import InstanceError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import LARGEST_TASK_COUNT, Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix

DEFAULT_F = PenaltyF(read_line=1, write_back=20)
DEFAULT_G = PenaltyG(fill=40, write_back=20)
DEFAULT_LEAVES = (0.5, 0.2, 0.3)

DIAGONAL_SHARE = 10
"""A switch between tasks of one type costs at most this part of the largest cost."""

Table = list[list[int]]

BITS = 53
"""``random()`` is a multiple of 2⁻⁵³, so multiplying by 2⁵³ loses nothing."""


class MachineOptions(TypedDict, total=False):
    """Attributes of the :class:`~dfopt.problem.instance.Instance`, with the same defaults."""

    capacity: int | Literal["balanced", "unlimited"]
    objective: Objective
    cold_start: bool
    final_write_back: bool


class FragmentOptions(MachineOptions, total=False):
    """Parameters of the families with fragments, besides :class:`MachineOptions`.

    Parameters
    ----------
    penalty
        The switch penalty; default :data:`~dfopt.generate.families.DEFAULT_F`.
    lines
        Under f, the lines that a task reads are uniform on 1 … lines; default 40.
    leaves
        Under f, the probabilities that a task leaves its fragment clean, dirty, invalidated;
        default (0.5, 0.2, 0.3).
    exec
        Execution times are uniform on 1 … exec; default 0, which gives every task 0.
    size
        Sizes are uniform on 1 … size; default 1.
    """

    penalty: PenaltyF | PenaltyG
    lines: int
    leaves: tuple[float, float, float]
    exec: int
    size: int


def check_task_count(tasks: int, place: str = "tasks") -> None:
    """Refuse anything but 1 to :data:`~dfopt.problem.instance.LARGEST_TASK_COUNT` tasks."""
    check_integer(tasks, place, least=1)
    if tasks > LARGEST_TASK_COUNT:
        raise InstanceError(f"{tasks} are too many; at most {LARGEST_TASK_COUNT}", place=place)


class Draws:
    """A sequence of random draws, the same on every platform and in every version of Python.

    Python promises that ``random.Random(seed).random()`` keeps its sequence, and promises nothing
    about its other methods. So every draw here takes the 53 random bits of one ``random()`` and
    goes on in exact integers.

    Parameters
    ----------
    seed
        Integer ≥ 0; the same seed gives the same draws.
    """

    def __init__(self, seed: int) -> None:
        check_integer(seed, "seed")
        self._random = Random(seed).random

    def below(self, count: int) -> int:
        """Return one of 0 … count − 1, all equally likely (to within 2⁻⁵³)."""
        return int(self._random() * 2**BITS) * count >> BITS

    def between(self, least: int, most: int) -> int:
        """Return one of least … most, all equally likely."""
        return least + self.below(most - least + 1)

    def index(self, bounds: Sequence[int]) -> int:
        """Return an index i, with probability (bounds[i] − bounds[i − 1]) / bounds[−1].

        ``bounds`` are the running sums of the weights.
        """
        return bisect_right(bounds, self.below(bounds[-1]))

    def distinct(self, count: int, below: int) -> list[int]:
        """Return ``count`` distinct numbers of 0 … below − 1, ascending (Floyd's algorithm)."""
        chosen: set[int] = set()
        for last in range(below - count, below):
            candidate = self.below(last + 1)
            chosen.add(last if candidate in chosen else candidate)
        return sorted(chosen)


def zipf(
    *,
    tasks: int,
    cpus: int,
    fragments: int,
    skew: float = 1.0,
    seed: int = 0,
    **options: Unpack[FragmentOptions],
) -> Instance:
    """Return an instance in which a few fragments have most of the tasks.

    Each fragment is used once; the fragments of the remaining tasks are drawn independently, the
    one of rank r with probability proportional to 1/r^skew.

    Parameters
    ----------
    tasks, cpus, fragments
        How many there are; at least one task a fragment.
    skew
        Exponent of the weights, ≥ 0; 0 draws all fragments equally often.
    seed
        Integer ≥ 0.
    **options
        See :class:`~dfopt.generate.FragmentOptions`.

    Raises
    ------
    InstanceError
        When a parameter is impossible; its place is the parameter's name.

    Examples
    --------
    >>> instance = zipf(tasks=6, cpus=2, fragments=3, seed=1)
    >>> [(task.df, task.lines, str(task.leaves)) for task in instance.tasks[:2]]
    [('DF1', 11, 'clean'), ('DF1', 18, 'dirty')]
    """
    if not (isfinite(skew) and skew >= 0):
        raise InstanceError(f"must be a number ≥ 0, not {skew}", place="skew")
    check_task_count(tasks)
    check_fragment_count(fragments, tasks)
    draws = Draws(seed)
    # Decimals are rounded alike everywhere; powers of floats are not.
    with localcontext(Context(prec=28)):
        ranks = range(1, fragments + 1)
        weights = [int(2**BITS * Decimal(rank) ** -Decimal(skew)) for rank in ranks]
    return with_sizes(
        f"zipf-n{tasks}-m{cpus}-d{fragments}-s{seed}",
        f"family zipf, seed {seed}: {tasks} tasks in {fragments} fragments, "
        f"each used once, then drawn with weight 1/rank^{skew:g}",
        drawn_sizes(draws, weights, tasks),
        cpus,
        draws,
        **options,
    )


def uniform(
    *, tasks: int, cpus: int, fragments: int, seed: int = 0, **options: Unpack[FragmentOptions]
) -> Instance:
    """Return an instance in which all fragments are equally popular.

    Each fragment is used once; the fragments of the remaining tasks are drawn independently, all
    equally likely. Parameters and errors are those of :func:`zipf`.
    """
    check_task_count(tasks)
    check_fragment_count(fragments, tasks)
    draws = Draws(seed)
    return with_sizes(
        f"uniform-n{tasks}-m{cpus}-d{fragments}-s{seed}",
        f"family uniform, seed {seed}: {tasks} tasks in {fragments} fragments, "
        "each used once, then drawn with equal weights",
        drawn_sizes(draws, [1] * fragments, tasks),
        cpus,
        draws,
        **options,
    )


def tight(
    *, cpus: int, per_cpu: int, fragments: int, seed: int = 0, **options: Unpack[FragmentOptions]
) -> Instance:
    """Return an instance without slack, whose fragments hardly ever fit evenly.

    cpus · per_cpu tasks in a row are cut into fragments at fragments − 1 distinct places, every
    choice of places equally likely. With the capacity ``"balanced"`` every CPU must then hold
    exactly per_cpu tasks. The default penalty is :data:`DEFAULT_G`; the other parameters and the
    errors are those of :func:`zipf`.
    """
    check_integer(cpus, "cpus", least=1)
    check_integer(per_cpu, "per_cpu", least=1)
    tasks = cpus * per_cpu
    check_task_count(tasks, "per_cpu")
    check_fragment_count(fragments, tasks)
    draws = Draws(seed)
    cuts = [0, *(cut + 1 for cut in draws.distinct(fragments - 1, tasks - 1)), tasks]
    options.setdefault("penalty", DEFAULT_G)
    return with_sizes(
        f"tight-n{tasks}-m{cpus}-d{fragments}-s{seed}",
        f"family tight, seed {seed}: {cpus} times {per_cpu} tasks, cut at random "
        f"into {fragments} fragments",
        [end - start for start, end in pairwise(cuts)],
        cpus,
        draws,
        **options,
    )


def check_fragment_count(fragments: int, tasks: int) -> None:
    """Refuse more fragments than tasks, and none."""
    check_integer(fragments, "fragments", least=1)
    if fragments > tasks:
        raise InstanceError(
            f"must be at most the number of tasks, {tasks}, not {fragments}", place="fragments"
        )


def drawn_sizes(draws: Draws, weights: Sequence[int], tasks: int) -> list[int]:
    """Return how many tasks each fragment has: one, and those that the draws add."""
    bounds = list(accumulate(weights))
    drawn = Counter(draws.index(bounds) for _ in range(tasks - len(weights)))
    return [1 + drawn[fragment] for fragment in range(len(weights))]


def with_sizes(  # noqa: PLR0913
    name: str,
    family: str,
    sizes: Sequence[int],
    cpus: int,
    draws: Draws,
    *,
    penalty: PenaltyF | PenaltyG = DEFAULT_F,
    lines: int = 40,
    leaves: tuple[float, float, float] = DEFAULT_LEAVES,
    exec: int = 0,
    size: int = 1,
    **machine: Unpack[MachineOptions],
) -> Instance:
    """Return the instance whose fragments have these numbers of tasks; draw the rest."""
    check_integer(lines, "lines", least=1)
    check_integer(exec, "exec")
    check_integer(size, "size", least=1)
    bounds = leaves_bounds(leaves)
    reads = isinstance(penalty, PenaltyF)
    owners = (f"DF{number}" for number, count in enumerate(sizes, start=1) for _ in range(count))
    tasks = tuple(
        Task(
            id=f"t{number}",
            df=owner,
            lines=draws.between(1, lines) if reads else None,
            leaves=tuple(Leaves)[draws.index(bounds)] if reads else Leaves.CLEAN,
            exec=draws.between(1, exec) if exec else 0,
            size=draws.between(1, size) if size > 1 else 1,
        )
        for number, owner in enumerate(owners)
    )
    parts = [family]
    if reads:
        chances = ", ".join(
            f"{state} {chance:g}" for state, chance in zip(Leaves, leaves, strict=True)
        )
        parts += [f"lines uniform on 1 to {lines}", f"leaves {chances}"]
    if exec:
        parts.append(f"exec uniform on 1 to {exec}")
    if size > 1:
        parts.append(f"sizes uniform on 1 to {size}")
    return Instance(
        name=name,
        description="; ".join(parts),
        cpus=cpus,
        penalty=penalty,
        tasks=tasks,
        **machine,
    )


def leaves_bounds(leaves: tuple[float, float, float]) -> list[int]:
    """Return the running sums of integer weights for how a task leaves its fragment."""
    if len(leaves) != len(Leaves) or not all(0 <= chance <= 1 for chance in leaves):
        raise InstanceError(
            "must be three probabilities: clean, dirty, invalidated", place="leaves"
        )
    if not isclose(sum(leaves), 1, abs_tol=1e-9):
        raise InstanceError(f"must add up to 1, not {sum(leaves):g}", place="leaves")
    return list(accumulate(int(chance * 2**BITS) for chance in leaves))


def matrix(  # noqa: PLR0913
    *,
    tasks: int,
    cpus: int,
    types: int,
    largest: int = 40,
    triangle: bool = False,
    exec: int = 0,
    size: int = 1,
    seed: int = 0,
    **machine: Unpack[MachineOptions],
) -> Instance:
    """Return an instance whose switch costs are a random table over task types.

    The costs are uniform on 1 … largest and not symmetric; on the diagonal they are uniform on
    0 … ⌈largest / 10⌉. Each task's type is drawn independently, all equally likely.

    Parameters
    ----------
    tasks, cpus, types
        How many there are.
    largest
        Largest cost, ≥ 1.
    triangle
        Whether each cost is replaced by that of the cheapest path, so that a detour through
        another type never pays: switch[a][c] ≤ switch[a][b] + switch[b][c] for all a, b, c.
    exec
        Execution times are uniform on 1 … exec; 0 gives every task 0.
    size
        Sizes are uniform on 1 … size.
    seed
        Integer ≥ 0.
    **machine
        See :class:`~dfopt.generate.MachineOptions`. With ``cold_start`` a row ``start`` is drawn
        like the table, with ``final_write_back`` a row ``finish``; ``triangle`` holds for both.

    Raises
    ------
    InstanceError
        When a parameter is impossible; its place is the parameter's name.
    """
    check_task_count(tasks)
    check_integer(types, "types", least=1)
    check_integer(largest, "largest", least=1)
    check_integer(exec, "exec")
    check_integer(size, "size", least=1)
    draws = Draws(seed)
    names = tuple(f"T{number}" for number in range(1, types + 1))
    switch = drawn_table(types, largest, draws)
    drawn_tasks = tuple(
        Task(
            id=f"t{number}",
            type=names[draws.below(types)],
            exec=draws.between(1, exec) if exec else 0,
            size=draws.between(1, size) if size > 1 else 1,
        )
        for number in range(tasks)
    )
    start = finish = None
    if machine.get("cold_start"):
        start = [draws.between(1, largest) for _ in names]
    if machine.get("final_write_back"):
        finish = [draws.between(1, largest) for _ in names]
    if triangle:
        switch = shortest_ways(switch)
        start = start and shortest_entries(start, switch)
        finish = finish and shortest_entries(finish, transposed(switch))
    return Instance(
        name=f"matrix-n{tasks}-m{cpus}-t{types}-s{seed}",
        description=f"family matrix, seed {seed}: {tasks} tasks of {types} types; switch costs "
        f"uniform on 1 to {largest}, smaller within a type"
        + ("; shortest ways, so that the triangle inequality holds" if triangle else "")
        + (f"; exec uniform on 1 to {exec}" if exec else "")
        + (f"; sizes uniform on 1 to {size}" if size > 1 else ""),
        cpus=cpus,
        penalty=PenaltyMatrix(
            types=names,
            switch=tuple(tuple(row) for row in switch),
            start=None if start is None else tuple(start),
            finish=None if finish is None else tuple(finish),
        ),
        tasks=drawn_tasks,
        **machine,
    )


def drawn_table(size: int, largest: int, draws: Draws) -> Table:
    """Return a random square table, small on the diagonal."""
    small = -(-largest // DIAGONAL_SHARE)
    return [
        [
            draws.between(0, small) if row == column else draws.between(1, largest)
            for column in range(size)
        ]
        for row in range(size)
    ]


def shortest_ways(switch: Table) -> Table:
    """Return the cost of the cheapest way, of one switch or more, between any two types."""
    # Floyd and Warshall: after each round the ways may pass through one type more.
    ways = [list(row) for row in switch]
    for middle in range(len(ways)):
        onward = ways[middle]
        for row in ways:
            reach = row[middle]
            row[:] = [min(cost, reach + rest) for cost, rest in zip(row, onward, strict=True)]
    return ways


def shortest_entries(first: list[int], ways: Table) -> list[int]:
    """Return for each type the cheapest way to it that begins with one of the ``first`` costs."""
    return [
        min(cost, *(entry + row[column] for entry, row in zip(first, ways, strict=True)))
        for column, cost in enumerate(first)
    ]


def transposed(table: Table) -> Table:
    """Return the table with rows and columns exchanged."""
    return [list(column) for column in zip(*table, strict=True)]
