"""Integer programs of instances: other solvers find dfopt's optimum in the exported files."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import (
    Instance,
    Leaves,
    Objective,
    PenaltyF,
    PenaltyG,
    PenaltyMatrix,
    Task,
    replace,
    solve,
)
from dfopt.errors import MethodError
from dfopt.integer_program import IntegerProgram, integer_program, lp_text, mps_text
from dfopt.integer_program.formulation import labels_of
from dfopt.problem.cache import CacheState
from tests.strategies import instances

SETUPS = Instance(
    name="setups",
    cpus=2,
    penalty=PenaltyG(fill=20, write_back=0),
    objective=Objective.MAKESPAN,
    capacity="unlimited",
    cold_start=True,
    tasks=(
        Task(id="chat", df="chat", exec=5, count=6),
        Task(id="code", df="code", exec=15, count=3),
        Task(id="image", df="image", exec=30),
    ),
)
ON_ONE_CPU = Task(id="c", type="C", count=3)
EVERYTHING = [
    SETUPS,
    # Three tasks of a kind that costs something to follow: no walk may be a circle alone.
    Instance(
        cpus=3,
        penalty=PenaltyMatrix(types=("C",), switch=((2,),), start=(5,), finish=(1,)),
        objective=Objective.TOTAL_PENALTY,
        capacity=3,
        cold_start=True,
        final_write_back=True,
        tasks=(ON_ONE_CPU,),
    ),
    Instance(
        cpus=2,
        penalty=PenaltyF(read_line=1, write_back=9),
        initial=(CacheState(df="A", leaves=Leaves.DIRTY), CacheState(df="B", leaves=Leaves.DIRTY)),
        final_write_back=True,
        tasks=(Task(id="a", df="A", lines=4), Task(id="b", df="A", lines=5, leaves=Leaves.DIRTY)),
        capacity="unlimited",
    ),
    # Two tasks that differ only in what they leave are of two kinds.
    Instance(
        cpus=1,
        penalty=PenaltyF(read_line=1, write_back=9),
        final_write_back=True,
        tasks=(
            Task(id="a", df="A", lines=4),
            Task(id="b", df="A", lines=4, leaves=Leaves.INVALIDATED),
            Task(id="c", df="A", lines=4),
        ),
    ),
    Instance(
        cpus=2,
        penalty=PenaltyF(read_line=1, write_back=4),
        objective=Objective.MAKESPAN,
        final_write_back=True,
        tasks=(
            Task(id="v#0", df="D", lines=4, exec=1, release=2),
            Task(id="v 1", df="E", lines=4, exec=0, leaves=Leaves.DIRTY, after=("v#0",)),
            Task(id="v_1", df="D", lines=0, exec=0, count=2),
        ),
    ),
    # Two tasks without length that follow each other for free: no circle beside the order of x.
    Instance(
        cpus=1,
        penalty=PenaltyMatrix(types=("X", "B"), switch=((0, 5), (5, 0))),
        objective=Objective.MAKESPAN,
        tasks=(Task(id="x", type="X", exec=1, release=1), Task(id="b", type="B", exec=0, count=2)),
    ),
    Instance(cpus=2, penalty=PenaltyG(fill=1, write_back=1)),
    Instance(
        cpus=1, penalty=PenaltyG(fill=1, write_back=1), tasks=(Task(id="t", df="A", count=3),),
        capacity=2,
    ),
]  # fmt: skip


def optimum_of_mps(text: str) -> float | None:
    """Return the least value of an MPS file; None where it is infeasible."""
    from ortools.linear_solver.python import model_builder

    model = model_builder.ModelBuilder()
    assert model.import_from_mps_string(text)
    solver = model_builder.ModelSolver("scip")
    status = solver.solve(model)
    if status == model_builder.SolveStatus.INFEASIBLE:
        return None
    assert status == model_builder.SolveStatus.OPTIMAL
    return float(solver.objective_value)


def optimum_of_lp(text: str, folder: Path) -> float | None:
    """Return the least value of an LP file, read by HiGHS."""
    highs = pytest.importorskip("scipy.optimize._highspy._core")
    file = folder / "model.lp"
    file.write_text(text)
    solver = highs._Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(file)) == highs.HighsStatus.kOk
    solver.run()
    if solver.getModelStatus() == highs.HighsModelStatus.kInfeasible:
        return None
    assert solver.getModelStatus() == highs.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


def assert_same_optimum(instance: Instance) -> None:
    best = solve(instance, method="exhaustive").objective
    assert optimum_of_mps(mps_text(integer_program(instance))) == (
        None if best is None else pytest.approx(best, abs=1e-6)
    )


@pytest.mark.parametrize("instance", EVERYTHING)
def test_both_files_have_the_optimum(instance: Instance, tmp_path: Path) -> None:
    assert_same_optimum(instance)
    best = solve(instance, method="exhaustive").objective
    found = optimum_of_lp(lp_text(integer_program(instance)), tmp_path)
    assert found == (None if best is None else pytest.approx(best, abs=1e-6))


@settings(max_examples=40)
@given(instances(max_tasks=5, feasible=False), st.none() | st.lists(st.integers(1, 4), min_size=5))
def test_other_solvers_find_the_same_optimum(instance: Instance, sizes: list[int] | None) -> None:
    if sizes is not None:
        tasks = zip(instance.tasks, sizes, strict=False)
        instance = replace(instance, tasks=tuple(replace(task, size=n) for task, n in tasks))
    assert_same_optimum(instance)


@settings(max_examples=20)
@given(instances(max_tasks=4, max_cpus=2, timed=True))
def test_the_same_where_tasks_wait(instance: Instance) -> None:
    assert_same_optimum(instance)


def test_a_task_that_takes_no_time_comes_after_what_it_waits_for() -> None:
    tasks = (
        Task(id="first", df="A", lines=0),
        Task(id="second", df="B", lines=1, after=("first",)),
    )
    penalty = PenaltyF(read_line=1, write_back=0)
    assert_same_optimum(
        Instance(cpus=1, penalty=penalty, objective=Objective.MAKESPAN, tasks=tasks)
    )


@given(instances(adorned=True, max_tasks=3, max_cpus=2))
def test_files_are_plain_text_whatever_names_are(instance: Instance) -> None:
    program = integer_program(instance)
    assert_names_are_fit(program)
    for text, sign in ((lp_text(program), "\\"), (mps_text(program), "*")):
        assert text.isascii()
        assert max(map(len, text.splitlines())) <= 255
        body = [line for line in text.splitlines() if not line.startswith(sign)]
        assert body[0].split()[0] in ("Minimize", "NAME")


def test_an_mps_file_names_variables_that_stand_in_no_constraint() -> None:
    program = IntegerProgram("p")
    program.objective = [(2, program.number("x"))]
    program.number("y")
    columns = mps_text(program).partition("COLUMNS\n")[2].partition("RHS\n")[0].splitlines()
    assert columns == [" x obj 2", " y obj 0"]


def assert_names_are_fit(program: IntegerProgram) -> None:
    names = [*program.variables, *program.constraints]
    assert all(re.fullmatch("[a-z][a-z_]*[A-Za-z0-9._]*", name) for name in names)
    for row in program.constraints.values():
        assert row.terms.keys() <= program.variables.keys()
        assert all(row.terms.values())


def test_setups_are_the_program_of_the_textbook() -> None:
    text = lp_text(integer_program(SETUPS))
    assert " all_chat: runs_chat_on_0 + runs_chat_on_1 = 6\n" in text
    assert " visit_code_on_1: runs_code_on_1 - 3 visits_code_on_1 <= 0\n" in text
    assert "\\ visits_F_on_P   1 if CPU P runs tasks of fragment F\n" in text
    assert "\\ chat: 6 tasks (chat): chat, exec 5\n" in text
    assert "spared" not in text
    warm = replace(SETUPS, initial=(CacheState(df="code"), None))
    assert "spared_code_on_0" in lp_text(integer_program(warm))


def test_labels_are_different_and_fit() -> None:
    assert labels_of(["web", "web#1", "web.1", "\u00e4 b", ""]) == [
        "web",
        "web.1",
        "web.1.2",
        "..b",
        ".",
    ]
    assert len(set(labels_of("x" * n for n in range(100, 110)))) == 10


def test_what_would_be_too_large_is_refused() -> None:
    types = tuple(map(str, range(200)))
    large = Instance(
        cpus=20,
        penalty=PenaltyMatrix(types=types, switch=tuple((1,) * 200 for _ in types)),
        tasks=tuple(Task(id=name, type=name) for name in types),
    )
    with pytest.raises(
        MethodError, match="some 1616000 variables, more than 1000000; take a small"
    ):
        integer_program(large)
