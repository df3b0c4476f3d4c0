"""``dfopt simulate``: policies on workloads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dfopt_cli.common import (
    JsonOption,
    QuietOption,
    naming,
    print_json,
    print_rich,
    refuse_overwriting,
    say,
)
from dfopt_cli.replicating import (
    ReplicationsOption,
    SeedOption,
    WorkersOption,
    output_folder,
    progress_of,
)
from dfopt_cli.run_queue import run_queue
from dfopt_cli.solve import NOT_PROVEN, termination_as_interrupt

app = typer.Typer(no_args_is_help=True)
app.command("run-queue")(run_queue)

ALL_POLICIES = ("equipartition", "dynamic", "dyn-aff", "dyn-aff-nopri", "dyn-aff-delay")


@app.callback()
def policies_on_workloads() -> None:
    """Policies on workloads: what they do to response times, and why."""


@app.command("space-sharing")
def space_sharing(
    mix: Annotated[
        str,
        typer.Argument(
            metavar="MIX",
            help="The jobs and the machine, a TOML file (- is standard input), or a name: "
            "mix-1 to mix-6.",
            show_default=False,
        ),
    ],
    *,
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="POLICY",
            help="What to simulate; may be given several times. One of your own is module:Class "
            "or file.py.",
        ),
    ] = list(ALL_POLICIES),  # noqa: B006 - Typer copies it
    replications: ReplicationsOption = 10,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="Write the figures there as a response-time model, as TOML.",
            show_default=False,
        ),
    ] = None,
    trace_dir: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Write a trace of every replication there.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate how policies share the processors of a machine among jobs.

    For every application and policy: response time, and where the time of the processors went,
    with 95 % confidence intervals over the replications. Ctrl-C keeps the replications that are
    finished. Exit code 4: Ctrl-C came first.

    Example: dfopt simulate space-sharing mix-5 --policy equipartition --policy dyn-aff -o mix.toml
    """
    from dfopt.files import check_writable
    from dfopt_cli.simulate_view import simulation_document, simulation_tables
    from dfopt_cli.simulating import response_model
    from dfopt_models.space_sharing import read_mix, simulate

    with naming(mix):
        subject = read_mix(mix)
    if output is not None:
        refuse_overwriting(output, mix)
        check_writable(Path(output))
    folder = output_folder(trace_dir)
    with naming(mix), termination_as_interrupt(), progress_of(quiet=quiet) as line:
        summaries, complete = simulate(
            subject,
            list(dict.fromkeys(policy)),
            seeds=range(seed, seed + replications),
            processes=workers,
            trace_folder=folder,
            on_progress=line.show if line is not None else None,
        )
    if not summaries:
        say(f"dfopt: {mix}: interrupted before a replication was finished")
        raise typer.Exit(NOT_PROVEN)
    if output is not None:
        from dfopt_models.response_time import write_model

        with naming(mix):
            write_model(response_model(subject, summaries), output)
    if as_json:
        print_json(simulation_document(subject, summaries, seed=seed))
    else:
        print_rich(*simulation_tables(subject, summaries))
    if not complete:
        say(f"dfopt: {mix}: interrupted; finished replications are shown")
        raise typer.Exit(NOT_PROVEN)
