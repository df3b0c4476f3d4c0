"""Arguments and options that the commands about traces share, and their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from dfopt.structs import NonNegative, replace
from dfopt_cli import completion
from dfopt_cli.options import WorkersOption, read_by

if TYPE_CHECKING:
    from dfopt.compare import Window
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
    """

    order_free: bool = False

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
