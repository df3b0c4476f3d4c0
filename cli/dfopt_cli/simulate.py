"""``dfopt simulate``: policies on workloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from typer import Argument, BadParameter, Exit, Option

from dfopt.errors import DfoptError
from dfopt.render import printable
from dfopt.structs import Natural, Positive
from dfopt_cli import completion
from dfopt_cli.cost_options import CostOptions
from dfopt_cli.exit_codes import NOT_PROVEN
from dfopt_cli.failures import naming
from dfopt_cli.options import (
    DomainsOption,
    JsonOption,
    QuietOption,
    WorkersOption,
)
from dfopt_cli.output_files import check_output, output_folder
from dfopt_cli.printing import print_json, print_tables, say
from dfopt_cli.scenarios import scenarios_of, settings_of
from dfopt_cli.trace_files import tell_warnings
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt.simulate.runs import Runs
    from dfopt.simulate.simulation import Run
    from dfopt_models.space_sharing import Mix

RUN_QUEUE_POLICIES = ["linux-o1", "data-affinity", "fcfs"]
SPACE_SHARING_POLICIES = ["equipartition", "dynamic", "dyn-aff", "dyn-aff-nopri", "dyn-aff-delay"]

RunQueuePolicies = Annotated[list[str], Option(autocompletion=completion.run_queue_policies)]
SpaceSharingPolicies = Annotated[
    list[str], Option(autocompletion=completion.space_sharing_policies)
]

HINT = "Ctrl-C stops with those that are finished"

MOST_REPLICATIONS = 100_000
"""At most this many, since all of them are kept in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationOptions:
    """Options about how often a simulation runs.

    Options
    -------
    replications
        Number of simulations of each policy.
    seed
        Seed of the first replication; each further one adds 1.
    """

    replications: Annotated[int, Meta(ge=1, le=MOST_REPLICATIONS)] = 1
    seed: Natural = 0
    workers: WorkersOption = None

    @property
    def seeds(self) -> range:
        """The seeds of the replications."""
        return range(self.seed, self.seed + self.replications)


def run_queue(
    scenarios: Annotated[list[str], Argument(autocompletion=completion.scenarios)],
    *,
    policy: Annotated[
        list[str], Option(autocompletion=completion.run_queue_policies)
    ] = RUN_QUEUE_POLICIES,
    output: str | None = None,
    plain: bool = False,
    settings: list[str] | None = None,
    cpus: Positive | None = None,
    domains: DomainsOption = None,
    runs: ReplicationOptions,
    labels: LabelOptions,
    costs: CostOptions,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate policies that run threads on CPUs.

    For every scenario a table compares the policies: what their switches cost, how often threads
    change fragment and CPU, how long CPUs are idle, response times. -o writes the traces too, for
    dfopt compare. The options about labels and costs are for recorded traces.
    Ctrl-C keeps the simulations that are finished. Exit code 4: Ctrl-C came first.

    Example: dfopt simulate run-queue chat --policy fcfs --policy mine.py --set rooms=20 -o traces

    Arguments
    ---------
    scenarios : SCENARIO
        Names of scenarios that come with dfopt (all: every one), TOML files, recorded traces, whose
        threads then run under the policies, or a workload of your own (file.py or module:Class;
        give --cpus).

    Options
    -------
    policy : POLICY
        Policy to simulate; may be given several times. all: every policy that fits. A policy of
        your own is module:Class or file.py.
    output : -o FOLDER
        Write a trace of every simulation there, and summary.json.
    plain
        Do not compress the traces.
    settings : --set KEY=VALUE
        Set a parameter of the workload, such as rooms=20, or another value of the scenario:
        machine.switch_time, penalty.write_back, policy.NAME.time_slice. May be given several times.
    cpus
        Number of CPUs; the same as --set machine.cpus=N.
    """
    from dfopt.simulate.runs import simulate_all
    from dfopt.simulate.tables import run_tables
    from dfopt_cli.progress import live_line, replication_status

    values = settings_of(settings or [], cpus=cpus, domains=domains)
    subjects = scenarios_of(scenarios, values, labels, costs)
    folder = output_folder(output)
    line = live_line(replication_status, quiet=quiet, hint=HINT)
    with line as show:
        done = simulate_all(
            subjects,
            list(dict.fromkeys(policy)),
            seeds=runs.seeds,
            processes=runs.workers,
            folder=folder,
            is_plain=plain,
            on_progress=show,
        )
    tell_unfit(done)
    tell_without_effect(done)
    if not done.runs:
        if done.is_complete:
            raise DfoptError("no policy fits; name one with --policy to have it all the same")
        say("dfopt: interrupted before a simulation was finished")
        raise Exit(NOT_PROVEN)
    if as_json:
        print_json(done.to_document())
    else:
        print_tables(run_tables(subjects, done.runs))
    if not done.is_complete:
        say("dfopt: interrupted; finished simulations are shown")
        raise Exit(NOT_PROVEN)


def tell_unfit(done: Runs) -> None:
    """Say for each policy that was left out, or should have been, why in one line."""
    for left_out in done.skipped:
        scenario = printable(left_out.scenario)
        say(f"dfopt: {scenario}: {left_out.policy} is left out: {left_out.why}")
    for scenario, policy, why in dict.fromkeys(
        (run.scenario, run.policy, run.unfit) for run in done.runs if run.unfit is not None
    ):
        tell_warnings(scenario, [f"{policy} does not fit: {why}"])


def tell_without_effect(done: Runs) -> None:
    """Say which rules and costs changed nothing in all replications."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in done.runs:
        groups.setdefault((run.scenario, run.policy), []).append(run)
    for (scenario, policy), runs in groups.items():
        if runs[0].unused is not None and all(run.unused for run in runs):
            tell_warnings(scenario, [f"{policy} had no effect: {runs[0].unused}"])
    for scenario in dict.fromkeys(run.scenario for run in done.runs):
        caches = [run.caches for run in done.runs if run.scenario == scenario]
        if not any(counts is None or any(counts.touched) for counts in caches):
            tell_warnings(
                scenario,
                [
                    "the caches cost nothing, since no burst reads lines; recorded threads read "
                    "some with '--set lines=64'"
                ],
            )


def space_sharing(
    mix: Annotated[str, Argument(autocompletion=completion.mixes)],
    *,
    policy: Annotated[
        list[str], Option(autocompletion=completion.space_sharing_policies)
    ] = SPACE_SHARING_POLICIES,
    runs: ReplicationOptions = ReplicationOptions(replications=10),
    output: str | None = None,
    alone: bool = False,
    trace_dir: str | None = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate policies that share processors among jobs.

    For every application and policy: response time, and where the time of the processors went,
    with 95 % confidence intervals over the replications. Ctrl-C keeps the replications that are
    finished. Exit code 4: Ctrl-C came first.

    Example: dfopt simulate space-sharing mix-5 --policy equipartition --policy dyn-aff -o mix.toml

    Example: dfopt simulate space-sharing mix-6 --alone -o parallelism.svg

    Arguments
    ---------
    mix : MIX
        The jobs and the machine, a TOML file (- is standard input), or a name: mix-1 to mix-6.

    Options
    -------
    policy : POLICY
        Policy to simulate; may be given several times. A policy of your own is module:Class or
        file.py.
    output : -o MODEL
        Write the figures there as a response-time model, as TOML; with --alone draw them there, as
        .svg, .png or .pdf.
    alone
        Run each application alone, and show the share of its time in which 1, 2, … processors run
        its threads, and its average demand.
    trace_dir : FOLDER
        Write a trace of every replication there.
    """
    from dfopt_cli.progress import live_line, replication_status
    from dfopt_models.space_sharing import read_mix, simulate
    from dfopt_models.space_sharing.simulation import (
        SIMULATIONS,
        SimulationFigures,
        simulation_tables,
    )

    with naming(mix):
        subject = read_mix(mix)
    if output is not None:
        check_output(output, mix)
    if alone:
        if as_json or trace_dir is not None:
            raise BadParameter("--alone prints a table; --json and --trace-dir are for policies")
        show_alone(subject, runs.seeds, output)
        return
    folder = output_folder(trace_dir)
    line = live_line(replication_status, quiet=quiet, hint=HINT)
    with naming(mix), line as show:
        summaries, complete = simulate(
            subject,
            list(dict.fromkeys(policy)),
            seeds=runs.seeds,
            processes=runs.workers,
            trace_folder=folder,
            on_progress=show,
        )
    if not summaries:
        say(f"dfopt: {mix}: interrupted before a replication was finished")
        raise Exit(NOT_PROVEN)
    if output is not None:
        from dfopt_models.response_time import RESPONSE_TIME
        from dfopt_models.space_sharing.response_model import response_model

        with naming(mix):
            RESPONSE_TIME.write(response_model(subject, summaries), output)
    if as_json:
        found = SimulationFigures(mix=subject.name, seed=runs.seed, policies=summaries)
        print_json(SIMULATIONS.to_document(found))
    else:
        print_tables(simulation_tables(subject, summaries))
    if not complete:
        say(f"dfopt: {mix}: interrupted; finished replications are shown")
        raise Exit(NOT_PROVEN)


def show_alone(mix: Mix, seeds: range, output: str | None) -> None:
    """Print what each application does alone on the machine, and draw it."""
    from dfopt_models.space_sharing import profiles
    from dfopt_models.space_sharing.alone import profile_tables

    if output is not None:
        from dfopt.plot.picture import check_picture_name

        check_picture_name(output)
    found = profiles(mix, seeds=seeds)
    if output is not None:
        from dfopt.plot import save_picture
        from dfopt_models.plot import plot_parallelism

        save_picture(plot_parallelism(found).axes[0], output)
    print_tables(profile_tables(found))
