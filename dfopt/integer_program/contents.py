"""Penalty g without waiting: which fragments each CPU visits is all that counts."""

from __future__ import annotations

from dfopt.integer_program.labels import TaskKind, labels_of
from dfopt.integer_program.program import ProgramBuilder
from dfopt.problem.cache import CacheState
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyG

NOTES = {
    "visits_F_on_P": "1 if CPU P runs tasks of fragment F",
    "spared_F_on_P": "1 if fragment F comes first on CPU P, and is not paid for",
}


def add_penalties(
    builder: ProgramBuilder, instance: Instance, kinds: list[TaskKind]
) -> list[list[tuple[int, str]]]:
    """Add what a CPU visits, and return the terms of each CPU's penalty.

    Under g some best order runs the tasks of a fragment one after the other. So a CPU pays
    T_r + T_w for each fragment that it visits, but not for the first one if that entry is free.
    """
    fragments = list(dict.fromkeys(kind.task.df or "" for kind in kinds))
    label = dict(zip(fragments, labels_of(fragments), strict=True))
    assert isinstance(instance.penalty, PenaltyG)
    price = instance.penalty.fill + instance.penalty.write_back
    costs = []
    for cpu, state in enumerate(instance.initial_states):
        visits = {df: builder.binary(f"visits_{label[df]}_on_{cpu}") for df in fragments}
        for kind in kinds:
            size = instance.size_of(kind.task)
            most = max(1, min(kind.number, instance.room // size))
            runs = f"runs_{kind.label}_on_{cpu}"
            terms = [(1, runs), (-most, visits[kind.task.df or ""])]
            builder.require(f"visit_{kind.label}_on_{cpu}", terms, "<=", 0)
        if isinstance(state, CacheState):
            can_be_spared = [df for df in fragments if df == state.df]
        elif state == "unknown" or not instance.cold_start:
            can_be_spared = fragments
        else:
            can_be_spared = []
        spared = {df: builder.binary(f"spared_{label[df]}_on_{cpu}") for df in can_be_spared}
        for df, name in spared.items():
            builder.require(f"spare_{label[df]}_on_{cpu}", [(1, name), (-1, visits[df])], "<=", 0)
        if len(spared) > 1:
            builder.require(
                f"one_spared_on_{cpu}", [(1, name) for name in spared.values()], "<=", 1
            )
        costs.append(
            [(price, name) for name in visits.values()]
            + [(-price, name) for name in spared.values()]
        )
    return costs
