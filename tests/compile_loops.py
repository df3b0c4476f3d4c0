"""Compiles the loops that run as machine code, which are then kept on disk.

Tests that run beside each other would otherwise all compile what none of them finds there.
"""

import pkgutil
import subprocess
import sys
from pathlib import Path

CALLERS = (
    "dfopt.solvers.configuration.solve:first_calls",
    "dfopt.solvers.heuristics.local_search.local_search:first_calls",
    "dfopt.solvers.matrix.segment_exchange:first_calls",
    "dfopt.solvers.timed.annealing:first_calls",
    "dfopt.solvers.timed.layers:first_calls",
)
"""Functions that call all loops of a method once."""

WORKERS = Path(__file__).parents[1] / "docs/examples/workers.ftrace.txt"

# The loops about traces.
compare = ["compare", WORKERS, "--wait", "100us", "--workers", "1", "--quiet"]
subprocess.run([sys.executable, "-m", "dfopt_cli", *compare], stdout=subprocess.DEVNULL, check=True)
for caller in CALLERS:
    pkgutil.resolve_name(caller)()
