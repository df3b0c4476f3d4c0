"""Arguments and options that the commands about traces share, and their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from dfopt.structs import replace
from dfopt_cli import completion
from dfopt_cli.options import LABELS, WINDOWS, WORK, WorkersOption, read_by

if TYPE_CHECKING:
    from dfopt.compare import Window

TraceArgument = Annotated[
    str,
    Argument(
        metavar="TRACE",
        help="The trace: text of perf or ftrace, systrace, Perfetto, Chrome JSON or dfopt-trace/1.",
    ),
]

WaitOption = Annotated[
    list[Any] | None,
    Option(
        parser=read_by("dfopt.compare.written_times:parse_wait"),
        metavar="D",
        help="Also schedules in which no dispatch waits longer than this, unless it did so in "
        "the recording: a time (500us, 1ms), or a number in the trace's unit. May be given "
        "several times.",
    ),
]

OrderFreeOption = Annotated[
    bool,
    Option(
        "--order-free",
        help="Leave out schedules that keep cause and effect, which take most of the time: "
        "only windows, whose dispatches may run in any order.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """Options about the fragment that each dispatch uses."""

    df: Annotated[
        list[str] | None,
        Option(
            "--df",
            metavar="SOURCE",
            autocompletion=completion.sources,
            help="Which threads share data, a fragment: those of a process (tgid or process), of a "
            "name (comm:REGEX) or of a control group (cgroup:FILE), those that wake each other up "
            "(wakeups), or as the trace (own), marks in it (marks, dfopt:df=ID) or a CSV file "
            "tid,df say. By default the first of own, marks, tgid and wakeups that the trace has. "
            "Of several traces: once for all, or once for each in their order.",
        ),
    ] = None
    infer_df: Annotated[
        Literal["wakeups"] | None,
        Option(help="Infer the fragments; the same as --df wakeups.", rich_help_panel=LABELS),
    ] = None
    only: Annotated[
        str | None,
        Option(
            metavar="TIDS|REGEX",
            help="Manage only these threads: numbers with commas, or a regular expression for the "
            "name of the thread (comm). A trace without comms keeps its own labels.",
            rich_help_panel=LABELS,
        ),
    ] = None
    labels_out: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write the labels there, as a CSV file.",
            rich_help_panel=LABELS,
        ),
    ] = None

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
class WorkOptions:
    """Options about where the work is done."""

    workers: WorkersOption = None
    scheduler: Annotated[
        str | None,
        Option(
            metavar="ADDRESS",
            help="Let the workers of this Dask scheduler do the work, such as tcp://host:8786.",
            rich_help_panel=WORK,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOptions(WorkOptions):
    """Options about look-ahead, and about the time and the processes of the search."""

    window: Annotated[
        list[Any] | None,
        Option(
            parser=read_by("dfopt.compare.written_times:parse_window"),
            metavar="W",
            help="Windows, whose dispatches may run in any order: how far a scheduler may look "
            "ahead, in dispatches (100), a time (10ms) or whole, the default. May be given several "
            "times.",
        ),
    ] = None
    foresight: Annotated[
        bool,
        Option(
            "--foresight",
            help="Windows of 5, 10, 20, 50, ... dispatches up to whole.",
            rich_help_panel=WINDOWS,
        ),
    ] = False
    time_limit: Annotated[
        float | None,
        Option(
            min=0,
            metavar="SECONDS",
            help="Stop the search after this time; what is not proven by then has a weaker bound.",
            rich_help_panel=WORK,
        ),
    ] = None

    def chosen(self, *, default: Literal["whole", "foresight"]) -> tuple[Window, ...] | None:
        """Return the windows that are asked for; None means the ladder of the foresight curve."""
        from dfopt.compare.written_times import parse_window

        if self.window and self.foresight:
            raise BadParameter("--foresight and --window exclude each other; give one")
        if self.foresight or (not self.window and default == "foresight"):
            return None
        return tuple(dict.fromkeys(self.window or [parse_window("whole")]))
