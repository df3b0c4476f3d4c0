"""The debug log of the solvers."""

import logging

import pytest

from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers import solve

INSTANCE = Instance(
    cpus=2,
    penalty=PenaltyF(read_line=1, write_back=3),
    cold_start=True,
    tasks=tuple(Task(id=str(number), df="ABC"[number % 3], lines=2) for number in range(6)),
)


@pytest.mark.parametrize("method", ["dp", "exhaustive"])
def test_incumbents_and_bounds_are_logged(method: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "dfopt"):
        result = solve(INSTANCE, method=method, workers=1)
    messages = [record.getMessage() for record in caplog.records]
    assert messages[0] == f"method {method}: 6 tasks of 3 types on 2 CPUs, at most 1 threads"
    assert messages[-1].startswith("optimal after ")
    assert f"incumbent with objective {result.objective}" in messages
    assert any(message.startswith(f"lower bound {result.lower_bound} by ") for message in messages)
    events = [
        (record.event, (record.progress.lower_bound, record.progress.objective))
        for record in caplog.records
        if hasattr(record, "event")
    ]
    assert [known for event, known in events if event != "phase"] == [
        (progress.lower_bound, progress.objective) for progress in result.history
    ]


def test_nothing_is_logged_above_debug_level(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "dfopt"):
        solve(INSTANCE, workers=1)
    assert not caplog.records
