"""Arguments and options that the commands about traces share, and their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, BadParameter, Option

from dfopt.structs import replace
from dfopt_cli import completion
from dfopt_cli.failures import usage
from dfopt_cli.options import LABELS, WINDOWS, WORK

if TYPE_CHECKING:
    from dfopt.compare import Window
    from dfopt.compare.attainable.permitted_wait import PermittedWait

TraceArgument = Annotated[
    str,
    Argument(
        metavar="TRACE",
        help="The trace: text of perf or ftrace, systrace, Perfetto, Chrome JSON or dfopt-trace/1.",
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
        Option(
            help="Infer the fragments; the same as --df wakeups.",
            rich_help_panel=LABELS,
        ),
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
class WorkOptions:
    """Options about where the work is done."""

    workers: Annotated[
        int | None,
        Option(
            min=1,
            help="Number of processes; by default one for each processor.",
            rich_help_panel=WORK,
        ),
    ] = None
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
        list[str] | None,
        Option(
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

    def chosen(
        self, *, default: Literal["whole", "foresight", "none"]
    ) -> tuple[Window, ...] | None:
        """Return the windows that are asked for; None means the ladder of the foresight curve."""
        from dfopt.compare.window_length import parse_window

        if self.window and self.foresight:
            raise BadParameter("--foresight and --window exclude each other; give one")
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
        Option(
            metavar="D",
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
        Option(
            "--order-free",
            help="Leave out schedules that keep cause and effect, which take most of the time: "
            "only windows, whose dispatches may run in any order.",
        ),
    ] = False
    save: Annotated[
        str | None,
        Option(
            metavar="FOLDER",
            help="Write the schedules there as traces, the proofs of their bounds, and the "
            "comparison, of which plot attainable and plot frontier draw: comparison.json.",
        ),
    ] = None

    def frontier(self) -> FrontierOptions | None:
        """Return the options about the frontier if one is wanted."""
        if not self.order_free:
            return FrontierOptions(wait=self.wait)
        if self.wait or self.save is not None:
            raise BadParameter(
                "--order-free leaves out what --wait and --save are about; give one of them"
            )
        return None
