"""The page of a report: its figures, its escaping, the size of its chart."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pytest

from dfopt import replace
from dfopt.compare import CostModel, compare_trace, parse_window
from dfopt.compare.attainable.switches_take_time import WithSwitches
from dfopt.compare.comparison import ONE_TRACE, comparisons_document
from dfopt.compare.comparison_parts import OrderKept, Realised
from dfopt.errors import DfoptError
from dfopt.problem.penalties import PenaltyG
from dfopt.render import cell_text
from dfopt.report import check_packages, page, report_page
from dfopt.report.zoom import BAR_HEIGHT, NO_FRAGMENT, OTHERS, gantt_bars
from dfopt.trace import read_trace
from tests.compare.examples import ROWS, comparison, frontier, write_trace
from tests.trace.traces import trace_from_rows

EVIL = "</script><script>alert('x')</script>"


def script(page: str, name: str) -> Mapping[str, Any]:
    """Return what an element of JSON holds."""
    (text,) = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', page)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.slow
def test_names_are_text(tmp_path: Path) -> None:
    rows = [(cpu, start, EVIL, EVIL) for cpu, start, _, _ in ROWS]
    trace = read_trace(write_trace(tmp_path / "trace.jsonl", rows, name=EVIL))
    found = compare_trace(trace, CostModel(), windows=[parse_window("whole")], waits=None)
    page = report_page([found], [trace], command=EVIL)
    assert "<script>alert" not in page
    assert "&lt;/script&gt;&lt;script&gt;alert" in page
    assert script(page, "comparison") == json.loads(json.dumps(ONE_TRACE.to_document(found)))
    assert EVIL in json.dumps(script(page, "charts")["gantt"])
    # Everything stands in the file: it loads nothing.
    assert not re.search(r"<(script|img|iframe)[^>]+src=|<link[^>]+href=\"(?!data:)", page)


def test_only_the_scripts_of_the_page_may_run(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl"))
    page = report_page([comparison()], [trace], command="")
    (permitted,) = re.findall(r"script-src ([^;]*);", page)
    digests = [
        b64encode(sha256(program.encode()).digest()).decode()
        for program in re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    ]
    assert permitted.split() == [f"'sha256-{digest}'" for digest in digests]


def test_several_traces_are_compared_in_a_table(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl"))
    half = comparison(realised=Realised(total=6, worst=6, switches=6))
    page = report_page([comparison(), half], [trace, trace], command="")
    costs = [row[2] for row in table_cells(page) if row[1:2] == ["18"]]
    assert costs == ["0.6667", "0.3333"]
    warning = "The traces were compared under different costs"
    assert warning not in page
    other = comparison(model=CostModel(penalty=PenaltyG(fill=7, write_back=0)))
    assert warning in report_page([half, other], [trace, trace], command="")


def test_the_costs_of_fragments_without_a_row_are_added_up(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl"))
    one = comparison().fragments
    page = report_page([comparison(fragments=one * 11)], [trace], command="")
    (more,) = [row for row in table_cells(page) if row[0].startswith("and ")]
    assert (more[0], more[4]) == ("and 12 more", "72")


def table_cells(page: str) -> list[list[str]]:
    """Return the cells of each row of the tables of a page."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]


def test_tables_are_those_of_the_comparison(tmp_path: Path) -> None:
    known = comparison(
        frontier=frontier(), order_kept=OrderKept(online=3, best=2, bound=1), time_unit="ns"
    )
    rows = table_cells(report_page([known], [None], command=""))
    for table in known.tables(with_windows=True, verbose=True):
        shown = [
            column
            for column, values in zip(table.columns, zip(*table.rows, strict=True), strict=True)
            if any(value is not None for value in values)
        ]
        drawn = table.only(*(column.name for column in shown)) if len(shown) > 2 else table
        for row in drawn.rows:
            cells = [cell_text(*pair) for pair in zip(row, drawn.columns, strict=True)]
            assert [escape(cell) for cell in cells] in rows


def tooltips(value: Any) -> list[Any]:
    """Return what the charts in a document of Bokeh say where a reader points."""
    if isinstance(value, Mapping):
        own = [value["tooltips"]] if "tooltips" in value else []
        return own + tooltips(list(value.values()))
    return (
        [found for inner in value for found in tooltips(inner)] if isinstance(value, list) else []
    )


def test_a_unit_is_text_where_a_reader_points(tmp_path: Path) -> None:
    """Bokeh takes what a tooltip says beside a value for HTML, and escapes the value itself."""
    trace = read_trace(write_trace(tmp_path / "trace.jsonl", time_unit=EVIL))
    made = comparison(frontier=frontier(), time_unit=EVIL, cost_unit=EVIL)
    page = report_page([made], [trace], command="")
    said = [pair for pairs in tooltips(script(page, "charts")) for pair in pairs]
    assert (f"from ({EVIL})", "@left{0.[000000]}") in map(tuple, said)
    assert all(re.fullmatch(r"[@$]\w+(\{[0.,\[\]]+\})?", value) for _, value in said)


def test_a_trace_that_lasts_no_time(tmp_path: Path) -> None:
    file = write_trace(tmp_path / "trace.jsonl", [(0, 5, "t", "A"), (1, 5, "u", "B")])
    file.write_text(file.read_text().replace('"end": 15', '"end": 5'))
    trace = read_trace(file)
    assert "chart-gantt" in report_page([comparison()], [trace], command="")
    assert not gantt_bars(trace, ["A", "B"], most=0).bars


def test_traces_below_each_other(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl", time_unit="ns"))
    made = comparison(frontier=frontier())
    surfaceflinger = replace(made.fragments[0], name="surfaceflinger")
    made = replace(made, fragments=(surfaceflinger, *made.fragments[1:]))
    page = report_page([made, made], [trace, trace], command="", interrupted=True)
    assert script(page, "comparison") == json.loads(json.dumps(comparisons_document([made, made])))
    identifiers = re.findall(r' id="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(identifiers)
    charts = script(page, "charts")
    assert set(charts) == {"gantt-0", "gantt-1"}
    pictures = re.findall(r'<img alt="([^"]*)"[^>]*src="data:image/svg\+xml;base64,[^"]*">', page)
    assert pictures == 2 * [
        "Costs against the mean wait; the table below has the figures",
        "Costs against look-ahead; the table below has the figures",
    ]
    assert {f"chart-{name}" for name in charts} <= set(identifiers)
    assert [row[0] for row in table_cells(page)].count("A surfaceflinger") == 2
    assert page.count("</span>A surfaceflinger</li>") == 2  # in the legends
    assert "The computation was interrupted" in page


def test_the_page_says_what_ran_in_parallel(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl", time_unit="ns"))
    plain = frontier()
    recorded = replace(plain.rows[0], parallel_share=0.375)
    found = replace(plain, rows=(recorded, *plain.rows[1:]))
    made = comparison(frontier=found, parallel_share=0.125)
    other = comparison(name="other")
    page = report_page([made, other], [trace, trace], command="")
    rows = table_cells(page)
    beside = [row[4] for row in rows if row[1:2] == ["18"]]
    assert beside == ["12.5%", "–"]
    assert "37.5%" in [row[-1] for row in rows]


def test_tiles_say_what_it_comes_to(tmp_path: Path) -> None:
    page = report_page([comparison(frontier=frontier())], [None], command="")
    tiles = page.partition('<ul class="cards">')[2].partition("</ul>")[0]
    assert re.findall(r"<li>(.*?)<strong>(.*?)</strong></li>", tiles) == [
        ("paid [ns]", "12"), ("attainable [ns]", "7"), ("impossible below [ns]", "6"),
        ("by a rule [ns]", "8"),
    ]  # fmt: skip
    assert "rows that let single dispatches wait longer can cost less" in page


def test_the_page_says_what_stays_in_place(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl"))
    recorded, *others = frontier().rows
    moved = frontier(rows=(replace(recorded, cost=9), *others))
    for model, threads, caches in (
        (
            CostModel(),
            "9 without 2 dispatches of bound kernel threads",
            "leave the caches as they are",
        ),
        (CostModel(unmanaged="evict"), "only evict", "push what it finds out of the cache"),
    ):
        known = comparison(frontier=moved, model=model)
        page = report_page([known], [trace], command="")
        assert threads in page
        assert "12.5% of the run time has no fragment. It stays in place" in page
        assert caches in page
    everything = comparison(frontier=frontier(), unlabelled_share=0.0)
    page = report_page([everything], [trace], command="")
    assert "only evict" not in page
    assert "has no fragment" not in page


def test_a_choice_of_cpus_that_saves_everything_has_no_ratio(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl"))
    kept = OrderKept(online=3, best=0, bound=0)
    page = report_page([comparison(order_kept=kept)], [trace], command="")
    assert "all saved" in [row[-1] for row in table_cells(page)]


def test_bars_of_a_long_trace_are_shares(tmp_path: Path) -> None:
    rows = [(n % 2, 20 * n, f"t{n % 5}", f"d{n % 23}") for n in range(600)]
    trace = read_trace(write_trace(tmp_path / "trace.jsonl", rows))
    names = sorted(trace.fragments)
    each, few = gantt_bars(trace, names), gantt_bars(trace, names, most=100)
    assert each.column is None
    assert few.column is not None
    assert sum(len(bars["left"]) for bars in each.bars.values()) == len(trace)
    assert sum(len(bars["left"]) for bars in few.bars.values()) <= 100
    assert OTHERS in few.bars
    for name, bars in each.bars.items():
        areas = [
            float(((drawn["right"] - drawn["left"]) * (drawn["high"] - drawn["low"])).sum())
            for drawn in (bars, few.bars[name])
        ]
        assert areas[0] == pytest.approx(BAR_HEIGHT * 10 * len(bars["left"]))
        assert areas[1] == pytest.approx(areas[0])


def test_bars_of_a_trace_of_years_lie_within_it() -> None:
    """Times in nanoseconds, multiplied by the number of columns, are beyond 64 bits."""
    day = 86_400 * 10**9
    rows = [(0, n * day, (n + 1) * day, "t", "AB"[n % 2], None, None) for n in range(2_000)]
    drawn = gantt_bars(trace_from_rows(rows), ["A", "B"], most=1_000).bars["A"]
    assert (min(drawn["left"]), max(drawn["right"])) == (0, 2_000 * day)
    assert max(drawn["high"]) <= BAR_HEIGHT / 2 + 1e-9


def test_a_fragment_may_be_called_what_stands_for_others(tmp_path: Path) -> None:
    rows = [(n % 2, 20 * n, "t", [OTHERS, NO_FRAGMENT, None][n % 3]) for n in range(60)]
    trace = read_trace(write_trace(tmp_path / "trace.jsonl", rows))
    for most in (60, 30):
        drawn = gantt_bars(trace, sorted(trace.fragments), most=most)
        assert drawn.bars.keys() == {OTHERS, NO_FRAGMENT}


def test_missing_package_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    with pytest.raises(DfoptError, match=r"pip install 'dfopt\[report\]'"):
        check_packages()


def test_the_page_says_what_becomes_of_schedules_when_switches_take_time(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "trace.jsonl", time_unit="ns"))
    plain = frontier()
    timed = WithSwitches(
        later=2, latest_by=7000, total_wait=1000, p99_wait=90_000, mean_wait=55.555556
    )
    later = replace(plain.rows[3], switches=5, with_switches=timed)
    found = replace(plain, rows=(*plain.rows[:3], later, *plain.rows[4:]))
    page = report_page([comparison(frontier=found)], [trace], command="")
    assert ["nobody later", "18", "5", "2", "7 µs"] in [row[:5] for row in table_cells(page)]
    assert "as if switches delayed nothing" in page
    assert "with their time 2 of 18 start later" in page
    page = report_page([comparison(frontier=plain)], [trace], command="")
    assert "switches delayed nothing" not in page
    assert "With the time of switches" not in page
