"""``dfopt bench``: methods over a set of instances."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, get_args

from typer import Exit, Option

from dfopt.errors import DfoptError
from dfopt.structs import NonNegative, Positive, Share
from dfopt_cli.cluster import cluster_at
from dfopt_cli.exit_codes import NOT_PROVEN
from dfopt_cli.failures import usage, warnings_of
from dfopt_cli.options import JsonOption, Method, QuietOption, SeedOption
from dfopt_cli.printing import print_json, print_tables, refuse_overwriting, say

if TYPE_CHECKING:
    from dfopt.bench import PublishedBounds, Report


def bench(
    instances: list[str],
    *,
    method: Annotated[list[str], Option(metavar="|".join(get_args(Method)))] = ["auto"],  # noqa: B006 - typer reads it only
    time_limit: NonNegative = 60,
    gap: Share | None = None,
    seed: SeedOption = 0,
    workers: Positive | None = None,
    output: str,
    resume: bool = False,
    results: str | None = None,
    verify: bool = False,
    published: str | None = None,
    scheduler: str | None = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run methods over a set of instances, and compare them.

    Every instance is solved in a process of its own. Its row is on the disk as soon as it is
    done, so that --resume can go on after whatever ended a run. Exit code 0: every row is there,
    proven or not; 1: among them is an error or a wrong result, or one that contradicts what was
    published; 4: Ctrl-C came first.

    Example: dfopt bench instances --method auto --method dp --time-limit 10 -o rows.csv

    Arguments
    ---------
    instances : SET
        A folder of instances, an index of instances, or instance files.

    Options
    -------
    method
        How to solve them; auto chooses what fits each one. May be given several times: then methods
        stand side by side.
    time_limit : SECONDS
        Stop each search after this time.
    output : -o CSV
        Write a table there, as CSV: a row for each instance and method.
    resume
        Go on with the rows that the CSV file already holds.
    results : FOLDER
        Write each result there, as JSON.
    verify
        Check each result, as 'dfopt verify' does.
    published : CSV
        Compare with published bounds: a table with columns instance, lower, upper.

    How to search
    -------------
    gap : GAP
        Stop each search when (objective - bound) / objective is at most this.
    workers
        Number of threads for each instance; by default one for each processor, and one on a
        cluster.
    scheduler : ADDRESS
        Let the workers of this Dask scheduler solve them, such as tcp://host:8786.
    """
    from dfopt.bench import Settings, read_published, read_set, run
    from dfopt.bench.rows import check_method
    from dfopt.bench.summary import BENCH_SUMMARY, bench_summary, published_table, report_tables
    from dfopt_cli.progress import bench_status, live_line

    chosen: dict[str, int] = {}
    if workers is not None or scheduler is not None:
        chosen["workers"] = workers or 1
    for each in method:
        usage(partial(check_method, each), "--method")
    settings = [
        Settings(method=each, seed=seed, time_limit_s=time_limit, gap_limit=gap, **chosen)
        for each in dict.fromkeys(method)
    ]
    with warnings_of(" ".join(instances)):
        subjects = read_set(*instances)
    refuse_overwriting(output, *instances, *(subject.file for subject in subjects))
    bounds = None if published is None else read_published(published)
    line = live_line(bench_status, quiet=quiet, hint="Ctrl-C stops, --resume goes on")
    with cluster_at(scheduler) as executor, line as show:
        report = run(
            subjects,
            output,
            settings,
            resume=resume,
            results=results,
            verify=verify,
            executor=executor,
            on_progress=show,
        )
    if as_json:
        print_json(BENCH_SUMMARY.to_document(bench_summary(report, settings, output, bounds)))
    else:
        beside = [] if bounds is None else [published_table(report, bounds)]
        print_tables([*beside, *report_tables(report, settings, output)])
    end(report, output, bounds or {})


def end(report: Report, output: str, bounds: Mapping[str, PublishedBounds]) -> None:
    """End with the exit code that the rows call for, and say why if it is not 0."""
    check_agreement(report, output, bounds)
    if not report.is_complete:
        missing = report.total - len(report.rows)
        say(
            f"dfopt: {output}: interrupted, {missing} of {report.total} runs are left; "
            "go on with the same command and --resume"
        )
        raise Exit(NOT_PROVEN)
    wrong = [row for row in report.rows if row.is_wrong]
    if wrong:
        more = f" (and {len(wrong) - 1} more; see the column error)" if len(wrong) > 1 else ""
        raise DfoptError(f"{wrong[0].error}{more}", place=wrong[0].file, file=output)


def check_agreement(report: Report, output: str, bounds: Mapping[str, PublishedBounds]) -> None:
    """Refuse results that contradict published bounds.

    Raises
    ------
    DfoptError
        When there is one; it says what is known here and what was published.
    """
    from dfopt.bench import Verdict, judged

    found = [item for item in judged(report.rows, bounds) if item.verdict is Verdict.CONTRADICTION]
    if found:
        from dfopt.bench.summary import published_interval, row_interval

        row = found[0].row
        more = f" (and {len(found) - 1} more contradictions)" if len(found) > 1 else ""
        raise DfoptError(
            f"{row_interval(row)} contradicts the published "
            f"{published_interval(found[0])}; check both{more}",
            place=row.file,
            file=output,
        )
