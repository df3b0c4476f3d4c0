"""Comparing a trace of a million switches with the best possible, from the file on."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from dfopt.compare import CostModel, compare_trace, parse_window
from dfopt.problem.penalties import PenaltyF
from dfopt.trace import read_trace
from dfopt.trace.labels import label
from tests.benchmarks.own_process import in_own_process
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed
from tests.trace.readers.kernel_lines import Switch, perf

SWITCHES = 1_000_000
CPUS = 8
THREADS = 320
PROGRAMS = 24
RUN_US = 400
"""Microseconds that a thread runs on average."""

LABELS = "comm:^([a-z]+)/"
WINDOW = parse_window("10ms")
MODELS = {
    "switches": CostModel(),
    "f": CostModel(
        penalty=PenaltyF(read_line=2, write_back=500), lines=512, lines_by_run_time=True
    ),
}

TARGET_S = 60


def write_trace(path: Path) -> None:
    """Write switches between the threads of programs of unlike sizes, with wake-ups between.

    A thread mostly stays on its CPU, as under a kernel's scheduler.
    """
    source = random.Random(0)
    programs = [chr(ord("a") + number) * 3 for number in range(PROGRAMS)]
    sizes = [1 / (1 + number) for number in range(PROGRAMS)]
    threads = [
        (1000 + number, b"%s/%d" % (name.encode(), number))
        for number, name in enumerate(source.choices(programs, sizes, k=THREADS))
    ]
    homes: list[list[tuple[int, bytes]]] = [threads[cpu::CPUS] for cpu in range(CPUS)]
    running = [homes[cpu][0] for cpu in range(CPUS)]
    step = RUN_US / CPUS
    time = 0.0
    with path.open("wb") as file:
        for number in range(SWITCHES):
            cpu = source.randrange(CPUS)
            time += source.expovariate(1 / step)
            home = homes[cpu] if source.random() < 0.9 else homes[source.randrange(CPUS)]
            thread = home[source.randrange(len(home))]
            if thread in running:
                thread = (0, b"swapper/%d" % cpu)
            line = perf(Switch(cpu, 1_000_000 + int(time), running[cpu], thread))
            if number % 2:
                head, _ = line.split(b"sched:sched_switch:")
                file.write(
                    head
                    + b"sched:sched_waking: comm=%b pid=%d prio=120 target_cpu=%03d\n"
                    % (thread[1], thread[0], cpu)
                )
            file.write(line + b"\n")
            running[cpu] = thread


def count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def measured(path: Path, model: str) -> dict[str, float]:
    """Return seconds of each stage, and what came of them."""
    counting_s, lines = timed(lambda: count_lines(path))
    reading_s, trace = timed(lambda: read_trace(path))
    labelling_s, trace = timed(lambda: label(trace, LABELS))
    comparing_s, found = timed(
        lambda: compare_trace(trace, MODELS[model], windows=[WINDOW], waits=None)
    )
    assert trace.quality.lines == lines
    (result,) = found.windows
    assert 0 < result.bound <= min(result.rolling, result.realised)
    return {
        "counting_s": counting_s,
        "reading_s": reading_s,
        "labelling_s": labelling_s,
        "comparing_s": comparing_s,
        "windows": result.count,
        "proven": result.closed / result.count,
        "rolling_proven": result.rolling_closed / result.count,
    }


def test_a_million_switches(report: Callable[[Table], None], tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    write_trace(path)
    rows: list[Sequence[object]] = []
    slowest = 0.0
    for model in MODELS:
        found, peak = in_own_process(measured, path, model)
        total = found["reading_s"] + found["labelling_s"] + found["comparing_s"]
        slowest = max(slowest, total)
        rows.append(
            [
                model,
                int(found["windows"]),
                found["reading_s"],
                found["labelling_s"],
                found["comparing_s"],
                total,
                total / found["counting_s"],
                found["proven"],
                found["rolling_proven"],
                peak,
            ]
        )
    report(
        Table(
            name="compare",
            title="A million switches against the best possible: 8 CPUs, windows of 10 ms",
            command="python -m pytest tests/benchmarks/test_compare.py",
            columns=[
                "costs", "windows", "reading, s", "labelling, s", "comparing, s", "together, s",
                "× counting lines", "bound proven", "rolling proven", "peak memory, GiB",
            ],
            rows=rows,
            notes=[
                f"{SWITCHES:,} switches and half as many wake-ups of {THREADS} threads of "
                f"{PROGRAMS} programs, as perf's text",
                "peak memory of the process itself, without the processes that it starts",
                f"target {TARGET_S} s; slowest {slowest:.1f} s",
            ],
        )
    )  # fmt: skip
    assert slowest < TARGET_S
