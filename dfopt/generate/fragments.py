"""Families whose tasks share data fragments: ``zipf``, ``uniform`` and ``tight``.

They differ in how many tasks use each fragment. Under the penalty f every task then draws, by
itself, the lines it reads and the state in which it leaves its fragment; under g neither counts
and neither is drawn. Tasks ``t0``, ``t1``, … stand fragment by fragment, ``DF1`` first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from itertools import accumulate, pairwise
from math import isclose, isfinite
from typing import Unpack

from dfopt.checks import check_integer
from dfopt.errors import InstanceError
from dfopt.generate.draws import BITS, Draws
from dfopt.generate.options import FragmentOptions, MachineOptions, check_task_count
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG

DEFAULT_F = PenaltyF(read_line=1, write_back=20)
DEFAULT_G = PenaltyG(fill=40, write_back=20)
DEFAULT_LEAVES = (0.5, 0.2, 0.3)


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
