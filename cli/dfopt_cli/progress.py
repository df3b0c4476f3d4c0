"""The live line of a long search on a terminal."""

from __future__ import annotations

import time
from types import TracebackType

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from dfopt.result import Progress, relative_gap
from dfopt_cli.common import stderr_console


class LiveLine:
    """One line on standard error: clock, bound, best objective, gap, and the phase at work."""

    def __init__(self) -> None:
        self._latest: Progress | None = None
        self._began = time.monotonic()
        self._spinner = Spinner("dots")
        self._console = stderr_console()
        self._live = Live(
            get_renderable=self._line,
            console=self._console,
            refresh_per_second=8,
            transient=True,
        )

    def show(self, progress: Progress) -> None:
        """Show this from now on."""
        self._latest = progress

    def __enter__(self) -> LiveLine:
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
        if self._latest is not None:
            best, bound = self._latest.objective, self._latest.lower_bound
            gap = relative_gap(best, bound)
            text.append(f"bound {bound}")
            if best is not None and gap is not None:
                text.append(f"  best {best}", style="bold")
                text.append(f"  gap {gap:.1%}")
            if self._latest.phase:
                text.append(f"  {self._latest.phase}", style="italic")
        hint = "  Ctrl-C stops with the best so far"
        if text.cell_len + len(hint) < self._console.width:
            text.append(hint, style="dim")
        self._spinner.update(text=text)
        return self._spinner
