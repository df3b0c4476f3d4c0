"""The live line of a long command on a terminal."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from dfopt.problem.result import Progress, relative_gap
from dfopt_cli.common import printable, stderr_console

if TYPE_CHECKING:
    from rich.console import Console

    from dfopt.compare.windows import CompareProgress


class StatusLine(ABC):
    """One line on standard error, with a clock, for as long as the block runs."""

    hint = "Ctrl-C stops"
    """What stands at the end if there is room."""

    def __init__(self, console: Console | None = None) -> None:
        self._began = time.monotonic()
        self._spinner = Spinner("dots")
        self._console = console or stderr_console()
        self._live: Live

    @abstractmethod
    def status(self, text: Text) -> None:
        """Say on the line how far the work is."""

    def __enter__(self) -> Self:
        # Not before: it asks for the line at once, and what that shows must be there by then.
        self._live = Live(
            get_renderable=self._line,
            console=self._console,
            refresh_per_second=8,
            transient=True,
        )
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def _line(self) -> Spinner:
        elapsed = time.monotonic() - self._began
        text = Text(f"{elapsed:7.1f} s  ")
        self.status(text)
        hint = f"  {self.hint}"
        if text.cell_len + len(hint) < self._console.width:
            text.append(hint, style="dim")
        self._spinner.update(text=text)
        return self._spinner


class LiveLine(StatusLine):
    """The line of a search: bound, best objective, gap, and the phase at work."""

    hint = "Ctrl-C stops with the best so far"

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._latest: Progress | None = None

    def show(self, progress: Progress) -> None:
        """Show this from now on."""
        self._latest = progress

    def status(self, text: Text) -> None:
        """Say what was found and proven so far."""
        if self._latest is None:
            return
        best, bound = self._latest.objective, self._latest.lower_bound
        gap = relative_gap(best, bound)
        text.append(f"bound {bound}")
        if best is not None and gap is not None:
            text.append(f"  best {best}", style="bold")
            text.append(f"  gap {gap:.1%}")
        if self._latest.phase:
            text.append(f"  {self._latest.phase}", style="italic")


class WindowLine(StatusLine):
    """The line of a comparison: the trace and the length of window at work, windows done."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._name = ""
        self._latest: CompareProgress | None = None

    def begin(self, name: str) -> None:
        """Show that a trace is read."""
        self._name, self._latest = name, None

    def show(self, progress: CompareProgress) -> None:
        """Show this from now on."""
        self._latest = progress

    def status(self, text: Text) -> None:
        """Say how many windows are done."""
        if self._name:
            text.append(f"{printable(self._name)}  ", style="bold")
        if self._latest is None:
            text.append("reading")
            return
        done, total = self._latest.done, self._latest.total
        text.append(f"{done:,} of {total:,} windows, at work on {self._latest.window}")


class ReplicationLine(StatusLine):
    """The line of a simulation: replications done."""

    hint = "Ctrl-C stops with those that are finished"

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._done, self._total = 0, 0

    def show(self, done: int, total: int) -> None:
        """Show this from now on."""
        self._done, self._total = done, total

    def status(self, text: Text) -> None:
        """Say how many replications are done."""
        if self._total:
            text.append(f"replications: {self._done:,} of {self._total:,}")
