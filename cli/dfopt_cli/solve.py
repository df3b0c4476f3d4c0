"""``dfopt solve``: the schedule of least penalty, with a proof."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from typer import Exit

from dfopt import __version__, solvers
from dfopt.errors import FileError
from dfopt.files import read_result, result_to_document, write_result
from dfopt.problem.instance import Instance
from dfopt.problem.result import (
    FirstOf,
    GapLimit,
    Progress,
    Result,
    Status,
    StoppingCriterion,
    StopReason,
    TimeLimit,
    relative_gap,
)
from dfopt.problem.schedule import Schedule
from dfopt.structs import NonNegative, Positive, Share
from dfopt_cli.exit_codes import INFEASIBLE, NOT_PROVEN
from dfopt_cli.failures import interruptions, naming
from dfopt_cli.input_files import read_instance_and_warn
from dfopt_cli.options import InstanceArgument, JsonOption, Method, QuietOption, SeedOption
from dfopt_cli.printing import check_output, print_json, print_tables, say

ROW = "{}{:>8} {:>12} {:>12} {:>8}  {}"
"""A row of the log: a mark, seconds, bound, best schedule, gap, and what happened."""

UNKNOWN = "-"

NEW_SCHEDULE = "incumbent"
"""The event of a better schedule; its row begins with a star, as in the logs of SCIP."""


def solve(
    instance: InstanceArgument,
    *,
    method: Method = "auto",
    time_limit: NonNegative | None = None,
    gap: Share | None = None,
    seed: SeedOption = 0,
    workers: Positive | None = None,
    start: str | None = None,
    output: str | None = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: bool = False,
) -> None:
    """Find the schedule of least switch penalty, and prove it.

    Ctrl-C (or SIGTERM) ends the search with the best schedule and bound so far. Exit code 0:
    proven, or the gap that was asked for is reached; 3: infeasible; 4: a limit or Ctrl-C came
    first.

    Example: dfopt solve instance.json --time-limit 60 -o result.json

    Options
    -------
    method
        How to solve it; auto chooses what fits the instance.
    time_limit : SECONDS
        Stop after this time, with the best schedule so far.
    gap : GAP
        Stop when (objective - bound) / objective is at most this.
    output : -o RESULT
        Write the result there, as JSON.
    verbose : -v
        Show on standard error what the solvers do, step by step.

    How to search
    -------------
    workers
        Number of threads; by default one for each processor.
    start : RESULT
        Begin with the schedule in this result, and look for a better one.
    """
    from dfopt_cli.progress import live_line, search_status

    with naming(instance):
        subject = read_instance_and_warn(instance)
        check_output(output, instance)
        first = None if start is None else schedule_in(start)
        line = live_line(search_status, quiet=quiet, hint="Ctrl-C stops with the best so far")
        with solve_log(subject, verbose=verbose), line as show:
            result = solvers.solve(
                subject,
                method=method,
                stop=criterion(time_limit, gap),
                start=first,
                seed=seed,
                workers=workers,
                on_progress=show,
            )
    with interruptions.held():
        try:
            if output is not None:
                write_result(result, output)
        finally:
            if as_json:
                print_json(result_to_document(result))
            else:
                print_tables(result.tables(subject))
    raise Exit(exit_code(result))


def schedule_in(file: str) -> Schedule:
    """Return the schedule of a result."""
    schedule = read_result(file).schedule
    if schedule is None:
        raise FileError("is null; name a result that has one", place="schedule", file=file)
    return schedule


def criterion(time_limit: float | None, gap: float | None) -> StoppingCriterion:
    """Return what ends the search before the proof."""
    limits: list[StoppingCriterion] = []
    if time_limit is not None:
        limits.append(TimeLimit(time_limit))
    if gap is not None:
        limits.append(GapLimit(gap))
    return FirstOf(*limits)


def exit_code(result: Result) -> int:
    """Return what the result means to a calling program."""
    if result.status is Status.INFEASIBLE:
        return INFEASIBLE
    done = result.stop_reason in (StopReason.PROOF, StopReason.GAP_LIMIT)
    return 0 if done else NOT_PROVEN


class SolveLog(logging.Handler):
    """Writes a row on standard error for each record, above a live line if there is one."""

    began = 0.0
    known = Progress(time_s=0, lower_bound=0, objective=None)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the seconds since the beginning, bound, best schedule, gap, and the message."""
        self.known = getattr(record, "progress", self.known)
        event = getattr(record, "event", None)
        source = "" if event else f"{record.name.rpartition('.')[2]}: "
        bound, objective = self.known.lower_bound, self.known.objective
        gap = relative_gap(objective, bound)
        say(
            ROW.format(
                "*" if event == NEW_SCHEDULE else " ",
                f"{record.created - self.began:.2f}",
                bound,
                UNKNOWN if objective is None else objective,
                UNKNOWN if gap is None else f"{gap:.2%}",
                source + record.getMessage(),
            )
        )


@contextmanager
def solve_log(instance: Instance, *, verbose: bool) -> Iterator[None]:
    """Show on standard error, while the block runs, what the solvers log; if ``verbose``."""
    if not verbose:
        yield
        return
    logger, rows = logging.getLogger("dfopt"), SolveLog()
    rows.began, level = time.time(), logger.level
    name, objective = instance.name or "an instance", instance.objective.value
    tasks, cpus = instance.task_count, instance.cpus
    say(f"dfopt {__version__}: {name}, {tasks} tasks on {cpus} CPUs, {objective}")
    say(ROW.format(" ", "seconds", "bound", "best", "gap", "event"))
    logger.setLevel(logging.DEBUG)
    logger.addHandler(rows)
    try:
        yield
    finally:
        logger.removeHandler(rows)
        logger.setLevel(level)
