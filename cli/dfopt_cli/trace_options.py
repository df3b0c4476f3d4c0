"""Arguments and options that the commands about traces share, and their meaning."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from dfopt.files import read_instance
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.structs import Natural, NonNegative, replace
from dfopt_cli import completion
from dfopt_cli.failures import naming, usage
from dfopt_cli.options import WorkersOption, read_by

if TYPE_CHECKING:
    from dfopt.compare import Window
    from dfopt.compare.cost_model_choice import ModelChoice
    from dfopt.compare.written_times import PermittedWait


TraceArgument = Annotated[
    str,
    Argument(
        metavar="TRACE",
        help="The trace: text of perf or ftrace, systrace, Perfetto, Chrome JSON or dfopt-trace/1.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """Options about the fragment that each dispatch uses.

    Options
    -------
    df : SOURCE
        Which threads share data, a fragment: those of a process (tgid or process), of a name
        (comm:REGEX) or of a control group (cgroup:FILE), those that wake each other up (wakeups),
        or as the trace (own), marks in it (marks, dfopt:df=ID) or a CSV file tid,df say. By default
        the first of own, marks, tgid and wakeups that the trace has. Of several traces: once for
        all, or once for each in their order.

    Which threads share data
    ------------------------
    infer_df
        Infer the fragments; the same as --df wakeups.
    only : TIDS|REGEX
        Manage only these threads: numbers with commas, or a regular expression for the name of the
        thread (comm). A trace without comms keeps its own labels.
    labels_out : FILE
        Write the labels there, as a CSV file.
    """

    df: Annotated[list[str] | None, Option(autocompletion=completion.sources)] = None
    infer_df: Literal["wakeups"] | None = None
    only: str | None = None
    labels_out: str | None = None

    def of_each(self, traces: int) -> list[LabelOptions]:
        """Return the options for each trace; contradictions are wrong usage."""
        sources = self.df or ([] if self.infer_df is None else [self.infer_df])
        if self.infer_df is not None and set(sources) != {self.infer_df}:
            raise BadParameter(
                f"--infer-df {self.infer_df} and --df {' --df '.join(sources)} contradict each "
                "other; give one"
            )
        if len(sources) not in (0, 1, traces):
            raise BadParameter(
                "give it once for all traces, or once for each in their order; it is given "
                f"{len(sources)} times for {traces}",
                param_hint="--df",
            )
        if self.labels_out is not None and traces > 1:
            raise BadParameter("--labels-out is for one trace; there are several")
        each = sources * traces if len(sources) == 1 else sources
        return [replace(self, df=[source], infer_df=None) for source in each] or [self] * traces

    @property
    def source(self) -> str | None:
        """Where the labels of the only trace come from; None leaves it to the trace."""
        (options,) = self.of_each(1)
        return options.df[0] if options.df else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """Options about how long dispatches may wait.

    Options
    -------
    wait : D
        Also schedules in which no dispatch waits longer than this, unless it did so in the
        recording: a time (500us, 1ms), or a number in the trace's unit. May be given several times.
    """

    wait: Annotated[list[Any] | None, read_by("dfopt.compare.written_times:parse_wait")] = None

    @property
    def waits(self) -> tuple[PermittedWait, ...]:
        """The waits, each once."""
        return tuple(dict.fromkeys(self.wait or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierOptions(WaitOptions):
    """Options about schedules that keep cause and effect.

    Options
    -------
    order_free
        Leave out schedules that keep cause and effect, which take most of the time: only windows,
        whose dispatches may run in any order.

    Time and processes
    ------------------
    effort
        Work this number of times as much on schedules and bounds: 0.2 for a quick look, 10 for
        better ones.
    """

    order_free: bool = False
    effort: Annotated[float, Option(min=0.01, max=1000)] = 1.0

    @property
    def wanted(self) -> tuple[PermittedWait, ...] | None:
        """The waits; None if only windows are wanted."""
        return None if self.order_free else self.waits


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOptions:
    """Options about where the work is done.

    Time and processes
    ------------------
    scheduler : ADDRESS
        Let the workers of this Dask scheduler do the work, such as tcp://host:8786.
    """

    workers: WorkersOption = None
    scheduler: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOptions(WorkOptions):
    """Options about look-ahead, and about the time and the processes of the search.

    Options
    -------
    window : W
        Windows, whose dispatches may run in any order: how far a scheduler may look ahead, in
        dispatches (100), a time (10ms) or whole, the default. May be given several times.

    Windows of dispatches
    ---------------------
    foresight
        Windows of 5, 10, 20, 50, ... dispatches up to whole.

    Time and processes
    ------------------
    time_limit : SECONDS
        Stop the search after this time; what is not proven by then has a weaker bound.
    """

    window: Annotated[list[Any] | None, read_by("dfopt.compare.written_times:parse_window")] = None
    foresight: bool = False
    time_limit: NonNegative | None = None

    def chosen(self, *, default: Literal["whole", "foresight"]) -> tuple[Window, ...] | None:
        """Return the windows that are asked for; None means the ladder of the foresight curve."""
        from dfopt.compare.written_times import parse_window

        if self.window and self.foresight:
            raise BadParameter("--foresight and --window exclude each other; give one")
        if self.foresight or (not self.window and default == "foresight"):
            return None
        return tuple(dict.fromkeys(self.window or [parse_window("whole")]))


PENALTIES: dict[str, Literal["f", "g", "matrix"]] = {
    "f": "f",
    "lines": "f",
    "g": "g",
    "whole": "g",
    "matrix": "matrix",
    "table": "matrix",
}
"""The words for penalties on the command line, with the names of the penalties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions:
    """Options about switch costs.

    What switches cost
    ------------------
    penalty
        f or lines: lines are read one by one; g or whole: the whole cache at every change of
        fragment; matrix or table: by type, as in the trace's header or the instance of --model. By
        default it follows from the costs that are given.
    fill : N
        g: time to fill the cache (T_r).
    read_line : N
        f: time to read a line (t_r).
    write_back : N
        f, g: time to write the cache back (T_w).
    machine : FILE
        f, g: take t_r, T_w and T_r from this dfopt-machine/1 where they are not given; for traces
        in nanoseconds.
    penalties : [JOB=]FILE
        g: take T_r from a job of this dfopt-penalties/1, its path length and its penalty without
        affinity after its longest quantum; for traces in nanoseconds.
    lines : N|runtime:N
        f: lines that a dispatch reads if the trace does not say; with runtime: at most what it had
        time for.
    leaves
        f: how a dispatch leaves its fragment if the trace does not say; by default dirty.
    model : INSTANCE
        Take penalty, objective and flags from this instance. By default they are the trace's own;
        without any, every change of fragment costs 1.
    cold_start
        Whether the first dispatch on a CPU pays for loading its fragment.
    """

    penalty: Literal["f", "lines", "g", "whole", "matrix", "table"] | None = None
    fill: Natural | None = None
    read_line: Natural | None = None
    write_back: Natural | None = None
    machine: str | None = None
    penalties: str | None = None
    lines: Annotated[Any, read_by("dfopt.compare.cost_model_choice:parse_lines")] = None
    leaves: Leaves | None = None
    model: str | None = None
    cold_start: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions(CostOptions):
    """Options about switch costs and about what is minimised.

    What switches cost
    ------------------
    objective
        What to minimise (makespan: for instances only).
    final_write_back
        Whether the last dispatch on a CPU pays for what it left dirty.
    unmanaged
        What a task without a fragment does: leave the cache alone, or evict its content.

    Windows of dispatches
    ---------------------
    capacity : observed|balanced|unlimited|N
        Largest number of dispatches on a CPU in a window; observed (the default): the largest
        number that the trace ran on one CPU.
    broken_chains
        Where the trace lacks a switch: bridge the gap, or cut the window there.
    """

    objective: Objective | None = None
    final_write_back: bool | None = None
    capacity: Annotated[Any, read_by("dfopt.compare.cost_model_choice:parse_capacity")] = None
    unmanaged: Literal["transparent", "evict"] = "transparent"
    broken_chains: Literal["bridge", "cut"] = "bridge"


def model_choice(options: CostOptions) -> ModelChoice:
    """Return what the options ask of the model; contradictions are wrong usage."""
    from dfopt.compare.cost_model_choice import ModelChoice

    chosen = {name: value for name, value in asdict(options).items() if value is not None}
    if options.penalty is not None:
        chosen["penalty"] = PENALTIES[options.penalty]
    if options.lines is not None:
        chosen["lines"], chosen["lines_by_run_time"] = options.lines
    machine, penalties = chosen.pop("machine", None), chosen.pop("penalties", None)
    measured: dict[str, Any] = {}
    if machine or penalties:
        measured = measured_costs(chosen.get("penalty"), options.fill, machine, penalties)
    if options.model is not None:
        with naming(chosen.pop("model")):
            chosen["instance"] = read_instance(options.model)
    unit = "ns" if measured else None
    return usage(lambda: ModelChoice(**{**measured, **chosen}, time_unit=unit))


def measured_costs(
    penalty: str | None, fill: int | None, machine: str | None, penalties: str | None
) -> dict[str, Any]:
    """Return the costs in files of measurements, beside a penalty and a fill that are given."""
    from dfopt_models.measure import read_machine, read_penalties

    costs: dict[str, Any] = {}
    if penalties is not None:
        if penalty not in (None, "g"):
            raise BadParameter("--penalties is for the penalty g")
        job, equals, file = penalties.partition("=")
        if not equals or "/" in job:
            job, file = "", penalties
        measured = read_penalties(file)
        with naming(file):
            fills = measured.time_to_fill(job or None)
            costs = {"penalty": "g", "fill": fills, "write_back": 0}
    if machine is not None:
        if penalty == "matrix":
            raise BadParameter("--machine is for the penalties f and g")
        with naming(machine):
            read_line, write_back, full = read_machine(machine).in_nanoseconds()
        is_g = penalty == "g" or fill is not None
        costs |= {"write_back": write_back} | ({"fill": full} if is_g else {"read_line": read_line})
    return costs
