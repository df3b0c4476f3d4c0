"""The decisions of the count model."""

from __future__ import annotations

from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from dfopt.solvers.aggregation import Aggregation

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """All variables; A is a fragment, c a class, t one of its tokens, i a CPU.

    Parameters
    ----------
    count
        [c, i]: how many tasks of class c CPU i holds.
    visits
        [A, i]: whether CPU i holds tasks of fragment A.
    opens
        [c, t, i]: whether token t of class c opens a block on CPU i and pays its entry.
    first
        [A, i]: whether CPU i begins with A and is spared its entry.
    last
        [A, i]: whether CPU i ends with A and is spared its exit.
    alone
        [A, i]: whether CPU i begins and ends with A in one block.
    split
        [A, i]: whether CPU i begins and ends with A in two blocks.
    quiet
        [A, i]: whether a block of A is left by a task that costs no exit.
    final_flush
        [A, i]: whether the last task of CPU i is one whose own write-back is spared.
    single
        [A, i]: whether one task of A is both the opener and the closer of its block.
    same_end
        [A, i]: whether one task is both the opener and the closer of A's second block.
    """

    count: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    visits: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    opens: dict[tuple[int, int, int], cp_model.IntVar] = field(default_factory=dict)
    first: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    last: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    alone: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    split: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    quiet: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    final_flush: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    single: dict[Pair, cp_model.IntVar] = field(default_factory=dict)
    same_end: dict[Pair, cp_model.IntVar] = field(default_factory=dict)


def create_variables(model: cp_model.CpModel, aggregation: Aggregation) -> Variables:
    """Return the variables; a decision that cannot lower any cost gets none.

    A missing ``first``, ``last``, ``alone``, ``split``, ``final_flush`` or ``same_end`` stands
    for 0, a missing ``quiet`` for no exit cost at all.
    """
    variables = Variables()
    instance = aggregation.instance
    for cpu in range(instance.cpus):
        for class_index, task_class in enumerate(aggregation.classes):
            most = min(task_class.count, instance.tasks_per_cpu)
            variables.count[class_index, cpu] = model.new_int_var(
                0, most, f"count[{class_index},{cpu}]"
            )
            for token_index, _ in enumerate(task_class.tokens):
                variables.opens[class_index, token_index, cpu] = model.new_bool_var(
                    f"opens[{class_index},{token_index},{cpu}]"
                )
        for fragment in range(len(aggregation.form.fragments)):
            _create_for_fragment(model, variables, aggregation, (fragment, cpu))
    return variables


def _create_for_fragment(
    model: cp_model.CpModel,
    variables: Variables,
    aggregation: Aggregation,
    pair: Pair,
) -> None:
    fragment, cpu = pair
    members = [task_class for task_class in aggregation.classes if task_class.fragment == fragment]

    def new(name: str) -> cp_model.IntVar:
        return model.new_bool_var(f"{name}[{fragment},{cpu}]")

    spares_entry = aggregation.form.starts[cpu].spares_entry(fragment)
    costs_exit = any(task_class.exit for task_class in members)
    spares_flush = any(task_class.end < 0 for task_class in members)
    spares_exit = any(task_class.end < task_class.exit for task_class in members)

    variables.visits[pair] = new("visits")
    if spares_entry:
        variables.first[pair] = new("first")
    if costs_exit:
        variables.quiet[pair] = new("quiet")
    if spares_exit:
        variables.last[pair] = new("last")
    if spares_flush:
        variables.final_flush[pair] = new("final_flush")
    if costs_exit or spares_flush:
        variables.single[pair] = new("single")
    if spares_entry and spares_exit:
        variables.alone[pair] = new("alone")
        if sum(task_class.count for task_class in members) > 1:
            variables.split[pair] = new("split")
            if spares_flush:
                variables.same_end[pair] = new("same_end")
