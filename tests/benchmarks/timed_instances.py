"""Random instances with releases and precedence, in the shape of the paper's worked example."""

from __future__ import annotations

from random import Random

from dfopt import replace
from dfopt.generate import zipf
from dfopt.problem.instance import Instance, Objective, Task

WAITS = ("releases", "serial", "parallel", "both")
"""Releases only; chains of tasks; a few tasks that create many others; releases and precedence."""

LONGEST_EXEC = 60


def timed_instance(tasks: int, cpus: int, fragments: int, waits: str, seed: int) -> Instance:
    """Return an instance of a family of :data:`WAITS`; every second one has costs at its ends."""
    source = Random(f"{tasks}/{cpus}/{fragments}/{waits}/{seed}")
    instance = zipf(
        tasks=tasks,
        cpus=cpus,
        fragments=fragments,
        seed=seed,
        exec=LONGEST_EXEC,
        objective=Objective.MAKESPAN,
        cold_start=seed % 2 == 1,
        final_write_back=seed % 2 == 1,
    )
    name = f"{waits}-n{tasks}-m{cpus}-d{fragments}-s{seed}"
    return replace(with_waits(instance, waits, source), name=name)


def with_waits(instance: Instance, waits: str, source: Random) -> Instance:
    """Return the instance with its tasks in random order, and what they wait for."""
    entries = list(instance.tasks)
    source.shuffle(entries)
    horizon = LONGEST_EXEC * instance.task_count // instance.cpus
    after = _predecessors(source, waits, entries)
    waiting = tuple(
        replace(
            task,
            after=after[number],
            release=source.randrange(horizon) if waits in ("releases", "both") else 0,
        )
        for number, task in enumerate(entries)
    )
    return replace(instance, tasks=waiting)


def _predecessors(source: Random, waits: str, entries: list[Task]) -> list[tuple[str, ...]]:
    names = [task.id for task in entries]
    if waits == "serial":
        # Chains, which tasks join at random.
        chains: list[list[str]] = [[] for _ in range(max(2, len(names) // 5))]
        after = []
        for name in names:
            chain = source.choice(chains)
            after.append((chain[-1],) if chain else ())
            chain.append(name)
        return after
    if waits == "parallel":
        # Every task is created by an earlier one, as v0 of the worked example creates the others.
        return [
            (names[source.randrange(number // 3 + 1)],) if number else ()
            for number in range(len(names))
        ]
    if waits == "both":
        return [
            tuple(source.sample(names[:number], min(number, source.choice((0, 1, 1, 2)))))
            for number in range(len(names))
        ]
    return [()] * len(names)
