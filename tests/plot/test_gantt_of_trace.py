"""A trace as a Gantt chart: areas are times, whatever is too short to be seen."""

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb

from dfopt.errors import DfoptError
from dfopt.plot import plot_trace
from dfopt.plot.colours import Colour, group_colours
from dfopt.plot.gantt_bars import BAR_HEIGHT, shade, tint
from dfopt.plot.time_columns import SWITCHING, column_edges
from dfopt.plot.trace_window import window_of
from dfopt.problem.cache_domains import cache_domains
from dfopt.trace import Trace
from dfopt.trace.lengths import Lengths
from tests.trace.traces import SMALL, trace_from_rows


def areas(ax: Axes) -> dict[Colour, float]:
    """Return the area of each colour, in times of bars."""
    found: dict[Colour, float] = defaultdict(float)
    for drawn in ax.collections:
        if isinstance(drawn, PolyCollection) and drawn.get_hatch() is None:
            for path, colour in zip(drawn.get_paths(), drawn.get_facecolor(), strict=True):
                found[rounded(colour)] += area(path.vertices)
    for patch in ax.patches:
        found[rounded(patch.get_facecolor())] += area(patch.get_xy())
    return found


def rounded(colour: object) -> Colour:
    red, green, blue = (round(part, 6) for part in to_rgb(colour))  # type: ignore[arg-type]
    return red, green, blue


def area(corners: np.ndarray) -> float:
    width, height = np.ptp(corners, axis=0)
    return float(width * height / BAR_HEIGHT)


def lines(ax: Axes, width: float) -> list[list[list[float]]]:
    return [
        segment.tolist()
        for drawn in ax.collections
        if isinstance(drawn, LineCollection) and drawn.get_linewidth()[0] == width
        for segment in drawn.get_segments()
    ]


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def crowded(count: int) -> Trace:
    """Return two CPUs on which many short dispatches of three fragments follow each other."""
    return trace_from_rows(
        [
            (cpu, 10 * turn, 10 * turn + 6 + cpu, f"t{turn % 5}{cpu}", "ABC"[turn % 3], None, None)
            for turn in range(count)
            for cpu in range(2)
        ]
    )


def test_what_stands_on_it() -> None:
    ax = plot_trace(SMALL)
    assert ax.get_title(loc="left") == "small"
    assert ax.get_title(loc="right") == "5 dispatches, 2 fragment switches, 1 migration"
    assert ax.get_xlabel() == "time since the trace begins (ns)"
    assert legend(ax) == ["g3", "g4", "no fragment", "migration", "nothing is known"]
    assert [text.get_text() for text in ax.texts] == ["9229", "9229", "9230", "9231"]
    # 9231 leaves CPU 0 at 100 and goes on on CPU 1 at 200.
    (line,) = lines(ax, 0.6)
    assert [point[0] for point in line] == [100, 200]


def test_penalties_stand_at_the_beginning_of_dispatches() -> None:
    trace = trace_from_rows([(0, 0, 50, "a", "A", None, None), (0, 50, 100, "b", "B", None, None)])
    ax = plot_trace(trace, np.array([0, 20]))
    a, b = (rounded(colour) for colour in group_colours("AB").values())
    assert areas(ax) == pytest.approx({a: 50, b: 30, rounded(tint(group_colours("AB")["B"])): 20})
    assert "20" in [text.get_text() for text in ax.texts]
    assert "switch penalty" in legend(ax)


@pytest.mark.parametrize("count", [50, 10_000])
def test_areas_are_times_however_many_there_are(count: int) -> None:
    trace = crowded(count)
    costs = np.where(np.arange(len(trace)) % 4 == 0, 2, 0)
    ax = plot_trace(trace, costs)
    colours = group_colours("ABC")
    found = areas(ax)
    paid = sum(found.pop(rounded(colour), 0) for colour in (SWITCHING,))
    for colour in colours.values():
        paid += found.pop(rounded(shade(colour)), 0) + found.pop(rounded(tint(colour)), 0)
    assert paid == pytest.approx(costs.sum())
    ran = (trace.end - trace.start) - costs
    assert found == pytest.approx(
        {
            rounded(colour): int(ran[trace.fragment == number].sum())
            for number, colour in enumerate(colours.values())
        }
    )
    assert ("heights are shares" in ax.get_xlabel()) == (count > 1000)


@pytest.mark.parametrize(("begin", "end"), [(13, 28), (0, 5), (300, 312)])
def test_a_window_shows_what_ran_in_it(begin: int, end: int) -> None:
    trace = crowded(40)
    start, stop = (np.clip(times, begin, end) for times in (trace.start, trace.end))
    ran = stop - start
    shown = sorted({trace.fragments[number] for number in trace.fragment[ran > 0]})
    expected = {
        rounded(colour): int(ran[trace.fragment == trace.fragments.index(name)].sum())
        for name, colour in group_colours(shown).items()
    }
    assert areas(plot_trace(trace, begin=begin, end=end)) == pytest.approx(expected)


def test_few_migrations_have_lines_and_many_have_marks() -> None:
    hops = [(turn % 2, 10 * turn, 10 * turn + 9, "a", "A", None, None) for turn in range(200)]
    few, many = plot_trace(trace_from_rows(hops[:50])), plot_trace(trace_from_rows(hops))
    assert (len(lines(few, 0.6)), len(lines(few, 0.9))) == (49, 49)
    assert (len(lines(many, 0.6)), len(lines(many, 0.9))) == (0, 199)


def test_cpus_of_a_domain_stand_together() -> None:
    rows = [(cpu, 0, 10, f"t{cpu}", "ABC"[cpu], None, None) for cpu in range(3)]
    # t0 leaves CPU 0 for CPU 2, which is the next row.
    trace = trace_from_rows([*rows, (2, 20, 30, "t0", "A", None, None)], cpus=3)
    ax = plot_trace(trace, domains=cache_domains("0,2;1,3"))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["CPU 0", "CPU 2", "CPU 1"]
    names = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert {name: row for name, row in names.items() if "domain" in name} == {
        "domain 0,2": 0.5, "domain 1": 2,
    }  # fmt: skip
    assert [line.get_ydata() for line in ax.lines] == [[1.5, 1.5]]
    assert (names["t0"], names["t1"], names["t2"]) == (1, 2, 1)
    ((left, arrived),) = lines(ax, 0.6)
    assert (round(left[1]), round(arrived[1])) == (0, 1)
    assert not plot_trace(trace, domains=cache_domains("0-2")).lines


def test_an_empty_part_is_refused() -> None:
    with pytest.raises(DfoptError, match=r"nothing ran from 400 ns on; .*, which lasts 350 ns"):
        plot_trace(SMALL, begin=400)


def test_columns_of_the_longest_times_are_even() -> None:
    edges = column_edges(5, 2**62, 1_000).tolist()
    assert (edges[0], edges[-1]) == (5, 5 + 2**62)
    assert {2**62 // 1_000, 2**62 // 1_000 + 1} >= {b - a for a, b in pairwise(edges)}


def test_switches_that_lengths_do_not_include_stand_before_the_start() -> None:
    rows = [(0, 30, 40, "a", "p"), (0, 55, 60, "b", "q"), (0, 60, 65, "c", "p")]
    trace = trace_from_rows([(*row, None, None) for row in rows])
    costs = np.array([20, 10, 10])
    without = replace(trace, header=replace(trace.header, lengths=Lengths.WITHOUT_SWITCHES))
    window = window_of(without, costs, 0, None)
    # The first one is before the trace begins; the last one had no time on this CPU.
    assert (window.begin, window.end) == (-20, 35)
    assert window.start.tolist() == [-20, 15, 30]
    assert window.paid.tolist() == [0, 25, 30]
    assert window.stop.tolist() == [10, 30, 35]
    window = window_of(trace, costs, 0, None)
    assert window.begin == 0
    assert window.start.tolist() == [0, 25, 30]
    assert window.paid.tolist() == [10, 30, 35]
