"""A terminal for the standard error of a process, and one for a view without any process."""

import io
import os
import pty
import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from tests.patience import PATIENCE_S


class Terminal:
    """Keeps what a process shows on it, which begins with :meth:`start`."""

    def __init__(self, start: Callable[..., "subprocess.Popen[str]"]) -> None:
        self.shown = b""
        self._start = start
        self._changed = threading.Condition()
        self._is_over = False

    def start(self, *arguments: str | Path) -> "subprocess.Popen[str]":
        """Start ``dfopt`` with its standard error on the terminal."""
        ours, theirs = pty.openpty()
        try:
            return self._start(*arguments, stderr=theirs)
        finally:
            os.close(theirs)
            threading.Thread(target=self._read, args=(ours,), daemon=True).start()

    def wait_for(self, pattern: bytes) -> None:
        """Wait until something is shown."""
        self._wait(lambda: re.search(pattern, self.shown) is not None)
        assert re.search(pattern, self.shown), self.shown

    def all_shown(self) -> bytes:
        """Return what was shown until the end."""
        self._wait(lambda: False)
        assert self._is_over, "some process still has the terminal"
        return self.shown

    def _wait(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or condition(), PATIENCE_S)

    def _read(self, ours: int) -> None:
        while not self._is_over:
            try:
                part = os.read(ours, 4096)
            except OSError:  # nobody has it open any more
                part = b""
            with self._changed:
                self.shown += part
                self._is_over = not part
                self._changed.notify_all()
        os.close(ours)


def console_of(width: int = 80) -> tuple[Console, io.StringIO]:
    """Return a console that takes itself for a terminal, and what will be drawn on it."""
    drawn = io.StringIO()
    return (
        Console(file=drawn, force_terminal=True, width=width, color_system=None, _environ={}),
        drawn,
    )


def last_drawn(drawn: io.StringIO) -> str:
    """Return the last line that was not empty, where it may have been erased in the end."""
    lines = re.split(r"\x1b\[[\d;?]*[A-Za-z]|[\r\n]", drawn.getvalue())
    return [line.rstrip() for line in lines if line.strip()][-1]
