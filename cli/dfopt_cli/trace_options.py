"""Arguments and options that the commands about traces share, and their meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dfopt.files import read_instance
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt_cli.failures import naming, parsed, usage

if TYPE_CHECKING:
    from dfopt.compare import Window
    from dfopt.compare.attainable.permitted_wait import PermittedWait
    from dfopt.compare.cost_model_choice import ModelChoice

TraceArgument = Annotated[
    str,
    typer.Argument(
        metavar="TRACE",
        help="The trace: text of perf or ftrace, systrace, Perfetto, Chrome JSON or dfopt-trace/1.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """Options about the fragment that each dispatch uses."""

    df: Annotated[
        list[str] | None,
        typer.Option(
            "--df",
            metavar="SOURCE",
            show_default=False,
            help="Where fragments come from: own (the trace's labels), tgid (the process), marks "
            "(dfopt:df=ID), comm:REGEX, cgroup:FILE, wakeups (inferred), or a CSV file tid,df. "
            "By default the first of own, marks and tgid that the trace has. Of several traces: "
            "once for all, or once for each in their order.",
        ),
    ] = None
    infer_df: Annotated[
        Literal["wakeups"] | None,
        typer.Option(help="Infer the fragments; the same as --df wakeups.", show_default=False),
    ] = None
    only: Annotated[
        str | None,
        typer.Option(
            metavar="TIDS|REGEX",
            show_default=False,
            help="Manage only these threads: numbers with commas, or a regular expression for the "
            "name of the thread (comm). A trace without comms keeps its own labels.",
        ),
    ] = None
    labels_out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the labels there, as a CSV file.", show_default=False
        ),
    ] = None

    def of_each(self, traces: int) -> list[LabelOptions]:
        """Return the options for each trace; contradictions are wrong usage."""
        sources = self.df or ([] if self.infer_df is None else [self.infer_df])
        if self.infer_df is not None and set(sources) != {self.infer_df}:
            raise typer.BadParameter(
                f"--infer-df {self.infer_df} and --df {' --df '.join(sources)} contradict each "
                "other; give one"
            )
        if len(sources) not in (0, 1, traces):
            raise typer.BadParameter(
                "give it once for all traces, or once for each in their order; it is given "
                f"{len(sources)} times for {traces}",
                param_hint="--df",
            )
        return [
            replace(self, df=[source], infer_df=None)
            for source in (sources * traces if len(sources) == 1 else sources)
        ] or [self] * traces

    @property
    def source(self) -> str | None:
        """Where the labels of the only trace come from; None leaves it to the trace."""
        (options,) = self.of_each(1)
        return options.df[0] if options.df else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions:
    """Options about switch costs."""

    penalty: Annotated[
        Literal["f", "g", "matrix"] | None,
        typer.Option(
            show_default=False,
            help="f: lines are read one by one; g: the whole cache at every change of fragment; "
            "matrix: by type, as in the trace's header or the instance of --model. By default it "
            "follows from the costs that are given.",
        ),
    ] = None
    fill: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="g: time to fill the cache (T_r).", show_default=False
        ),
    ] = None
    read_line: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="f: time to read a line (t_r).", show_default=False),
    ] = None
    write_back: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="f, g: time to write the cache back (T_w).",
            show_default=False,
        ),
    ] = None
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="f, g: take t_r, T_w and T_r from this dfopt-machine/1 where they are not given; "
            "for traces in nanoseconds.",
            show_default=False,
        ),
    ] = None
    penalties: Annotated[
        str | None,
        typer.Option(
            metavar="[JOB=]FILE",
            help="g: take T_r from a job of this dfopt-penalties/1, its path length and its "
            "penalty without affinity after its longest quantum; for traces in nanoseconds.",
            show_default=False,
        ),
    ] = None
    lines: Annotated[
        str | None,
        typer.Option(
            metavar="N|runtime:N",
            show_default=False,
            help="f: lines that a dispatch reads if the trace does not say; with runtime: at most "
            "what it had time for.",
        ),
    ] = None
    leaves: Annotated[
        Literal["clean", "dirty", "invalidated"] | None,
        typer.Option(
            help="f: how a dispatch leaves its fragment if the trace does not say; "
            "by default dirty.",
            show_default=False,
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            metavar="INSTANCE",
            show_default=False,
            help="Take penalty, objective and flags from this instance. By default they are the "
            "trace's own; without any, every change of fragment costs 1.",
        ),
    ] = None
    cold_start: Annotated[
        bool | None,
        typer.Option(
            "--cold-start/--no-cold-start",
            help="Whether the first dispatch on a CPU pays for loading its fragment.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions(CostOptions):
    """Options about switch costs and about what is minimised."""

    objective: Annotated[
        Literal["total-penalty", "max-penalty", "makespan"] | None,
        typer.Option(help="What to minimise (makespan: for instances only).", show_default=False),
    ] = None
    final_write_back: Annotated[
        bool | None,
        typer.Option(
            "--final-write-back/--no-final-write-back",
            help="Whether the last dispatch on a CPU pays for what it left dirty.",
            show_default=False,
        ),
    ] = None
    capacity: Annotated[
        str | None,
        typer.Option(
            metavar="observed|balanced|unlimited|N",
            show_default=False,
            help="Largest number of dispatches on a CPU in a window; observed (the default): the "
            "largest number that the trace ran on one CPU.",
        ),
    ] = None
    unmanaged: Annotated[
        Literal["transparent", "evict"],
        typer.Option(
            help="What a task without a fragment does: leave the cache alone, or evict its content."
        ),
    ] = "transparent"
    broken_chains: Annotated[
        Literal["bridge", "cut"],
        typer.Option(
            help="Where the trace lacks a switch: bridge the gap, or cut the window there."
        ),
    ] = "bridge"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOptions:
    """Options about where the work is done."""

    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default=False,
            help="Number of processes; by default one for each processor.",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            show_default=False,
            help="Let the workers of this Dask scheduler do the work, such as tcp://host:8786.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOptions(WorkOptions):
    """Options about look-ahead, and about the time and the processes of the search."""

    window: Annotated[
        list[str] | None,
        typer.Option(
            metavar="W",
            show_default=False,
            help="How far a scheduler may look ahead: dispatches (100), a time (10ms) or whole, "
            "the default. May be given several times.",
        ),
    ] = None
    foresight: Annotated[
        bool,
        typer.Option("--foresight", help="Windows of 5, 10, 20, 50, ... dispatches up to whole."),
    ] = False
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            show_default=False,
            help="Stop the search after this time; what is not proven by then has a weaker bound.",
        ),
    ] = None

    def chosen(
        self, *, default: Literal["whole", "foresight", "none"]
    ) -> tuple[Window, ...] | None:
        """Return the windows that are asked for; None means the ladder of the foresight curve."""
        from dfopt.compare.window_length import parse_window

        if self.window and self.foresight:
            raise typer.BadParameter("--foresight and --window exclude each other; give one")
        if self.foresight or (not self.window and default == "foresight"):
            return None
        if not self.window and default == "none":
            return ()
        windows = [
            usage(lambda text=text: parse_window(text), "--window")  # type: ignore[misc]
            for text in dict.fromkeys(self.window or ["whole"])
        ]
        return tuple(windows)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierOptions:
    """Options about schedules that keep cause and effect."""

    wait: Annotated[
        list[str] | None,
        typer.Option(
            metavar="D",
            show_default=False,
            help="Also schedules in which no dispatch waits longer than this, unless it did so in "
            "the recording: a time (500us, 1ms), or a number in the trace's unit. May be given "
            "several times.",
        ),
    ] = None

    def waits(self) -> tuple[PermittedWait, ...]:
        """Return the waits that are permitted beside the usual limits."""
        from dfopt.compare.attainable.permitted_wait import parse_wait

        return tuple(
            usage(lambda text=text: parse_wait(text), "--wait")  # type: ignore[misc]
            for text in dict.fromkeys(self.wait or [])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttainableOptions(FrontierOptions):
    """Options about whether to look for such schedules, and where to write them."""

    order_free: Annotated[
        bool,
        typer.Option(
            "--order-free",
            help="Leave out schedules that keep cause and effect, which take most of the time: "
            "only windows, whose dispatches may run in any order.",
        ),
    ] = False
    save: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            show_default=False,
            help="Write the schedules there as traces, and the proofs of their bounds.",
        ),
    ] = None

    def frontier(self) -> FrontierOptions | None:
        """Return the options about the frontier if one is wanted."""
        if not self.order_free:
            return FrontierOptions(wait=self.wait)
        if self.wait or self.save is not None:
            raise typer.BadParameter(
                "--order-free leaves out what --wait and --save are about; give one of them"
            )
        return None


def model_choice(options: ModelOptions) -> ModelChoice:
    """Return what the options ask of the model; contradictions are wrong usage."""
    from dfopt.compare.cost_model_choice import parse_capacity

    costs = cost_choice(options)
    return replace(
        costs,
        objective=None if options.objective is None else Objective(options.objective),
        final_write_back=options.final_write_back,
        capacity=parsed(parse_capacity, options.capacity, "--capacity"),
        unmanaged=options.unmanaged,
        broken_chains=options.broken_chains,
    )


def cost_choice(options: CostOptions) -> ModelChoice:
    """Return what the options ask of the costs; contradictions are wrong usage."""
    from dfopt.compare.cost_model_choice import ModelChoice, parse_lines

    lines, by_run_time = parsed(parse_lines, options.lines, "--lines") or (None, False)
    is_measured = options.machine is not None or options.penalties is not None
    options = with_penalties(with_machine(options))
    return usage(
        lambda: ModelChoice(
            penalty=options.penalty,
            fill=options.fill,
            read_line=options.read_line,
            write_back=options.write_back,
            lines=lines,
            lines_by_run_time=by_run_time,
            leaves=None if options.leaves is None else Leaves(options.leaves),
            cold_start=options.cold_start,
            time_unit="ns" if is_measured else None,
        )
    )


def with_machine(options: CostOptions) -> CostOptions:
    """Return the options with a machine's costs where none are given."""
    if options.machine is None:
        return options
    if options.penalty == "matrix":
        raise typer.BadParameter("--machine is for the penalties f and g")
    from dfopt_models.measure import read_machine

    with naming(options.machine):
        read_line, write_back, fill = read_machine(options.machine).in_nanoseconds()
    if options.write_back is None:
        options = replace(options, write_back=write_back)
    if options.penalty == "g" or options.fill is not None:
        return replace(options, fill=fill) if options.fill is None else options
    return replace(options, read_line=read_line) if options.read_line is None else options


def with_penalties(options: CostOptions) -> CostOptions:
    """Return the options with a job's measured penalty where no other is given."""
    if options.penalties is None:
        return options
    if options.penalty not in (None, "g"):
        raise typer.BadParameter("--penalties is for the penalty g")
    from dfopt_models.measure import read_penalties
    from dfopt_models.measure.model_with_penalties import time_to_fill

    job, equals, file = options.penalties.partition("=")
    if not equals or "/" in job:
        job, file = "", options.penalties
    costs = read_penalties(file)
    with naming(file):
        fill = time_to_fill(costs, job or None)
    return replace(
        options,
        penalty="g",
        fill=fill if options.fill is None else options.fill,
        write_back=0 if options.write_back is None else options.write_back,
    )


def model_instance(options: CostOptions) -> Instance | None:
    """Return the instance that the model is to be taken from."""
    if options.model is None:
        return None
    with naming(options.model):
        return read_instance(options.model)
