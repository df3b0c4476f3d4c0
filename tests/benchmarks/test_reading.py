"""Reading kernel traces that are text: lines a second, and memory against what is kept."""

import re
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median

import pytest

from dfopt.trace import Trace, read_trace
from tests.benchmarks.own_process import in_own_process
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed
from tests.trace.readers.kernel_lines import Switch, perf, tracefs

LINES = 1_200_000
RUNS = 5
SWITCHES_ONLY = "perf script, switches only"

TARGET_LINES_S = 500_000
MOST_TIME = 3
"""Times matching one plain pattern a line: what a busy machine slows down as well."""
TARGET_MEMORY = 10
"""Times the columns that are kept: 32 bytes a dispatch, 16 a wake-up."""

YARDSTICK = re.compile(rb" *(.*?)[ -]+(\d+) .*?\[(\d+)\].*? (\d+\.\d+): +(\S+): (.*)")


def write_trace(path: Path, dialect: Callable[[Switch], bytes], *, all_events: bool) -> None:
    """Write a trace of two CPUs and 80 threads, two in three lines no switches if asked for."""
    running = [1000, 1001]
    time = 0
    with path.open("wb") as file:
        written = 0
        for number, pid in enumerate(cycle(range(1002, 1080))):
            if written >= LINES:
                return
            cpu, time = number % 2, time + 7
            comm = b"sched-messaging"
            switch = Switch(cpu, time, (running[cpu], comm), (pid, comm))
            running[cpu] = pid
            line = dialect(switch)
            lines = [line]
            if all_events:
                head, _ = line.split(b"sched_switch:")
                lines.append(
                    head
                    + b"sched_waking: comm=%b pid=%d prio=120 target_cpu=001" % switch.next[::-1]
                )
                lines.append(
                    head + b"sched_stat_runtime: comm=%b pid=%d runtime=1 [ns]" % switch.next[::-1]
                )
            file.write(b"\n".join(lines) + b"\n")
            written += len(lines)


def count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def match_lines(path: Path) -> int:
    """Return how many lines one plain pattern matches, a line at a time."""
    match = YARDSTICK.match
    with path.open("rb") as file:
        return sum(match(line) is not None for line in file)


def read_in_process(path: Path | None) -> None:
    if path is not None:
        read_trace(path)


def kept_bytes(trace: Trace) -> int:
    return 32 * len(trace) + 16 * len(trace.wakeups.time)


def test_reading(report: Callable[[Table], None], tmp_path: Path) -> None:
    rows: list[Sequence[object]] = []
    ratios, memory = {}, {}
    _, bare = in_own_process(read_in_process, None)
    if bare is None:
        pytest.skip("this system does not tell how much memory a process takes")
    for name, dialect, all_events in (
        ("perf script", perf, True),
        (SWITCHES_ONLY, perf, False),
        ("tracefs", tracefs, True),
    ):
        path = tmp_path / "trace.txt"
        write_trace(path, dialect, all_events=all_events)
        taken: dict[str, list[float]] = {"count": [], "match": [], "read": []}
        # In turns, so that a noisy spell of the machine falls on all of them alike.
        for _ in range(RUNS):
            seconds, lines = timed(lambda: count_lines(path))  # noqa: B023
            taken["count"].append(seconds)
            seconds, matched = timed(lambda: match_lines(path))  # noqa: B023
            taken["match"].append(seconds)
            seconds, trace = timed(lambda: read_trace(path))  # noqa: B023
            taken["read"].append(seconds)
            assert matched == trace.quality.lines == lines
            assert trace.quality.unparsed == 0
        _, peak = in_own_process(read_in_process, path)
        assert peak is not None
        kept = kept_bytes(trace)
        memory[name] = (peak - bare) * 2**30 / kept
        ratios[name] = min(taken["read"]) / min(taken["match"])
        rows.append(
            [
                name,
                lines,
                lines / median(taken["read"]),
                lines / min(taken["read"]),
                ratios[name],
                min(taken["read"]) / min(taken["count"]),
                kept / 2**20,
                memory[name],
            ]
        )
    report(
        Table(
            name="reading",
            title="Reading kernel traces that are text",
            command="python -m pytest tests/benchmarks/test_reading.py",
            columns=[
                "trace",
                "lines",
                "lines/s, median",
                "lines/s, best",
                "time, × matching each line",
                "time, × counting lines",
                "kept, MiB",
                "peak memory, × kept",
            ],
            rows=rows,
            notes=[
                f"{RUNS} runs, in turns with counting the lines and with matching one plain "
                "pattern a line; from the file to the dispatches; ratios of the least times",
                f"targets: {TARGET_LINES_S:,} lines/s on a quiet machine, less than {MOST_TIME} × "
                f"matching, less than {TARGET_MEMORY} × the memory that is kept",
            ],
        )
    )
    # What else runs on the machine only ever adds to a time, so the least one is the fairest.
    assert max(ratios.values()) < MOST_TIME, ratios
    assert max(memory.values()) < TARGET_MEMORY, memory
