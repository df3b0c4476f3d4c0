"""What a person sees of a command at work; a view draws its last state in any case."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from dfopt.bench import RunProgress
from dfopt.compare.windows import CompareProgress
from dfopt.problem.result import Progress
from dfopt_cli.bench_view import progress_bar
from dfopt_cli.progress import LiveLine, ReplicationLine, StatusLine, WindowLine
from tests.cli.terminal import console_of, last_drawn

Line = TypeVar("Line", bound=StatusLine)


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.time_s = 1000.0

    def __call__(self) -> float:
        return self.time_s


def bar_after(*steps: RunProgress, seconds: float = 0, width: int = 80) -> str:
    """Return what the bar of a benchmark shows after some steps and so much time."""
    console, drawn = console_of(width)
    clock = Clock()
    with progress_bar(console, clock) as show:
        for step in steps:
            show(step)
        clock.time_s += seconds
    return last_drawn(drawn)


def test_a_benchmark_that_has_not_begun() -> None:
    bar = bar_after()
    assert "0/?" in bar
    assert "-:--:-- left" in bar


def test_the_bar_of_a_benchmark_names_what_is_at_work() -> None:
    step = RunProgress(done=1, total=3, resumed=0, at_work=("plain-2", "two\nlines[/]"))
    assert "1/3" in bar_after(step)
    assert bar_after(step).endswith(r"plain-2, two\nlines[/]")
    assert "plain-2" not in bar_after(step, RunProgress(done=2, total=3, resumed=0, at_work=()))


def test_many_names_are_cut_off_at_the_end_of_the_line() -> None:
    names = tuple(f"instance-{number}" for number in range(30))
    bar = bar_after(RunProgress(done=1, total=31, resumed=0, at_work=names), width=120)
    assert "instance-0, instance-1" in bar
    assert bar.endswith("…")


@pytest.mark.parametrize(
    ("done", "resumed", "left"),
    [(2, 0, "0:02:00"), (5, 2, "0:00:20"), (6, 0, "0:00:00"), (2, 2, "-:--:--")],
)
def test_the_time_that_is_left_is_at_the_pace_so_far(done: int, resumed: int, left: str) -> None:
    bar = bar_after(RunProgress(done=done, total=6, resumed=resumed, at_work=()), seconds=60)
    assert bar.endswith(f" {left} left")
    assert ("0:01:00 " in bar) == (done < 6)  # the clock stops with the last instance


def line_after(kind: type[Line], *changes: Callable[[Line], None], width: int = 100) -> str:
    """Return what a line shows after some changes."""
    console, drawn = console_of(width)
    with kind(console) as line:
        for change in changes:
            change(line)
    return last_drawn(drawn)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (LiveLine, "Ctrl-C stops with the best so far"),
        (WindowLine, "reading  Ctrl-C stops"),
        (ReplicationLine, "Ctrl-C stops with those that are finished"),
    ],
)
def test_a_line_before_anything_is_known(kind: type[StatusLine], told: str) -> None:
    assert re.fullmatch(rf". +\d+\.\d s +{told}", line_after(kind))


def test_the_line_of_a_search() -> None:
    early = Progress(time_s=1, lower_bound=80, objective=None)
    late = replace(early, objective=100, phase="diving")
    assert "s  bound 80  Ctrl-C" in line_after(LiveLine, lambda line: line.show(early))
    shown = line_after(LiveLine, lambda line: line.show(early), lambda line: line.show(late))
    assert "bound 80  best 100  gap 20.0%  diving  Ctrl-C" in shown


def test_the_line_of_a_comparison() -> None:
    step = CompareProgress(done=1200, total=3400, window="5")

    def begin(line: WindowLine) -> None:
        line.begin("a\nb.txt")

    def show(line: WindowLine) -> None:
        line.show(step)

    assert r"a\nb.txt  reading" in line_after(WindowLine, begin)
    assert "1,200 of 3,400 windows, at work on 5" in line_after(WindowLine, begin, show)
    assert "reading" in line_after(WindowLine, show, begin)


def test_the_line_of_a_simulation() -> None:
    shown = line_after(ReplicationLine, lambda line: line.show(3, 2000))
    assert "replications: 3 of 2,000" in shown


def test_a_hint_without_room_is_left_out() -> None:
    shown = line_after(ReplicationLine, lambda line: line.show(3, 2000), width=50)
    assert shown.endswith("replications: 3 of 2,000")
