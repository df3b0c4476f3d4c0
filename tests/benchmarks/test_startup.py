"""The start-up of commands: whole processes, against a bare Python."""

import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.benchmarks.report import Table
from tests.benchmarks.timing import process_seconds

INSTANCES = Path(__file__).parents[2] / "instances"
DFOPT = Path(sysconfig.get_path("scripts"), "dfopt")
RUNS = 9
YARDSTICK = "python -c pass"

SOLVED = {
    "dfopt solve, worked example": "pinter-worked-example.json",
    "dfopt solve, 8 tasks": "small/fragment-larger-than-a-cpu.json",
    "dfopt solve, 128 tasks": "generated/zipf-n128-m8-d24-s0.json",
    "dfopt solve, README's instance": "hackbench-4-groups-100.json",
}
LIMITS = {"dfopt --help": 0.4, **dict.fromkeys(SOLVED, 1.0)}
"""Seconds."""


def test_startup(report: Callable[[Table], None]) -> None:
    seconds = process_seconds(
        {
            YARDSTICK: [sys.executable, "-c", "pass"],
            "dfopt --help": [DFOPT, "--help"],
            **{name: [DFOPT, "solve", INSTANCES / file] for name, file in SOLVED.items()},
        },
        RUNS,
    )
    bare = median(seconds[YARDSTICK])
    report(
        Table(
            name="startup",
            title="Start-up: whole processes",
            command="python -m pytest tests/benchmarks/test_startup.py",
            columns=["command", "median, s", "least, s", "× bare Python", "target, s"],
            rows=[
                [name, median(taken), taken[0], median(taken) / bare, LIMITS.get(name)]
                for name, taken in seconds.items()
            ],
            notes=[
                f"{RUNS} runs, the commands taking turns; the ratio is of medians",
                "the 8 and the 128 tasks are closed by the cheap bound and the first schedules: "
                "no search, OR-Tools not loaded",
            ],
        )
    )
    # What else runs on the machine only ever adds to a time, so the least one is the fairest.
    assert all(seconds[name][0] < limit for name, limit in LIMITS.items()), seconds
