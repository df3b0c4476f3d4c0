"""Comparisons in processes of their own, and on a Dask cluster."""

import multiprocessing
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dfopt import replace
from dfopt.compare import CostModel, compare, compare_trace, parse_window
from dfopt.compare.comparison import Comparison
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.windows import WindowJob
from dfopt.compare.written_times import window_starts
from dfopt.parallel.pool import performed
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace import Trace
from tests.patience import PATIENCE_S
from tests.trace.traces import trace_from_rows

LENGTHS = [parse_window(text) for text in ("5", "whole")]
MODEL = CostModel(penalty=PenaltyG(fill=2, write_back=3))
"""Under g all windows are proven within milliseconds, so that no limit in time decides a figure."""

HARD = CostModel(penalty=PenaltyF(read_line=3, write_back=50))


def made(count: int, *, leaves_differ: bool = False) -> Trace:
    """Return dispatches of eight fragments on four CPUs."""
    source = np.random.default_rng(0)
    fragments, cpus = source.integers(0, 8, count).tolist(), source.integers(0, 4, count).tolist()
    states = ("clean", "dirty", "invalidated")
    return trace_from_rows(
        [
            (cpu, step, step + 1, f"t{step % 9}", f"df{fragment}", step % 5,
             states[step % 3] if leaves_differ else "dirty")
            for step, (cpu, fragment) in enumerate(zip(cpus, fragments, strict=True))
        ],
        cpus=4,
    )  # fmt: skip


TRACE = made(200)


@pytest.fixture(autouse=True)
def _small_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "WORTH_PROCESSES", 0)


def compared(**how: object) -> Comparison:
    return compare_trace(TRACE, MODEL, windows=LENGTHS, **how, waits=None)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def here() -> Comparison:
    """Return the comparison that this process finds on its own."""
    return compared(workers=1)


def figures(comparison: Comparison) -> list[tuple[int, ...]]:
    return [
        (window.count, window.realised, window.bound, window.rolling, window.balanced)
        for window in comparison.windows
    ]


@pytest.mark.slow
def test_processes_find_what_one_finds(here: Comparison) -> None:
    seen: list[int] = []
    there = compared(workers=2, on_progress=lambda progress: seen.append(progress.done))
    assert len(seen) == 3 * len(LENGTHS)
    assert figures(there) == figures(here)
    assert (there.realised, there.causes, there.fragments) == (
        here.realised, here.causes, here.fragments,
    )  # fmt: skip


def long_jobs(seconds: float) -> list[WindowJob]:
    """Return jobs that take their whole time."""
    dispatches = dispatches_of(made(2_000, leaves_differ=True), HARD)
    starts = window_starts(dispatches, parse_window("200"))
    return [
        WindowJob(
            key=(number, "rolling"),
            dispatches=dispatches,
            starts=starts,
            model=HARD,
            types=(),
            seconds=seconds,
        )
        for number in range(4)
    ]


@pytest.mark.slow
def test_nobody_waits_for_what_was_interrupted() -> None:
    short, *long = long_jobs(3600)
    started = time.monotonic()
    answers = performed([replace(short, seconds=0), *long], 2)
    next(answers)
    with pytest.raises(KeyboardInterrupt):
        answers.throw(KeyboardInterrupt())
    assert time.monotonic() - started < 10 * PATIENCE_S
    assert multiprocessing.active_children() == []


def test_an_executor_finds_what_one_process_finds(here: Comparison) -> None:
    with ThreadPoolExecutor(2) as executor:
        assert figures(compared(executor=executor)) == figures(here)


@pytest.mark.slow
def test_a_script_of_its_own_may_compare(tmp_path) -> None:
    """A script without a guard is not run again by the processes that it starts."""
    script = tmp_path / "script.py"
    script.write_text(
        "print('begins')\n"
        "import numpy as np\n"
        "from dfopt.compare import compare, compare_trace, parse_window\n"
        "from dfopt.trace import Trace\n"
        "from dfopt.trace.trace import TraceTask\n"
        "compare.WORTH_PROCESSES = 0\n"
        "steps = np.arange(20)\n"
        "trace = Trace(cpus=1, cpu=np.zeros(20, np.int32), start=steps, end=steps + 1,\n"
        "    task=np.zeros(20, np.int32), fragment=(steps % 2).astype(np.int32),\n"
        "    tasks=(TraceTask(name='t'),), fragments=('A', 'B'))\n"
        "found = compare_trace(trace, windows=[parse_window('10')], workers=2, waits=None)\n"
        "print(found.windows[0].bound, found.windows[0].realised)\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.stdout, done.stderr) == ("begins\n2 19\n", "")
