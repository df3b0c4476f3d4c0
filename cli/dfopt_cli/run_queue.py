"""``dfopt simulate run-queue``: run-queue policies on workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dfopt_cli.common import JsonOption, QuietOption, print_json, print_rich, say
from dfopt_cli.replicating import (
    ReplicationsOption,
    SeedOption,
    WorkersOption,
    output_folder,
    progress_of,
)
from dfopt_cli.solve import NOT_PROVEN, termination_as_interrupt
from dfopt_cli.spread import with_spread_options
from dfopt_cli.trace_options import CostOptions, LabelOptions

if TYPE_CHECKING:
    from dfopt.simulate.run_queue.runs import Runs

DEFAULT_POLICIES = ("linux-o1", "data-affinity", "fcfs")


@with_spread_options
def run_queue(
    scenarios: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO",
            help="Scenarios that come with dfopt, by name (all: all of them), TOML files, or "
            "recorded traces, whose threads then run under the policies; told by their content.",
            show_default=False,
        ),
    ],
    *,
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="POLICY",
            help="What to simulate; may be given several times. all: all that fit. One of your "
            "own is module:Class or file.py.",
        ),
    ] = list(DEFAULT_POLICIES),  # noqa: B006 - Typer copies it
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write a trace of every simulation there, and summary.json.",
            show_default=False,
        ),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Do not compress the traces.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a parameter of the workload, such as rooms=20, or another value of the "
            "scenario: machine.switch_time, penalty.write_back, policy.NAME.time_slice. May be "
            "given several times.",
            show_default=False,
        ),
    ] = None,
    cpus: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of CPUs; the same as --set machine.cpus=N.", show_default=False
        ),
    ] = None,
    replications: ReplicationsOption = 1,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    labels: LabelOptions,
    costs: CostOptions,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate how policies run the threads of a workload on the CPUs of a machine.

    For every scenario the policies side by side: what their switches cost, how often threads
    change fragment and CPU, idle CPUs, response times. With -o the traces are written too, which
    dfopt compare takes as they are. The options about labels and costs are for recorded traces.
    Ctrl-C keeps the simulations that are finished. Exit code 4: Ctrl-C came first.

    Example: dfopt simulate run-queue chat --policy fcfs --policy mine.py --set rooms=20 -o traces
    """
    from dfopt.simulate.run_queue.runs import simulate_all
    from dfopt_cli.run_queue_view import run_queue_tables
    from dfopt_cli.scenarios import scenarios_of, settings_of

    values = settings_of(settings or [], cpus=cpus)
    subjects = scenarios_of(scenarios, values, labels, costs)
    folder = output_folder(output)
    with termination_as_interrupt(), progress_of(quiet=quiet) as line:
        done = simulate_all(
            subjects,
            list(dict.fromkeys(policy)),
            seeds=range(seed, seed + replications),
            processes=workers,
            folder=folder,
            is_plain=plain,
            on_progress=line.show if line is not None else None,
        )
    tell_skipped(done)
    if not done.runs:
        if done.is_complete:
            from dfopt.errors import DfoptError

            raise DfoptError("no policy fits; name one with --policy to have it all the same")
        say("dfopt: interrupted before a simulation was finished")
        raise typer.Exit(NOT_PROVEN)
    if as_json:
        print_json(done.to_document())
    else:
        print_rich(*run_queue_tables(subjects, done.runs))
    if not done.is_complete:
        say("dfopt: interrupted; finished simulations are shown")
        raise typer.Exit(NOT_PROVEN)


def tell_skipped(done: Runs) -> None:
    """Say in a line each which policies were left out, and why."""
    from dfopt_cli.common import printable

    for one in done.skipped:
        say(f"dfopt: {printable(one.scenario)}: {one.policy} is left out: {one.why}")
