"""Loops that several processes compile beside each other, before the parts of a frontier."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dfopt.compare.attainable import frontier_of as module
from dfopt.compare.attainable import loops
from dfopt.compare.attainable.frontier import FrontierProgress
from dfopt.compare.attainable.frontier_of import COMPILING, frontier_of
from dfopt.compare.attainable.loops import Loops, compile_beside, few_arrivals, missing_loops
from dfopt.compare.cost_model import CostModel
from dfopt.trace import Trace, read_trace
from dfopt.trace.labels import label

WORKERS = Path(__file__).parents[3] / "docs/examples/workers.ftrace.txt"


def fail(_: object) -> None:
    """Stand for loops that cannot be compiled."""
    raise LookupError


def end(_: object) -> None:
    """Stand for what the system kills, such as for want of memory."""
    os._exit(1)


MISSING = """
from dfopt.compare.attainable.loops import missing_loops

print(*(loops.call.__name__ for loops in missing_loops()))
"""


@pytest.fixture
def trace() -> Trace:
    return label(read_trace(WORKERS), "marks")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("disabled", "missing"),
    [("0", "search_beams bound"), ("1", "")],
)
def test_what_is_not_on_disk_is_missing(tmp_path: Path, disabled: str, missing: str) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": disabled}
    done = subprocess.run(
        [sys.executable, "-c", MISSING], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == missing


@pytest.mark.slow
def test_each_part_calls_the_loop_that_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "is_missing", lambda loop: True)
    parts = missing_loops()
    assert len(parts) == 2
    for part in parts:
        part.perform()
    monkeypatch.undo()
    assert missing_loops() == []


def test_few_dispatches_are_of_cpus_that_differ() -> None:
    arrivals = few_arrivals()
    assert len(arrivals) == 4
    assert len(arrivals.blocks.cpu) == 1


@pytest.mark.slow
def test_a_compiler_that_is_killed_stops_nothing_and_a_defect_is_told() -> None:
    compile_beside([Loops(end)] * 2, 2)
    with pytest.raises(LookupError):
        compile_beside([Loops(fail)] * 2, 2)


def test_a_single_process_compiles_when_it_comes_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def performed(parts: Sequence[Loops], processes: int) -> None:
        raise AssertionError

    monkeypatch.setattr(loops, "performed", performed)
    compile_beside([Loops(fail)] * 2, 1)
    compile_beside([Loops(fail)], 2)


@pytest.mark.slow
def test_a_frontier_has_missing_loops_compiled_first(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[FrontierProgress] = []
    compiled: list[tuple[Sequence[Loops], int | None]] = []
    parts = [Loops(fail)]
    monkeypatch.setattr(module, "missing_loops", lambda: parts)
    monkeypatch.setattr(
        module, "compile_beside", lambda missing, workers: compiled.append((missing, workers))
    )
    frontier = frontier_of(trace, CostModel(), workers=1, on_progress=told.append)
    assert compiled == [(parts, 1)]
    assert (told[0].done, told[0].at_work) == (0, COMPILING)
    assert told[1].at_work != COMPILING
    assert frontier.is_complete


@pytest.mark.slow
def test_an_interrupt_ends_the_compiling(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(missing: Sequence[Loops], workers: int | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "missing_loops", lambda: [Loops(fail)])
    monkeypatch.setattr(module, "compile_beside", interrupted)
    frontier = frontier_of(trace, CostModel(), workers=1)
    assert not frontier.is_complete
    assert len(frontier.rows) == 1
