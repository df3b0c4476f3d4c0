"""Results that are right pass, and whatever is changed in them is noticed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dfopt.errors
from dfopt.errors import DfoptError
from dfopt.verify import Verification
from tests.claims import check, optimal_document


def tampered(path: str, value: object) -> dict[str, Any]:
    """Return the same document with another value in one place."""
    document = optimal_document()
    *parents, key = [int(part) if part.isdigit() else part for part in path.split(".")]
    holder: Any = document
    for part in parents:
        holder = holder[part]
    assert not isinstance(holder, dict) or key not in holder or holder[key] != value
    holder[key] = value
    return document


def test_optimal_result_passes() -> None:
    found = check(optimal_document())
    assert found == Verification(
        ok=True,
        objective=8,
        lower_bound=8,
        bound_checked=True,
        certificate_kind="proof",
        problems=(),
    )
    assert found.to_document() == {
        "format": "dfopt-verification/1",
        "ok": True,
        "objective": 8,
        "lower_bound": 8,
        "bound_checked": True,
        "problems": [],
        "certificate_kind": "proof",
    }


TAMPERED: list[tuple[str, object]] = [
    ("instance.name", "other"),
    ("instance.sha256", "0" * 64),
    ("status", "feasible"),
    ("status", "infeasible"),
    ("status", "unknown"),
    ("stop_reason", "gap-limit"),
    ("stop_reason", "time-limit"),
    ("stop_reason", "interrupt"),
    ("objective", 7),
    ("objective", 9),
    ("objective", None),
    ("lower_bound", 7),
    ("lower_bound", 9),
    ("lower_bound", 0),
    ("lower_bound", None),
    ("gap", 0.1),
    ("gap", None),
    ("schedule", None),
    ("schedule.cpus", []),
    ("schedule.cpus.1", {"tasks": [], "cost": 0}),
    ("schedule.cpus.0.tasks", ["c", "a#1", "a#2", "d"]),  # a moved
    ("schedule.cpus.0.tasks", ["c", "a#1", "d"]),
    ("schedule.cpus.0.tasks", ["a#1", "c"]),
    ("schedule.cpus.0.tasks", ["a#1", "c", "d", "d"]),
    ("schedule.cpus.0.tasks.0", "a#2"),
    ("schedule.cpus.0.tasks.0", "a"),
    ("schedule.cpus.0.tasks.0", "a#3"),
    ("schedule.cpus.0.cost", 7),
    ("schedule.cpus.1.cost", 9),
    ("schedule.cpus.0.starts", [0, 3, 8]),
    ("certificate", None),
    ("certificate", {"kind": "search", "threshold": 7, "solver": "x"}),
    ("certificate", {"kind": "exhaustive", "threshold": 6}),
    ("certificate.threshold", 6),
    ("certificate.threshold", 8),
    ("certificate.over", "supports"),
    ("certificate.over", "orders"),
    ("certificate.over", "sizes"),
    ("certificate.over", "groups"),
    ("certificate.classes", []),
    ("certificate.classes.0", {}),
    ("certificate.classes.0.df", "B"),
    ("certificate.classes.0.df", "Z"),
    ("certificate.classes.0.lines", 5),
    ("certificate.classes.0.exec", 1),
    ("certificate.classes.1.leaves", "clean"),
    ("certificate.classes.1", {"df": "A", "lines": 4}),  # overlaps
    ("certificate.classes.3.df", "Z"),
    ("certificate.classes.3.lines", 6),
    ("certificate.counts", []),
    ("certificate.counts.0.kind", "arcs"),
    ("certificate.counts.0.classes", [4]),
    ("certificate.nodes", []),
    ("certificate.nodes", [{}]),
    ("certificate.nodes", [{"count": 0, "at_most": 1}]),
    ("certificate.nodes.0.bin_weights", [19]),
    ("certificate.nodes.0.bin_weights", [20, 20, 0]),
    ("certificate.nodes.0.bin_weights.0", 19),
    ("certificate.nodes.0.bin_weights.1", 39),
    ("certificate.nodes.0.bin_weights.1", -1),
    ("certificate.nodes.0.scale", 0),
    ("certificate.nodes.0.scale", 2),
    ("certificate.nodes.0.weights", []),
    ("certificate.nodes.0.weights.0.0", 4),
    ("certificate.nodes.0.weights.0.1", 11),
    ("certificate.nodes.0.weights.0.1", -10),
    ("certificate.nodes.0.weights.1.0", 0),
    ("certificate.nodes.0.weights.2.1", 30),
    ("certificate.nodes.0.prices.0.0", 1),
    ("certificate.nodes.0.prices.0.1", -20),
    ("certificate.nodes.0.prices.0.1", 1),
    ("history.0.time_s", 0.7),
    ("history.0.time_s", -1.0),
    ("history.0.lower_bound", 9),
    ("history.1.lower_bound", 3),
    ("history.2.lower_bound", 9),
    ("history.1.objective", 7),
    ("history.2.objective", 7),
    ("history.2.objective", 13),
    ("history.2.objective", None),
]


@pytest.mark.parametrize(("path", "value"), TAMPERED)
def test_tampering_is_noticed(path: str, value: object) -> None:
    try:
        found = check(tampered(path, value))
    except DfoptError:
        return  # it is not even a result
    assert not found.ok
    assert found.problems
    assert not found.to_document()["ok"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("certificate.nodes.0.bin_weights", [19, 20], "the CPU can hold 20"),
        ("certificate.nodes.0.bin_weights", [20, 39], "no more than the bin weights, 59"),
        ("schedule", None, "schedule: must not be null where the status is 'optimal'"),
        ("objective", 9, "objective: is 9, but the schedule's is 8"),
        ("lower_bound", 9, "lower_bound: is 9, more than the objective 8"),
        ("certificate", None, "no certificate says why the lower bound is 8"),
    ],
)
def test_problems_say_what_is_wrong(path: str, value: object, problem: str) -> None:
    assert any(problem in found for found in check(tampered(path, value)).problems)


def test_many_wrong_names_make_one_short_problem() -> None:
    names = [f"x{number}" for number in range(9)]
    problems = check(tampered("schedule.cpus.0.tasks", names)).problems
    assert "schedule: has tasks that the instance has not: 'x0', 'x1', 'x2' and 6 more" in problems


def test_checker_imports_no_solver() -> None:
    # The package's own __init__ offers the solvers too, so that a bare one stands in for it.
    program = """
import sys, types
bare = types.ModuleType("dfopt")
bare.__path__ = [sys.argv[1]]
sys.modules["dfopt"] = bare
import dfopt.verify, dfopt.verify.exact_contents
print(*sys.modules)
"""
    folder = Path(dfopt.errors.__file__).parent
    run = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    parts = {name.split(".")[1] for name in run.stdout.split() if name.startswith("dfopt.")}
    # render, table, time_units: how notebooks and prompts show instances and results.
    shown = {"render", "table", "time_units"}
    values = {"checks", "errors", "structs", "type_reader"}
    assert parts == {"files", "problem", "verify"} | values | shown
    assert "ortools" not in run.stdout.split()
