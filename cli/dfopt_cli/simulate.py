"""``dfopt simulate``: policies on workloads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from typer import Argument, BadParameter, Exit, Option

from dfopt.errors import DfoptError
from dfopt.files.formats import toml_format
from dfopt.files.storage import shown_name
from dfopt.files.strict import parse_toml
from dfopt.render import printable
from dfopt.structs import Natural, Positive, replace
from dfopt_cli import completion
from dfopt_cli.exit_codes import NOT_PROVEN
from dfopt_cli.failures import naming
from dfopt_cli.input_files import (
    labelled_if_possible,
    names_of,
    tell_source,
    tell_warnings,
)
from dfopt_cli.options import (
    DomainsOption,
    JsonOption,
    QuietOption,
    WorkersOption,
    given,
)
from dfopt_cli.printing import check_output, output_folder, print_json, print_tables, say
from dfopt_cli.trace_options import CostOptions, LabelOptions, model_choice

if TYPE_CHECKING:
    from dfopt.compare.cost_model_choice import ModelChoice
    from dfopt.problem.cache_domains import CacheDomains
    from dfopt.simulate.runs import Runs
    from dfopt.simulate.scenario import Scenario
    from dfopt.simulate.simulation import Run
    from dfopt.trace import Trace
    from dfopt_models.space_sharing import Mix


ALL = "all"
STANDARD_INPUT = "-"
TOML = ".toml"
CPUS = "machine.cpus"

BARE_WORD = re.compile(r"([A-Za-z]|\.{0,2}/)[\w./:-]*")
"""A text that needs no quotes on the command line, unlike in TOML."""


def settings_of(
    texts: Sequence[str], *, cpus: int | None = None, domains: CacheDomains | None = None
) -> dict[str, object]:
    """Return the values that ``KEY=VALUE`` set, ``--cpus`` and ``--domains``.

    Any other text is wrong usage, and so are two values for one key.
    """
    settings: dict[str, object] = {}
    options = (("--cpus", CPUS, cpus), ("--domains", "machine.domains", domains))
    given = [option for option in options if option[-1] is not None]
    for option, key, value in [*given, *(("--set", *_setting(text)) for text in texts)]:
        if settings.setdefault(key, value) != value:
            raise BadParameter(
                f"{key} is set to {settings[key]} and to {value}; give one", param_hint=option
            )
    return settings


def _setting(text: str) -> tuple[str, object]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (key and equals and value):
        raise BadParameter(f"{text!r} is not KEY=VALUE, such as rooms=20", param_hint="--set")
    try:
        document = parse_toml(f"value = {value}", what="a value")
    except DfoptError:
        from dfopt.simulate.scenario_document import TIME_WITH_UNIT

        if BARE_WORD.fullmatch(value) or TIME_WITH_UNIT.fullmatch(value):
            return key, value
        document = {}
    if list(document) != ["value"]:
        raise BadParameter(
            f"{key}: {value!r} is no value of TOML, such as 20, 0.5, true or [1, 2]",
            param_hint="--set",
        )
    return key, document["value"]


def scenarios_of(
    names: Sequence[str], settings: Mapping[str, object], labels: LabelOptions, costs: CostOptions
) -> list[Scenario]:
    """Return the scenarios that are asked for; options that none of them takes are wrong usage.

    Raises
    ------
    DfoptError
        When one cannot be read, or a setting does not fit it.
    """
    from dfopt.simulate.scenario_document import (
        read_scenario,
        scenario_of_trace,
        scenario_of_workload,
        shipped_scenarios,
    )
    from dfopt.simulate.workloads.own_workload import is_own_workload
    from dfopt.user_code import PYTHON

    listed = list(
        dict.fromkeys(
            scenario
            for name in names
            for scenario in (shipped_scenarios() if name == ALL else (name,))
        )
    )
    own = [
        name
        for name in listed
        if is_own_workload(name) and (name.endswith(PYTHON) or not Path(name).exists())
    ]
    recorded = [name for name in listed if name not in own and is_recorded(name)]
    if not recorded and given(labels, costs):
        raise BadParameter(
            "the options about labels and costs are for recorded traces; change a scenario with "
            "--set, such as --set penalty.write_back=0"
        )
    choice = model_choice(costs)
    options = iter(labels.of_each(len(recorded)) if recorded else ())
    found = []
    names_of_recorded = dict(zip(recorded, short_names(recorded), strict=True))
    for name in listed:
        with naming(name):
            if name in recorded:
                trace = recorded_trace(name, next(options), choice)
                scenario = scenario_of_trace(trace, settings, name=names_of_recorded[name])
            elif name in own:
                scenario = scenario_of_workload(name, settings)
            else:
                found.append(read_scenario(name, settings))
                continue
        found.append(replace(scenario, file=shown_name(name)))
    return found


def is_recorded(name: str) -> bool:
    """Return whether a name means a recorded trace."""
    from dfopt.simulate.scenario_document import SCENARIOS

    is_file = name == STANDARD_INPUT or Path(name).exists()
    if SCENARIOS.is_shipped(name) or not is_file:
        return False  # its reader says what there is instead
    with naming(name):
        return toml_format(name) is None and not name.endswith(TOML)


def short_names(files: Sequence[str]) -> list[str]:
    """Return a name for each recording: the shortest part of its file's name that is unique."""
    whole = names_of(files)
    short = [_without_endings(name) for name in whole]
    count = Counter(short)
    return [long if count[name] > 1 else name for long, name in zip(whole, short, strict=True)]


def _without_endings(name: str) -> str:
    if name.startswith("/dev/"):
        return "recording"
    return PurePath(name).name.lstrip(".").split(".")[0] or "recording"


def recorded_trace(file: str, labels: LabelOptions, choice: ModelChoice) -> Trace:
    """Return a recording with labels, costs, lines and states; doubts go to standard error."""
    from dfopt.compare.cost_model_choice import with_dispatch_costs
    from dfopt.trace.trace import UNMANAGED

    trace, source = labelled_if_possible(file, labels)
    if not given(labels):
        tell_source(file, source)
    tell_warnings(file, trace.quality.warnings)
    if not (trace.fragment != UNMANAGED).any():
        tell_warnings(file, ["no dispatch has a fragment, so nothing is paid; --df says which"])
    with naming(file):
        return with_dispatch_costs(trace, choice)


RUN_QUEUE_POLICIES = ["linux-o1", "data-affinity", "fcfs"]
SPACE_SHARING_POLICIES = ["equipartition", "dynamic", "dyn-aff", "dyn-aff-nopri", "dyn-aff-delay"]


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
        from dfopt_models.space_sharing.simulation import response_model

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
        from dfopt.plot.style import check_picture_name

        check_picture_name(output)
    found = profiles(mix, seeds=seeds)
    if output is not None:
        from dfopt.plot import save_picture
        from dfopt_models.plot import plot_parallelism

        save_picture(plot_parallelism(found).axes[0], output)
    print_tables(profile_tables(found))
