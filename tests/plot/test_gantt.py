"""The Gantt chart: what can be read on it, and that nothing keeps it from being drawn."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dfopt import replace
from dfopt.generate import matrix, zipf
from dfopt.plot import plot_schedule, save_picture
from dfopt.plot.gantt import MOST_IN_LEGEND, as_people_sort
from dfopt.problem.cache import CacheState
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.schedule import Schedule, evaluate
from tests.strategies import instances, orders


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for drawn in ax.figure.legends for text in drawn.get_texts()]


def in_turn(instance: Instance) -> Schedule:
    """Deal the tasks out fragment by fragment."""
    tasks = instance.tasks_by_name()
    names = sorted(tasks, key=lambda name: (tasks[name].df or tasks[name].type or "", name))
    k = instance.tasks_per_cpu
    return evaluate(instance, [names[cpu * k : (cpu + 1) * k] for cpu in range(instance.cpus)])


def test_worked_example(worked_example: Instance, data_affinity: Schedule) -> None:
    ax = plot_schedule(worked_example, data_affinity)
    assert ax.get_title(loc="left") == "worked-example"
    assert ax.get_title(loc="right") == "makespan 15"
    assert ax.get_xlabel() == "time"
    assert legend(ax) == ["DF1", "DF2", "reading", "write-back"]
    assert sorted(texts(ax)) == sorted(
        ["v0", "v1", "v2", "v3", "v4", "4", "4", "4", "4", "11", "15"]
    )
    # CPU 0 is on top, and the most expensive CPU's cost stands out.
    assert [label.get_text() for label in ax.get_yticklabels()] == ["CPU 0", "CPU 1"]
    bottom, top = ax.get_ylim()
    assert bottom > top
    (worst,) = (text for text in ax.texts if text.get_text() == "15")
    assert worst.get_fontweight() == "bold"
    assert any(line.get_xdata() == [15, 15] for line in ax.lines)


def test_axes_of_the_caller_are_used(worked_example: Instance, data_affinity: Schedule) -> None:
    ax = Figure().add_subplot()
    assert plot_schedule(worked_example, data_affinity, ax=ax) is ax
    assert texts(ax)


def test_units_have_their_plural(worked_example: Instance, data_affinity: Schedule) -> None:
    ax = plot_schedule(replace(worked_example, time_unit="unit"), data_affinity)
    assert ax.get_title(loc="right") == "makespan 15 units"
    assert ax.get_xlabel() == "time (units)"


def test_times_are_in_a_unit_that_is_read_well() -> None:
    instance = Instance(
        cpus=1,
        objective=Objective.MAKESPAN,
        penalty=PenaltyG(fill=80_000_000, write_back=0),
        time_unit="ns",
        cold_start=True,
        tasks=(Task(id="a", df="A", exec=400_000_000), Task(id="b", df="B", exec=1_500_000)),
    )
    ax = plot_schedule(instance, evaluate(instance, [["a", "b"]]))
    assert ax.get_title(loc="right") == "makespan 561.5 ms"
    assert ax.get_xlabel() == "time (ms)"
    assert {"80 ms", "561.5 ms"} < set(texts(ax))
    assert ax.xaxis.get_major_formatter()(240_000_000, 0) == "240"


def test_tasks_without_length_are_drawn_equally_wide() -> None:
    instance = Instance(
        cpus=1,
        penalty=PenaltyG(fill=9, write_back=0),
        time_unit="ns",
        tasks=(Task(id="a", df="A", exec=1), Task(id="b", df="B", exec=500)),
    )
    ax = plot_schedule(instance, evaluate(instance, [["a", "b"]]))
    assert list(ax.get_xticks()) == []
    assert ax.get_xlabel().endswith("every task drawn as wide as a penalty of 5 ns")
    assert ax.get_title(loc="right") == "max-penalty 9 ns"


def test_tasks_without_room_are_counted() -> None:
    instance = Instance(
        cpus=1,
        penalty=PenaltyG(fill=1, write_back=0),
        tasks=(Task(id="a", df="A", count=700), Task(id="b", df="B", count=800)),
    )
    names = list(instance.tasks_by_name())
    assert {"A ×700", "B ×800"} < set(texts(plot_schedule(instance, evaluate(instance, [names]))))


@pytest.mark.slow
def test_one_label_stands_for_runs_too_short_for_their_own() -> None:
    instance = matrix(tasks=2_000, cpus=1, types=1, largest=40)
    drawn = texts(plot_schedule(instance, in_turn(instance)))
    assert "T1 ×2000" in drawn


@pytest.mark.parametrize("fragments", [MOST_IN_LEGEND, MOST_IN_LEGEND + 1])
def test_bars_name_the_fragments_where_the_legend_does_not(fragments: int) -> None:
    instance = zipf(tasks=fragments, cpus=2, fragments=fragments)
    ax = plot_schedule(instance, in_turn(instance))
    in_legend = "DF1" in legend(ax)
    on_bars = any("DF1" in text for text in texts(ax))
    assert (in_legend, on_bars) == ((True, False) if fragments == MOST_IN_LEGEND else (False, True))


def test_total_penalty_has_no_most_expensive_cpu() -> None:
    instance = zipf(tasks=6, cpus=2, fragments=3, objective=Objective.TOTAL_PENALTY)
    ax = plot_schedule(instance, in_turn(instance))
    assert all(text.get_fontweight() == "normal" for text in ax.texts)
    assert ax.get_title(loc="right").startswith("total-penalty ")


def test_initial_caches_are_named() -> None:
    instance = Instance(
        cpus=2, penalty=PenaltyG(fill=1, write_back=1), initial=(None, CacheState(df="Q"))
    )
    ax = plot_schedule(instance, evaluate(instance, [[], []]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["CPU 0", "CPU 1, holds Q"]


def test_names_are_no_formulas_and_fit_on_a_line(tmp_path: Path) -> None:
    names = ["_hidden", "$\\frac$", "two\nlines", "long" * 20, "日本"]
    instance = Instance(
        name="$\\frac$",
        time_unit="$",
        cpus=1,
        penalty=PenaltyG(fill=1, write_back=1),
        tasks=tuple(Task(id=name, df=name) for name in names),
    )
    ax = plot_schedule(instance, evaluate(instance, [names]))
    save_picture(ax, tmp_path / "a.png")
    assert {"_hidden", "$\\frac$", "two lines"} < set(legend(ax))
    assert max(map(len, legend(ax))) == 24
    assert ax.get_title(loc="left") == "$\\frac$"


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data(), st.booleans())
def test_whatever_can_be_scheduled_can_be_drawn(data: st.DataObject, timed: bool) -> None:
    instance = data.draw(instances(timed=timed, adorned=True))
    schedule = evaluate(instance, data.draw(orders(instance)))
    ax = plot_schedule(instance, schedule)
    assert f" {schedule.value(instance.objective)}" in ax.get_title(loc="right")
    costs = [f"{cpu.cost:,}" for cpu in schedule.cpus]
    assert [text for text in texts(ax) if text in costs][: len(costs)] == costs


@pytest.mark.slow
@pytest.mark.parametrize("cpus", [1, 20, 64, 300])
def test_any_number_of_cpus(cpus: int) -> None:
    instance = zipf(tasks=2 * cpus, cpus=cpus, fragments=2)
    ax = plot_schedule(instance, in_turn(instance))
    assert 1 <= len(ax.get_yticks()) <= 64
    assert ax.figure.bbox.height <= 40 * ax.figure.dpi


def test_fragments_are_sorted_as_people_do() -> None:
    names = ["DF10", "b", "DF9", "DF", "3", "a"]
    assert sorted(names, key=as_people_sort) == ["3", "DF", "DF9", "DF10", "a", "b"]


@pytest.mark.slow
def test_pyplot_stays_out() -> None:
    code = (
        "import sys\n"
        "from dfopt.generate import zipf\n"
        "from dfopt.plot import plot_schedule\n"
        "from dfopt.problem.schedule import evaluate\n"
        "assert 'matplotlib' not in sys.modules\n"
        "instance = zipf(tasks=2, cpus=1, fragments=2)\n"
        "plot_schedule(instance, evaluate(instance, [['t0', 't1']]))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
