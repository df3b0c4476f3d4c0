"""``dfopt generate adversary-…``."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ROUND = ("generate", "adversary-round-robin", "--dispatches", "30", "--fragments", "3")
BALANCE = ("generate", "adversary-balance", "--cpus", "4", "--share", "8")


def test_a_trace_in_round_robin_costs_a_change_a_dispatch(run: Run, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    assert run(*ROUND, "--cpus", "2", "-o", str(trace))[0] == 0
    found = json.loads(run("compare", str(trace), "--order-free", "--json")[1])
    assert found["order_kept"] == {"online": 28, "best": 14, "bound": 14, "optimal": True}
    assert "order kept  cost  ratio" in run("compare", str(trace), "--order-free")[1]


def test_an_instance_and_what_the_policy_does_can_be_compared(run: Run, tmp_path: Path) -> None:
    instance, schedule = tmp_path / "instance.json", tmp_path / "schedule.json"
    code, output, _ = run(*BALANCE, "--schedule", str(schedule), "-o", str(instance))
    assert (code, output) == (0, "")
    found = json.loads(run("compare", str(instance), str(schedule), "--json")[1])
    assert found["proven"]
    assert found["results"][0]["objective"] == 8
    assert found["best"] == 4
    assert json.loads(run(*BALANCE)[1]) == json.loads(instance.read_text())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((*ROUND, "--cpus", "4"), "3 threads cannot keep 4 CPUs busy"),
        (("generate", "adversary-balance", "--cpus", "4", "--share", "9"), "multiple of 4"),
        ((*BALANCE, "--balance", "0.5"), "--balance"),
        ((*BALANCE, "--policy", "best"), "fewest-visits"),
    ],
)
def test_what_does_not_fit_is_wrong_usage(
    run: Run, arguments: tuple[str, ...], problem: str
) -> None:
    code, _, error = run(*arguments)
    assert code == 2
    assert problem in error
