"""Certificates about tours: what one CPU pays at least for an order of all tasks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCut:
    """Nodes that an order of tasks leaves between the last of some and the first of others.

    Nodes are numbered from 1 on.

    Parameters
    ----------
    within
        The nodes that are left.
    last_of
        Some of these nodes; without any, the start of the order.
    first_of
        Nodes outside that come after all of ``last_of``; without any, the end of the order.
    """

    within: tuple[int, ...]
    last_of: tuple[int, ...] = ()
    first_of: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcFork:
    """Two cases: node ``after`` follows node ``before`` at most ``at_most`` times, or more often.

    As ``before``, 0 stands for the start of the order, and as ``after`` for its end.
    """

    before: int
    after: int
    at_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcWeights:
    """Weights that exclude the threshold where the forks above hold.

    Parameters
    ----------
    leaving, entering
        For each node, the weight of each visit when it ends and when it begins. The first ones
        are those of the start and of the end of the order.
    cuts
        Numbers of cuts, and their weights.
    scale
        The weight of a unit of cost.
    beginnings
        Whether the weights exclude the threshold only with a search: they leave few beginnings of
        orders, and the checker tries these.
    """

    leaving: tuple[int, ...]
    entering: tuple[int, ...]
    cuts: tuple[tuple[int, int], ...] = ()
    scale: int = 1
    beginnings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tour:
    """One CPU under a matrix: what the order of all tasks costs at least.

    Parameters
    ----------
    nodes
        The names of the tasks if some wait for others, else those of the types.
    cuts
        What every order satisfies.
    tree
        Cases: each fork is followed by all of its first case, then by all of its second.
    threshold
        A value that no schedule reaches.
    """

    nodes: tuple[str, ...]
    cuts: tuple[OrderCut, ...]
    tree: tuple[ArcFork | ArcWeights, ...]
    threshold: int | None = None
