"""Limits of memory and work on instances of unusual sizes."""

import subprocess
import sys
import time

import pytest

from dfopt import Instance, MethodError, PenaltyG, PenaltyMatrix, Status, Task, solve
from dfopt.generate import matrix
from dfopt.problem.result import TimeLimit
from tests.patience import PATIENCE_S

LIMIT_S = 2


@pytest.mark.slow
def test_many_entries_are_typed_before_the_limit() -> None:
    tasks = tuple(Task(id=f"t{number}", df=f"D{number % 500}") for number in range(50_000))
    instance = Instance(cpus=64, penalty=PenaltyG(fill=2, write_back=1), tasks=tasks)
    began = time.monotonic()
    result = solve(instance, stop=TimeLimit(LIMIT_S))
    assert result.schedule is not None
    assert time.monotonic() - began < PATIENCE_S  # a look at every pair takes many minutes


@pytest.mark.slow
def test_a_large_table_has_a_schedule_within_the_limit() -> None:
    instance = matrix(tasks=400, cpus=16, types=40, seed=1)
    result = solve(instance, stop=TimeLimit(LIMIT_S))
    assert result.status is Status.FEASIBLE


def test_costs_beyond_what_cp_sat_adds_up_are_refused_in_one_line() -> None:
    cost = 2**57
    switch = tuple(tuple(cost + 3 * a + b for b in range(4)) for a in range(4))
    instance = Instance(
        cpus=3,
        penalty=PenaltyMatrix(types=("w", "x", "y", "z"), switch=switch),
        tasks=tuple(Task(id=f"t{number}", type="wxyz"[number % 4]) for number in range(12)),
    )
    with pytest.raises(MethodError, match="too large for CP-SAT"):
        solve(instance, method="cp-sat", workers=1)


def test_one_cpu_needs_no_solver() -> None:
    program = """
import sys
from dfopt import solve
from dfopt.generate import zipf
result = solve(zipf(tasks=60, cpus=1, fragments=9, seed=2))
assert result.objective == result.lower_bound > 0
assert "ortools" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
