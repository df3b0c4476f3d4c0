"""Live lines and bars of commands at work; the last state is always drawn."""

import io
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from rich.text import Text

from dfopt import replace
from dfopt.bench import RunProgress
from dfopt.compare import CompareProgress
from dfopt.problem.result import Progress
from dfopt_cli import progress
from dfopt_cli.progress import (
    bench_status,
    comparison_status,
    live_line,
    replication_status,
    search_status,
)
from tests.cli.terminal import console_of, last_drawn
from tests.patience import PATIENCE_S


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., io.StringIO]:
    """A terminal of some width, on which everything that follows is drawn."""

    def of_width(width: int = 80) -> io.StringIO:
        console, drawn = console_of(width)
        monkeypatch.setattr(progress, "stderr_console", lambda: console)
        monkeypatch.setattr(progress, "shows_progress", lambda *, quiet: not quiet)
        return drawn

    return of_width


@pytest.fixture
def line_after(terminal: Callable[..., io.StringIO]) -> Callable[..., str]:
    def line(describe: Callable[..., Text], *changes: tuple[Any, ...], width: int = 100) -> str:
        """Return what a live line shows after some changes."""
        drawn = terminal(width)
        with live_line(describe, quiet=False, beginning="reading", hint="Ctrl-C ends it") as show:
            assert show is not None
            for change in changes:
                show(*change)
        return last_drawn(drawn)

    return line


def test_a_line_before_anything_is_known(line_after: Callable[..., str]) -> None:
    assert re.fullmatch(r". +\d+\.\d s +reading  Ctrl-C ends it", line_after(search_status))


def test_the_line_of_a_search(line_after: Callable[..., str]) -> None:
    early = Progress(time_s=1, lower_bound=80, objective=None)
    late = replace(early, objective=100, phase="diving")
    assert "s  bound 80  Ctrl-C" in line_after(search_status, (early,))
    shown = line_after(search_status, (early,), (late,))
    assert "bound 80  best 100  gap 20.0%  diving  Ctrl-C" in shown


def test_the_line_of_a_comparison(line_after: Callable[..., str]) -> None:
    step, name = CompareProgress(parts="windows", done=1200, total=3400, at_work="5"), "a\nb.txt"
    assert r"a\nb.txt  reading" in line_after(comparison_status, (name, None))
    shown = line_after(comparison_status, (name, None), (name, step))
    assert "1,200 of 3,400 windows, at work on: 5" in shown


def test_the_line_of_a_simulation(line_after: Callable[..., str]) -> None:
    assert "replications: 3 of 2,000" in line_after(replication_status, (3, 2000))


def test_the_line_of_a_benchmark(line_after: Callable[..., str]) -> None:
    step = RunProgress(done=1, total=3, at_work=("plain-2", "two\nlines[/]"))
    shown = line_after(bench_status, (step,))
    assert r"s  1 of 3 runs, at work on: plain-2, two\nlines[/]  Ctrl-C" in shown
    late = RunProgress(done=2, total=3, at_work=(), left_s=119.6)
    assert "s  2 of 3 runs, about 0:02:00 left  Ctrl-C" in line_after(
        bench_status, (step,), (late,)
    )


def test_many_names_are_cut_off_at_the_end_of_the_line(line_after: Callable[..., str]) -> None:
    names = tuple(f"instance-{number}" for number in range(30))
    shown = line_after(bench_status, (RunProgress(done=1, total=31, at_work=names),), width=120)
    assert "instance-0, instance-1" in shown
    assert shown.endswith("…")


def test_a_hint_without_room_is_left_out(line_after: Callable[..., str]) -> None:
    shown = line_after(replication_status, (3, 2000), width=40)
    assert shown.endswith("replications: 3 of 2,000")


def test_who_wants_quiet_sees_nothing(terminal: Callable[..., io.StringIO]) -> None:
    drawn = terminal()
    with live_line(search_status, quiet=True) as show:
        assert show is None
    assert drawn.getvalue() == ""


def test_nothing_is_drawn_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with live_line(search_status, quiet=False) as show:
        assert show is not None
        show(Progress(time_s=1, lower_bound=80, objective=None))
    assert written.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)
    with live_line(search_status, quiet=False) as show:
        assert show is None


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def test_without_a_terminal_a_line_comes_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(progress, "FIRST_LINE_S", 0.0)
    monkeypatch.setattr(progress, "SECONDS_A_LINE", 0.0)
    step = CompareProgress(parts="schedules and bounds", done=3, total=14, at_work="nobody later")
    with live_line(comparison_status, quiet=False, beginning="reading") as show:
        wait_until(lambda: written.getvalue().count("\n") > 1)
        assert show is not None
        show("a.txt", step)
        wait_until(lambda: "a.txt" in written.getvalue())
    lines = written.getvalue().splitlines()
    assert lines[0] == "dfopt: 0 s: reading"
    assert re.fullmatch(
        r"dfopt: \d+ s: a\.txt, 3 of 14 schedules and bounds, at work on: nobody later", lines[-1]
    )
    assert not any(thread.name == progress.TELLER for thread in threading.enumerate())
