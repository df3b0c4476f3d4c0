"""Measures what switches cost a real program, beside what f says with measured constants.

``python docs/reproduction/closed_loop.py -o closed-loop.json`` takes some ten seconds on a quiet
machine with two CPUs, and prints the table of the page "The loop, closed". Two processes on two
CPUs run tasks, each of which goes several times through the lines of a fragment and changes them.
The same tasks run under several placements. All placements do the same work, so that they differ
in time by what switches cost alone.
"""

import argparse
import json
import mmap
import os
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

import numpy as np

from dfopt.native.lines import chase_and_change
from dfopt_models.measure import AccessOrder, MachineRun, measure_run
from dfopt_models.measure.machine import MOST_REJECTED, MOVED, WORDS, WRITTEN, MeasurementError
from dfopt_models.measure.this_machine import ThisMachine, conditions

CPUS = 2
FRAGMENTS, TASKS = 16, 32
"""Fragments, and tasks of each."""

PASSES = 4
"""How often a task goes through its fragment."""

LINES = (512, 4096)
"""Lines of a fragment."""

REPETITIONS = 15
"""Runs of each placement that must count."""

MACHINE_RUNS, MACHINE_PASSES = 5, 15
LEVEL, LEFT_OUT = "memory", ("L3",)

Placement = list[list[int]]
"""By CPU: the fragments of its tasks, in their order."""


def grouped() -> Placement:
    """Return the placement in which a fragment's tasks follow each other on one CPU."""
    return [
        [fragment for fragment in range(cpu, FRAGMENTS, CPUS) for _ in range(TASKS)]
        for cpu in range(CPUS)
    ]


def in_turn_at_home() -> Placement:
    """Return the one in which fragments take turns, and each stays on its CPU."""
    return [list(range(cpu, FRAGMENTS, CPUS)) * TASKS for cpu in range(CPUS)]


def in_turn_on_both() -> Placement:
    """Return the one in which fragments take turns, and each goes to and fro between CPUs."""
    rounds = [[(fragment + turn) % CPUS for fragment in range(FRAGMENTS)] for turn in range(TASKS)]
    return [
        [fragment for places in rounds for fragment in range(FRAGMENTS) if places[fragment] == cpu]
        for cpu in range(CPUS)
    ]


PLACEMENTS = {
    "grouped": grouped,
    "in turn, each on its CPU": in_turn_at_home,
    "in turn, to and fro": in_turn_on_both,
}


def changes(placement: Placement) -> int:
    """Return the number of switch penalties under f, first visits included."""
    return sum(len(list(groupby(fragments))) for fragments in placement)


class Fragments:
    """Lines in memory that all processes share, in a random order within each fragment."""

    def __init__(self, lines: int, seed: int) -> None:
        draws = np.random.default_rng(seed)
        self.lines = lines
        self._shared = mmap.mmap(-1, FRAGMENTS * lines * WORDS * 8)
        words = np.frombuffer(self._shared, np.int64)
        self.chains = np.split(words, FRAGMENTS)
        for chain in self.chains:
            pages = np.array_split(np.arange(lines), max(1, lines // 64))
            draws.shuffle(pages)
            order = np.concatenate([draws.permutation(page) for page in pages])
            chain[order * WORDS] = np.roll(order, -1) * WORDS


@dataclass(frozen=True)
class Ran:
    """The nanoseconds that a placement took both CPUs, and whether one was interrupted."""

    nanoseconds: int
    is_interrupted: bool


def ran(fragments: Fragments, placement: Placement) -> Ran:
    """Return how long a placement takes."""
    gate = np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), np.int64)
    processes = []
    for cpu, sequence in enumerate(placement):
        process = os.fork()
        if not process:
            work(fragments, sequence, cpu, gate)
            os._exit(0)
        processes.append(process)
    for process in processes:
        os.waitpid(process, 0)
    results = gate[CPUS * WORDS :].reshape(-1, WORDS)[:CPUS]
    return Ran(int(results[:, 0].sum()), bool(results[:, 1].any()))


def work(fragments: Fragments, sequence: Sequence[int], cpu: int, gate: np.ndarray) -> None:
    """Run the tasks of one CPU, and leave how long it took in ``gate``."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[cpu]})
    chains = [fragments.chains[fragment] for fragment in sequence]
    steps = PASSES * fragments.lines
    chase_and_change(chains[0], 0, fragments.lines)
    gate[cpu * WORDS] = 1
    while not all(gate[: CPUS * WORDS : WORDS]):
        pass
    lost = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    start = time.perf_counter_ns()
    for chain in chains:
        chase_and_change(chain, 0, steps)
    own = (CPUS + cpu) * WORDS
    gate[own] = time.perf_counter_ns() - start
    gate[own + 1] = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw > lost


def measured_machine() -> list[MachineRun]:
    """Return the costs of this machine's lines, by run."""
    runs = []
    for seed in range(MACHINE_RUNS):
        memory = ThisMachine(seed)
        try:
            runs.append(
                measure_run(memory, lines=4096, passes=MACHINE_PASSES, sizes=(), leave_out=LEFT_OUT)
            )
        finally:
            memory.close()
    return runs


def read_times(runs: Sequence[MachineRun]) -> dict[str, list[float]]:
    """Return t_r in nanoseconds in random order, by level and run."""
    return {
        level: [
            estimate.median
            for run in runs
            for estimate in run.reads
            if (estimate.level, estimate.order) == (level, AccessOrder.RANDOM)
        ]
        for level in (LEVEL, MOVED, WRITTEN)
    }


def rows(lines: int, reads: dict[str, list[float]]) -> list[dict[str, object]]:
    """Return what placements took longer than the grouped one, in microseconds a change."""
    times: dict[str, list[int]] = {name: [] for name in PLACEMENTS}
    rejected = 0
    placements = {name: place() for name, place in PLACEMENTS.items()}
    seed = 0
    while any(len(found) < REPETITIONS for found in times.values()):
        fragments = Fragments(lines, seed)
        seed += 1
        result = {name: ran(fragments, placement) for name, placement in placements.items()}
        if any(one.is_interrupted for one in result.values()):
            rejected += 1
            if rejected > REPETITIONS * MOST_REJECTED / (1 - MOST_REJECTED):
                raise MeasurementError(
                    f"{lines} lines: {rejected} of {seed} runs were interrupted by other work"
                )
            continue
        for name, one in result.items():
            times[name].append(one.nanoseconds)
    base = changes(placements["grouped"])
    found = []
    for name in list(PLACEMENTS)[1:]:
        more = changes(placements[name]) - base
        each = [
            (own - grouped_time) / more / 1e3
            for own, grouped_time in zip(times[name], times["grouped"], strict=True)
        ]
        found.append(
            {
                "lines": lines,
                "placement": name,
                "changes": more,
                "measured": median(each),
                "range": [min(each), max(each)],
                "grouped_ms": median(times["grouped"]) / 1e6,
                "f": {level: lines * median(values) / 1e3 for level, values in reads.items()},
                "runs": len(each),
                "rejected": rejected,
            }
        )
    return found


def main() -> None:
    """Measure, print the table, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", metavar="FILE", help="write the figures there")
    output = parser.parse_args().output
    known = conditions()
    chase_and_change(Fragments(8, 0).chains[0], 0, 8)
    reads = read_times(measured_machine())
    found = [row for lines in LINES for row in rows(lines, reads)]
    print(f"{known['cpu']}, load {known['load']}, {known['time']}")
    for level, values in reads.items():
        print(f"t_r, {level}: " + ", ".join(f"{value:.2f}" for value in values) + " ns")
    print()
    print("| lines | placement | changes more | µs a change | f, memory | f, moved | f, written |")
    print("|---|---|---|---|---|---|---|")
    for row in found:
        low, high = row["range"]
        figures = " | ".join(f"{value:.1f}" for value in row["f"].values())
        print(
            f"| {row['lines']:,} | {row['placement']} | {row['changes']} | "
            f"{row['measured']:.1f} ({low:.1f} to {high:.1f}) | {figures} |"
        )
    if output:
        with open(output, "w", encoding="utf-8") as file:
            json.dump({"conditions": known, "read": reads, "rows": found}, file, indent=1)


if __name__ == "__main__":
    main()
