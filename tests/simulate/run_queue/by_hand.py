"""Runs a few threads under a policy, for cases that are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.simulate.caches import penalty_caches
from dfopt.simulate.contract import Policy
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine
from dfopt.simulate.workload import Burst, NewThread, Workload


def user(time: int) -> Burst:
    return Burst(time)


def kernel(time: int) -> Burst:
    return Burst(time, is_kernel=True)


def run_threads(
    policy: Policy,
    *programs: Sequence[Any],
    arrivals: dict[int, int] | None = None,
    cpus: int = 1,
    lock_time: int = 0,
) -> Kernel:
    """Run threads t0, t1, …, which are there from the beginning unless ``arrivals`` says when."""
    threads = tuple(
        NewThread(name=f"t{number}", steps=iter(steps), arrival=(arrivals or {}).get(number, 0))
        for number, steps in enumerate(programs)
    )
    caches = penalty_caches(PenaltyG(fill=0, write_back=0), (), cpus, cold_start=True)
    machine = Machine(cpus=cpus, lock_time=lock_time)
    kernel = Kernel(machine, Workload(threads=threads), caches, policy)
    kernel.run()
    return kernel


def order(kernel: Kernel, cpu: int) -> str:
    """Return which threads a CPU ran and when they began, such as ``t0@0 t2@10``."""
    rows = sorted((start, thread) for on, start, _, thread, *_ in kernel.recorder.rows if on == cpu)
    return " ".join(f"{kernel.threads[thread].name}@{start}" for start, thread in rows)


def run(
    *programs: list[Any],
    policy: Policy | None = None,
    machine: Machine | None = None,
    arrivals: tuple[int, ...] = (),
    until: int | None = None,
) -> Kernel:
    """Run threads t0, t1, …; a line takes 1 to read, the cache 10 to write back."""
    machine = machine or Machine(cpus=1)
    arrivals = arrivals or (0,) * len(programs)
    threads = tuple(
        NewThread(name=f"t{number}", steps=iter(steps), arrival=arrival)
        for number, (steps, arrival) in enumerate(zip(programs, arrivals, strict=True))
    )
    workload = Workload(threads=threads, fragments=("a", "b"))
    penalty = PenaltyF(read_line=1, write_back=10)
    caches = penalty_caches(penalty, workload.fragments, machine.cpus, cold_start=True)
    kernel = Kernel(machine, workload, caches, policy or FirstComeFirstServed(time_slice=0))
    kernel.run(until)
    return kernel


def rows(kernel: Kernel) -> list[tuple[int, int, int, str, int]]:
    """Return CPU, start, end, thread and fragment of all dispatches."""
    return [
        (cpu, start, end, kernel.threads[thread].name, fragment)
        for cpu, start, end, thread, fragment, *_ in kernel.recorder.rows
    ]
