"""What a command costs before and besides the work: whole processes, against a bare Python."""

import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.report import Table
from tests.benchmarks.timing import process_medians

INSTANCES = Path(__file__).parents[2] / "instances"
DFOPT = Path(sysconfig.get_path("scripts"), "dfopt")
RUNS = 9
YARDSTICK = "python -c pass"

LIMITS = {"dfopt --help": 0.4, "dfopt solve, 5 tasks": 1.0, "dfopt solve, 256 tasks": 1.0}
"""Seconds. The 256 tasks under g are closed by the cheap bound and the first schedule."""


def test_startup(report: Callable[[Table], None]) -> None:
    medians = process_medians(
        {
            YARDSTICK: [sys.executable, "-c", "pass"],
            "dfopt --help": [DFOPT, "--help"],
            "dfopt solve, 5 tasks": [DFOPT, "solve", INSTANCES / "pinter-worked-example.json"],
            "dfopt solve, 256 tasks": [
                DFOPT,
                "solve",
                INSTANCES / "generated" / "zipf-n256-m16-d40-s0.json",
            ],
        },
        RUNS,
    )
    bare = medians[YARDSTICK]
    report(
        Table(
            name="startup",
            title="Start-up: whole processes",
            command="python -m pytest tests/benchmarks/test_startup.py",
            columns=["command", "median, s", "× bare Python", "target, s"],
            rows=[
                [name, seconds, seconds / bare, LIMITS.get(name)]
                for name, seconds in medians.items()
            ],
            notes=[
                f"medians of {RUNS} runs, the commands taking turns",
                "5 tasks: pinter-worked-example; 256 tasks: zipf-n256-m16-d40-s0, which the "
                "cheap bound closes",
            ],
        )
    )
    assert all(medians[name] < limit for name, limit in LIMITS.items()), medians
