"""Many simulations: scenarios under policies, seed by seed, in several processes."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import field

from dfopt.checks import did_you_mean
from dfopt.errors import DfoptError, FileError
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.files.strict import Document
from dfopt.parallel.pool import answers_in_order
from dfopt.render import FrameLibrary, frame
from dfopt.simulate.contract import Policy
from dfopt.simulate.policies import POLICIES, policy_named, policy_with
from dfopt.simulate.scenario import Scenario
from dfopt.simulate.simulation import Run, UnfitError, run_of, simulate_once
from dfopt.structs import DocumentPart, Record, document_of, replace
from dfopt.table import Table, TableColumn
from dfopt.type_reader import shown_place
from dfopt.user_code import naming_policy

SUMMARY = "summary.json"
ALL = "all"


TIME_COLUMNS = frozenset({
    "end", "penalty_total", "penalty_max", "executed", "overhead", "spun", "interrupted",
    "locks_spun",
    *(
        f"{waits}_{figure}"
        for waits in (
            "wait", "response", "service_wakeup_latency", "service_wait", "service_response",
        )
        for figure in ("mean", "p50", "p99", "longest")
    ),
})  # fmt: skip
"""The columns of data frames that are times."""


class Skipped(DocumentPart):
    """A policy that was left out, because it makes no sense for a scenario, and why."""

    scenario: str
    policy: str
    why: str


class RunTask(Record):
    """One simulation to do.

    Parameters
    ----------
    scenario, seed
        Of the simulation.
    policy
        As :func:`policy_named` takes it.
    refuses_unfit
        Whether to leave it out where the policy calls itself unfit.
    trace
        The name of its trace.
    folder
        Where to write the trace; None: nowhere.
    """

    scenario: Scenario
    policy: str
    seed: int
    refuses_unfit: bool
    trace: str
    folder: Path | None = None

    def perform(self) -> Run | Skipped:
        """Do it."""
        policy = policy_named(self.policy)
        with naming_policy(policy):
            return self._answer(policy)

    def _answer(self, policy: type[Policy]) -> Run | Skipped:
        scenario = self.scenario
        try:
            done = simulate_once(scenario, policy, seed=self.seed, refuses_unfit=self.refuses_unfit)
        except UnfitError as error:
            return Skipped(scenario=scenario.name, policy=policy.name, why=error.problem)
        except DfoptError as error:
            raise error if error.file else error.in_file(scenario.file or scenario.name) from None
        if self.folder is not None:
            from dfopt.trace.formats import write_trace

            write_trace(done.trace, self.folder / self.trace)
        return run_of(done, scenario=scenario.name, seed=self.seed)


class Runs(DocumentPart):
    """What run-queue policies did with scenarios.

    Parameters
    ----------
    is_complete
        Whether all were finished; after Ctrl-C only those that were are here.
    runs
        The finished simulations: scenario by scenario, policy by policy, seed by seed.
    skipped
        The policies that were left out.
    """

    is_complete: bool = field(name="complete")
    runs: tuple[Run, ...]
    skipped: tuple[Skipped, ...]

    def to_document(self) -> Document:
        """Return them as a document ``dfopt-run-queue/1``."""
        return RUN_QUEUE.to_document(self)

    def to_frame(self, *, library: FrameLibrary | None = None) -> Any:
        """Return the figures as a data frame of pandas or polars, with a row for each simulation.

        Columns are the keys of the document, those of inner objects after the outer key:
        ``penalty_total_ns``, ``service_wakeup_latency_p99_ns``. Counts in caches are sums over all
        CPUs.

        Parameters
        ----------
        library
            ``"pandas"`` or ``"polars"``; None takes pandas if it is installed, else polars.

        Raises
        ------
        MethodError
            When the library is not installed.
        """
        rows = [
            {
                TableColumn(name, run.time_unit if name in TIME_COLUMNS else None): value
                for name, value in _flat(document_of(run))
            }
            for run in self.runs
        ]
        columns = list(dict.fromkeys(column for row in rows for column in row))
        values: list[list[Any]] = [[row.get(column) for column in columns] for row in rows]
        return frame(Table("runs", columns, values), library)


RUN_QUEUE = DocumentType(Format.RUN_QUEUE, Runs)


def simulate_all(  # noqa: PLR0913 - what, how often, and where
    scenarios: Sequence[Scenario],
    policies: Sequence[str],
    *,
    seeds: range = range(1),
    processes: int | None = None,
    folder: Path | None = None,
    is_plain: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Runs:
    """Simulate scenarios under policies.

    Parameters
    ----------
    scenarios
        Workloads on machines; no two scenarios have the same name.
    policies
        As :func:`policy_named` takes them; ``"all"`` stands for all that come with dfopt and do
        not call themselves unfit.
    seeds
        Of the simulations of each scenario under each policy. The same seed gives the same
        threads under all policies.
    processes
        How many processes to use at once; by default one for each processor.
    folder
        Where to write ``SCENARIO-POLICY.jsonl.gz``, a trace of each simulation, with its seed if
        there are several, and ``summary.json``. A trace is there once its simulation is finished.
    is_plain
        Whether traces are not compressed.
    on_progress
        Called with the number of simulations that are done, and of all.

    Raises
    ------
    DfoptError
        When a policy cannot be loaded, does not take its parameters, or breaks its contract; or
        when threads wait for each other for ever.
    """
    tasks = _tasks(scenarios, policies, seeds, ending=".jsonl" if is_plain else ".jsonl.gz")
    if folder is not None:
        # Blanks and slashes of scenarios become hyphens, which scenarios and policies have, too.
        _check_names("traces", [task.trace for task in tasks])
    with _scratch(folder) as scratch:

        def keep(task: RunTask, answer: Run | Skipped) -> Run | Skipped:
            if folder is None or scratch is None or isinstance(answer, Skipped):
                return answer
            (scratch / task.trace).replace(folder / task.trace)
            return replace(answer, trace=task.trace)

        tasks = [replace(task, folder=scratch) for task in tasks]
        answers = answers_in_order(tasks, processes, on_progress, keep)
    skipped = dict.fromkeys(answer for answer in answers if isinstance(answer, Skipped))
    runs = Runs(
        runs=tuple(answer for answer in answers if isinstance(answer, Run)),
        skipped=tuple(skipped),
        is_complete=None not in answers,
    )
    if folder is not None and runs.runs:
        RUN_QUEUE.write(runs, folder / SUMMARY)
    return runs


def _flat(document: Mapping[str, Any], outer: str = "") -> Iterator[tuple[str, object]]:
    """Yield the figures of a document, those of inner objects too; texts in lists are left out."""
    for key, value in document.items():
        name = f"{outer}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}_")
        elif isinstance(value, list):
            if value and all(isinstance(entry, int) for entry in value):
                yield name, sum(value)
        elif value is not None:
            yield name, value


def _tasks(
    scenarios: Sequence[Scenario], policies: Sequence[str], seeds: range, *, ending: str
) -> list[RunTask]:
    """Return the simulations to do; errors are found before any of them begins."""
    sources = _sources(policies)
    _check_names("scenarios", [scenario.name for scenario in scenarios])
    classes = {source: policy_named(source) for source in sources}
    _check_names("policies", [policy.name for policy in classes.values()])
    for scenario in scenarios:
        try:
            _check_policy_tables(scenario, tuple(policy.name for policy in classes.values()))
            for policy in classes.values():
                with naming_policy(policy):
                    policy_with(policy, scenario.policies.get(policy.name, {}))
        except DfoptError as error:
            raise error if error.file else error.in_file(scenario.file or scenario.name) from None
    return [
        RunTask(
            scenario=scenario,
            policy=source,
            seed=seed,
            refuses_unfit=is_optional,
            trace=_file_name(scenario.name, classes[source].name, seed, len(seeds)) + ending,
        )
        for scenario in scenarios
        for source, is_optional in sources.items()
        for seed in seeds
    ]


def _check_policy_tables(scenario: Scenario, chosen: tuple[str, ...]) -> None:
    """Refuse parameters of a policy that is neither in the package nor chosen."""
    known = tuple(dict.fromkeys((*POLICIES, *chosen)))
    for name in scenario.policies:
        if name not in known:
            problem = f"there is no such policy; {did_you_mean(name, known)}"
            raise FileError(problem, place=shown_place(("policy", name)))


def _sources(policies: Sequence[str]) -> dict[str, bool]:
    """Return which policies are asked for, and whether each may be left out."""
    named = [source for source in policies if source != ALL]
    sources: dict[str, bool] = {}
    for source in policies:
        for name in POLICIES if source == ALL else (source,):
            sources[name] = name not in named
    return sources


def _check_names(what: str, names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise DfoptError(f"{count} {what} are called {name!r}; give all but one another name")


def _file_name(scenario: str, policy: str, seed: int, seeds: int) -> str:
    suffix = f"-seed{seed}" if seeds > 1 else ""
    return "-".join(f"{scenario}-{policy}{suffix}".replace("/", "-").split())


@contextmanager
def _scratch(folder: Path | None) -> Iterator[Path | None]:
    """Make a folder for traces that are not finished, beside those that are."""
    if folder is None:
        yield None
        return
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".dfopt-", dir=folder))
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(
            f"cannot be written to ({reason}); name another folder", file=str(folder)
        ) from None
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
