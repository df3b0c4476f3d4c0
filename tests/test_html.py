"""Tables of instances, results, traces and comparisons in notebooks."""

from base64 import b64decode

import numpy as np

from dfopt import Instance, PenaltyF, PenaltyG, PenaltyMatrix, Task, evaluate, replace, solve
from dfopt.compare import compare_trace, parse_window
from dfopt.plot import picture_of, plot_schedule
from dfopt.trace import Trace, TraceTask
from dfopt.verify import verify
from tests.test_table import cells

HOSTILE = "<script>alert('x')</script>"
TASK_A, TASK_B = Task(id="a", df="A"), Task(id="b", df="B")


def test_an_instance_shows_the_columns_that_matter() -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyF(read_line=1, write_back=4),
        tasks=(Task(id=HOSTILE, df="A", lines=3), Task(id="b", df="B", lines=4, count=2)),
    )
    assert cells(instance) == [
        ["id", "df", "lines", "count"],
        [HOSTILE, "A", "3", "–"],
        ["b", "B", "4", "2"],
    ]
    many = Instance(
        cpus=1,
        penalty=PenaltyMatrix(types=("a",), switch=((0,),)),
        tasks=tuple(Task(id=f"t{n}", type="a") for n in range(40)),
    )
    assert cells(many)[-3:] == [["… and 10 more rows"], ["from", "a"], ["a", "0"]]
    assert "matrix of 1 type<" in many._repr_html_()


def test_a_matrix_has_a_table_of_its_own() -> None:
    penalty = PenaltyMatrix(
        types=("a", HOSTILE), switch=((0, 3), (4, 0)), start=(5, 6), finish=(7, 8)
    )
    instance = Instance(
        cpus=1,
        penalty=penalty,
        tasks=(Task(id="t", type="a"),),
        cold_start=True,
        final_write_back=True,
    )
    assert cells(instance)[-5:] == [
        ["from", "a", HOSTILE],
        ["empty", "5", "6"],
        ["a", "0", "3"],
        [HOSTILE, "4", "0"],
        ["at the end", "7", "8"],
    ]
    types = tuple(f"type {number}" for number in range(13))
    large = PenaltyMatrix(types=types, switch=((1,) * 13,) * 13)
    assert "from" not in Instance(cpus=1, penalty=large)._repr_html_()


def test_what_the_checker_found_is_a_table() -> None:
    instance = Instance(cpus=1, penalty=PenaltyG(fill=3, write_back=1), tasks=(TASK_A, TASK_B))
    found = cells(verify(instance, solve(instance)))
    assert found[0] == ["objective", "lower bound", "proven by", "bound checked"]
    assert (found[1][:2], found[1][3]) == (["4", "4"], "yes")
    wrong = verify(instance, replace(solve(instance), objective=3))
    assert "wrong" in wrong._repr_html_()
    assert "objective" in cells(wrong)[1][-1]


def test_results_and_schedules_show_what_each_cpu_does() -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=3, write_back=1),
        tasks=(Task(id="a", df="X"), Task(id=HOSTILE, df="Y")),
    )
    result = solve(instance, method="exhaustive")
    rows = cells(result)
    assert rows[1][:3] == ["optimal", "0", "0"]
    assert rows[2] == ["CPU", "cost", "number of tasks", "tasks in order"]
    assert {row[3] for row in rows[3:]} == {"a", HOSTILE}
    schedule = evaluate(instance, [["a"], [HOSTILE]])
    assert cells(schedule)[1:] == [["0", "0", "1", "a"], ["1", "0", "1", HOSTILE]]


def a_trace(dispatches: int) -> Trace:
    rank = np.arange(dispatches)
    return Trace(
        cpus=1,
        cpu=np.zeros(dispatches, np.int32),
        start=10 * rank + 5,
        end=10 * rank + 9,
        task=(rank % 2).astype(np.int32),
        fragment=(rank % 2).astype(np.int32),
        tasks=(TraceTask(name=HOSTILE), TraceTask(name="t2")),
        fragments=(HOSTILE, "B"),
    )


def test_a_trace_shows_its_first_dispatches() -> None:
    rows = cells(a_trace(50))
    assert rows[:3] == [
        ["CPU", "start", "run time", "task", "fragment"],
        ["0", "0", "4", HOSTILE, HOSTILE],
        ["0", "10", "4", "t2", "B"],
    ]
    assert rows[-1] == ["… and 20 more rows"]
    assert cells(a_trace(0)) == [["CPU", "start", "run time", "task", "name", "fragment"]]


def test_a_comparison_shows_what_was_paid_and_what_was_possible() -> None:
    compared = compare_trace(
        a_trace(20), windows=[parse_window("4"), parse_window("whole")], waits=None
    )
    rows = cells(compared)
    (causes,) = [at for at, row in enumerate(rows) if row[0] == "cause"]
    assert sum(int(row[1]) for row in rows[causes + 1 : causes + 3]) == compared.realised.total
    windows = [row[0] for row in rows].index("window")
    assert [row[0] for row in rows[windows + 1 : windows + 3]] == ["4", "whole"]


def test_a_picture_shows_itself() -> None:
    instance = Instance(
        cpus=1, penalty=PenaltyG(fill=1, write_back=0), tasks=(Task(id="a", df="X"),)
    )
    picture = picture_of(plot_schedule(instance, evaluate(instance, [["a"]])), alt='one "task"')
    shown = picture._repr_html_()
    assert 'alt="one &quot;task&quot;"' in shown
    assert b64decode(shown.split("base64,")[1].split('"')[0]).rstrip().endswith(b"</svg>")
    assert repr(picture) == "Picture(alt='one \"task\"')"
