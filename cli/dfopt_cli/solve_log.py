"""The log of a search: what was known when, a row for each event."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dfopt._version import __version__
from dfopt.problem.instance import Instance
from dfopt.problem.result import Progress, relative_gap
from dfopt_cli.printing import say

ROW = "{}{:>8} {:>12} {:>12} {:>8}  {}"

UNKNOWN = "-"

NEW_SCHEDULE = "incumbent"
"""The event of a better schedule; its row begins with a star, as in the logs of SCIP."""


class SolveLog(logging.Handler):
    """Writes a row on standard error for each record, above a live line if there is one."""

    def __init__(self) -> None:
        super().__init__()
        self._began = time.time()
        self._known = Progress(time_s=0, lower_bound=0, objective=None)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the seconds since the beginning, bound, best schedule, gap, and the message."""
        self._known = getattr(record, "progress", self._known)
        event = getattr(record, "event", None)
        source = record.name.rpartition(".")[2]
        message = record.getMessage()
        self._write(
            "*" if event == NEW_SCHEDULE else " ",
            f"{record.created - self._began:.2f}",
            message if event else f"{source}: {message}",
        )

    def begin(self, instance: Instance) -> None:
        """Write what is solved, and the head of the table."""
        name, objective = instance.name or "an instance", instance.objective.value
        tasks, cpus = instance.task_count, instance.cpus
        say(f"dfopt {__version__}: {name}, {tasks} tasks on {cpus} CPUs, {objective}")
        say(ROW.format(" ", "seconds", "bound", "best", "gap", "event"))

    def _write(self, mark: str, seconds: str, message: str) -> None:
        known = self._known
        gap = relative_gap(known.objective, known.lower_bound)
        best = UNKNOWN if known.objective is None else str(known.objective)
        share = UNKNOWN if gap is None else f"{gap:.2%}"
        say(ROW.format(mark, seconds, known.lower_bound, best, share, message))


@contextmanager
def solve_log(instance: Instance, *, verbose: bool) -> Iterator[None]:
    """Show on standard error, while the block runs, what the solvers log; if ``verbose``."""
    if not verbose:
        yield
        return
    logger, rows = logging.getLogger("dfopt"), SolveLog()
    level = logger.level
    rows.begin(instance)
    logger.setLevel(logging.DEBUG)
    logger.addHandler(rows)
    try:
        yield
    finally:
        logger.removeHandler(rows)
        logger.setLevel(level)
