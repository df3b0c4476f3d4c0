"""Tables as text, as HTML, as data frames and as rows of JSON."""

import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

from dfopt import render
from dfopt.errors import MethodError
from dfopt.render import (
    MOST_CHARACTERS,
    MOST_ROWS,
    SHORTEST_NAME,
    FrameLibrary,
    frame,
    html,
    installed_library,
    records,
)
from dfopt.table import TIME, Table, TableColumn, Uncertain, columns, facts, table_of
from dfopt_cli.printing import print_tables

LARGE = 2**62 - 1
NUMBERS = ("22,200,000", "600,000", "37.00")


def policies(*names: str) -> Table:
    rows = [(name, 22_200_000, 600_000, 37.0) for name in names]
    return Table("", columns("policy", "realised", "bound", "ratio :.2f"), rows)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def lines(*tables: Table, width: int = 80) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        print_tables(tables)
        return capsys.readouterr().out.splitlines()

    return lines


def test_columns_are_written_with_unit_and_format() -> None:
    assert columns("a, b [µs] :,.1f", "wait [ns] :time", "name", "") == (
        TableColumn("a, b", "µs", ",.1f"),
        TableColumn("wait", "ns", TIME),
        TableColumn("name"),
        TableColumn(""),
    )
    assert table_of("", [TableColumn("x", "s")], {"name": "n", "unit.upper": "u"}).columns == (
        TableColumn("n"),
        TableColumn("u"),
    )


def test_a_table_as_text(printed: Any) -> None:
    table = Table(
        "Title",
        (
            *columns("job", "mean wait [ns] :time", "share :.1%", "left out", "there"),
            TableColumn("time", "s", lambda time: ".2f" if time >= 1 else ".3g"),
        ),
        [
            ("a\x1b[31m", 1_500, Uncertain(0.25, assumed=True), None, True, 0.0512),
            ("", None, Uncertain(0.5, 0.25), None, False, Uncertain(12.345, 0.5)),
        ],
        ["share: " + "of all " * 15],
    )
    assert printed(table, facts({"model": "m", "unknown": None})) == [
        "Title",
        "             mean                   time",
        "job          wait   share  there     [s]",
        r"a\x1b[31m  1.5 µs  ~25.0%  yes    0.0512",
        "                –   50.0%  no      12.35",
        "                   ±25.0%          ±0.50",
        "",
        "share: " + "of all " * 10 + "of",
        "  " + "all of " * 4 + "all",
        "",
        "model  m",
    ]


@pytest.mark.parametrize("width", [1, 20, 40, 60])
def test_no_number_loses_its_end_where_it_is_narrow(printed: Any, width: int) -> None:
    _, first, second = printed(policies("data-affinity", "fcfs"), width=width)
    assert first.split() == ["data-affinity", *NUMBERS]
    assert second.split() == ["fcfs", *NUMBERS]


def test_long_names_are_broken_before_the_table_gets_wider(printed: Any) -> None:
    name = "n" * 50
    assert len(printed(policies(name), width=100)) == 2
    folded = printed(policies(name), width=60)
    assert max(map(len, folded)) <= 60
    assert "".join(line.split()[0] for line in folded[1:]) == name
    narrow = printed(policies(name), width=40)
    assert {len(line.split()[0]) for line in narrow[1:-1]} == {SHORTEST_NAME}


def test_facts_are_broken_at_the_width_of_the_terminal(printed: Any) -> None:
    lines = printed(facts({"bound": "no schedule costs less " * 5}), width=60)
    assert 40 < max(map(len, lines)) <= 60


@pytest.mark.parametrize("width", [0, 1])
def test_a_terminal_without_width_gets_everything(printed: Any, width: int) -> None:
    assert [line.split() for line in printed(facts({"model": "mix 5"}), width=width)] == [
        ["model", "mix", "5"]
    ]


class Cells(HTMLParser):
    """Collects the cells of tables, and the tags that were used."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"td", "th"}:
            self.rows[-1][-1] += data


def cells(shown: object) -> list[list[str]]:
    """Return the cells of what a notebook would show; only harmless tags are in it."""
    text = shown if isinstance(shown, str) else shown._repr_html_()  # type: ignore[attr-defined]
    parser = Cells()
    parser.feed(text)
    assert not parser.open
    assert parser.tags <= {"table", "caption", "tr", "th", "td", "p"}
    return parser.rows


def test_values_are_written_out_and_escaped_in_html() -> None:
    rows = [(1234567, None, True), (0.25, None, "<")]
    assert cells(html(Table("a < b", columns("x [ns]", "y", "z"), rows, ["<p>"]))) == [
        ["x [ns]", "z"],
        ["1,234,567", "yes"],
        ["0.25", "<"],
    ]
    shown = cells(html(Table("", columns("x"), [(9876.54,), (98765.4,)])))
    assert shown[1:] == [["9,877"], ["98,765"]]


def test_long_tables_and_values_say_what_is_left_out() -> None:
    rows = cells(html(Table("", columns("n"), [("x" * 200,)] * (MOST_ROWS + 1))))
    assert len(rows) == MOST_ROWS + 2
    assert len(rows[1][0]) == MOST_CHARACTERS
    assert rows[-1] == ["… and 1 more row"]
    assert cells(html(Table("", columns("n"), [(1,)]), count=3))[-1] == ["… and 2 more rows"]
    assert cells(html(Table("", columns("n")))) == [["n"]]


@pytest.fixture(params=["pandas", "polars"])
def library(request: pytest.FixtureRequest) -> FrameLibrary:
    pytest.importorskip(request.param)
    name: FrameLibrary = request.param
    return name


def rows_of(shown: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame of either library, with None where there is no value."""
    if hasattr(shown, "to_dicts"):
        found: list[dict[str, Any]] = shown.to_dicts()
        return found
    pandas = pytest.importorskip("pandas")
    return [
        {name: None if pandas.isna(value) else value for name, value in row.items()}
        for row in shown.to_dict("records")
    ]


def test_values_come_back_from_frames_as_they_were(library: FrameLibrary) -> None:
    rows = [("a", 1, LARGE, 0.5, True), (None, None, None, None, False)]
    table = Table("", columns("text", "small", "large [CPU cycles]", "share :.1%", "flag"), rows)
    assert [tuple(row.values()) for row in rows_of(frame(table, library))] == rows
    assert list(frame(table, library).columns) == [
        *("text", "small", "large_CPU_cycles", "share", "flag")
    ]
    assert rows_of(frame(table, library)) == records(table)


def test_columns_are_there_without_rows(library: FrameLibrary) -> None:
    shown = frame(Table("", columns("first", "second")), library)
    assert (list(shown.columns), len(shown)) == (["first", "second"], 0)


def test_rows_of_json_have_the_values_alone() -> None:
    table = Table("", columns("wait [ns] :time"), [(Uncertain(3, 1, assumed=True),), (None,)])
    assert records(table) == [{"wait_ns": 3}, {"wait_ns": None}]


def test_a_library_that_is_unknown_or_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("", columns("a"))
    with pytest.raises(MethodError, match="'excel' makes no data frames; name pandas or polars"):
        frame(table, "excel")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MethodError, match="polars is not installed; run 'pip install polars'"):
        frame(table, "polars")


@pytest.mark.parametrize(
    ("there", "chosen"),
    [(("pandas", "polars"), "pandas"), (("pandas",), "pandas"), (("polars",), "polars")],
)
def test_pandas_comes_before_polars(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], chosen: str
) -> None:
    monkeypatch.setattr(render, "find_spec", lambda name: name in there or None)
    assert installed_library() == chosen


def test_without_either_there_is_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "find_spec", lambda _: None)
    with pytest.raises(MethodError, match="run 'pip install pandas'"):
        installed_library()


@pytest.mark.slow
def test_nothing_is_imported_unasked() -> None:
    program = "import sys, dfopt.bench, dfopt.compare, dfopt.simulate;"
    check = "sys.exit(bool({'pandas', 'polars', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program + check], check=False).returncode == 0
