"""What people type first in Python: it works, or one line says what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

import dfopt
from dfopt import replace
from dfopt.compare import compare_trace
from dfopt.errors import DfoptError
from dfopt.generate import matrix, uniform, zipf
from dfopt.problem.result import StopReason
from dfopt.simulate import read_scenario, simulate_all
from dfopt.structs import WHOLE
from dfopt.trace import Trace
from dfopt_models.response_time import RESPONSE_TIME
from tests.compare.examples import write_trace
from tests.plot.worked_example import INSTANCE

LARGE = zipf(tasks=400, cpus=8, fragments=40)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """A trace of 900 dispatches."""
    rows = [(row % 2, 10 * (row // 2), f"task-{row % 30}", None) for row in range(900)]
    return dfopt.read_trace(write_trace(tmp_path / "trace.jsonl", rows))


def test_a_time_limit_is_a_number_of_seconds() -> None:
    result = dfopt.solve(INSTANCE, time_limit=0)
    assert result.stop_reason in {StopReason.TIME_LIMIT, StopReason.PROOF}
    both = dfopt.solve(LARGE, time_limit=0, stop=dfopt.GapLimit(0))
    assert both.stop_reason is StopReason.TIME_LIMIT


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: dfopt.solve("path.json"), "instance: must be an Instance, not 'path.json'; read_"),
        (lambda: dfopt.solve(INSTANCE, time_limit="5"), "time limit: must be at least 0 seconds"),
        (lambda: dfopt.solve(INSTANCE, time_limit=-1), "time limit: must be at least 0 seconds"),
        (lambda: dfopt.GapLimit("5%"), "gap limit: must be between 0 and 1, not '5%'"),
        (lambda: dfopt.compare_trace("trace.txt"), "trace: must be a Trace, not 'trace.txt'; dfo"),
        (lambda: dfopt.read_trace("missing.txt"), "missing.txt: there is no such file"),
    ],
)
def test_other_first_calls_say_what_to_do(call: Callable[[], object], answer: str) -> None:
    with pytest.raises(DfoptError) as raised:
        call()
    assert str(raised.value).startswith(answer)
    assert "\n" not in str(raised.value)


def test_a_trace_without_fragments_says_how_to_label_it(trace: Trace) -> None:
    with pytest.raises(DfoptError, match=r"no dispatch has a fragment; dfopt\.label\(trace, sour"):
        dfopt.compare_trace(trace)
    assert dfopt.compare_trace is compare_trace
    assert dfopt.label is not None
    with pytest.raises(AttributeError, match="module 'dfopt' has no attribute 'solver'"):
        dfopt.solver  # noqa: B018 - a slip of the fingers


@pytest.mark.slow
def test_what_is_shown_of_large_objects_is_short(trace: Trace) -> None:
    result = dfopt.solve(LARGE, time_limit=0.2)
    scenario = replace(read_scenario("chat"), until=5_000_000)
    runs = simulate_all([scenario], ["fcfs", "linux-o1"])
    shown = [
        LARGE, result, result.schedule, result.certificate, trace, scenario, runs, runs.runs[0],
        RESPONSE_TIME.read("mix-5"), matrix(tasks=90, cpus=3, types=30).penalty,
    ]  # fmt: skip
    for each in shown:
        assert type(each).__name__ in repr(each)
        assert len(repr(each)) <= WHOLE, each
        assert "\n" not in repr(each)


def test_what_is_shown_of_small_objects_makes_them_again() -> None:
    names = {name: getattr(dfopt, name) for name in dfopt.__all__}
    small = uniform(tasks=6, cpus=2, fragments=3)
    assert eval(repr(small), names) == small
    schedule = dfopt.solve(INSTANCE).schedule
    assert eval(repr(schedule), names) == schedule
