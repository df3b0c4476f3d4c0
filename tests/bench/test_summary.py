import math
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.bench import Report, Row, RowStatus, Settings, summarise
from dfopt.bench.summary import family_of, shifted_geometric_mean, summary_document
from dfopt.files import schema
from tests.bench.test_table import ROW

LIMIT = 10.0


def row(name: str, status: RowStatus = RowStatus.OPTIMAL, **fields: object) -> Row:
    given = {"gap": 0.0, "certificate": "search", "wall_time_s": 1.0, **fields}
    return replace(ROW, instance=name, status=status, time_limit_s=LIMIT, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("zipf-n40-m4-d10-s0", "zipf"),
        ("df-workers-1500", "df-workers"),
        ("hackbench-4-groups-100", "hackbench"),
        ("ties", "ties"),
        ("small_7", "small"),
        ("queen5", "queen"),
        ("2024", "2024"),
        ("7-eleven", "7-eleven"),
        ("", ""),
    ],
)
def test_a_family_is_what_names_begin_with(name: str, family: str) -> None:
    assert family_of(name) == family


def test_figures_are_those_of_the_rows() -> None:
    summary = summarise(
        [
            row("a-1", certificate="dual-weights", wall_time_s=0.0),
            row("a-2", RowStatus.INFEASIBLE, gap=None, certificate="", wall_time_s=3.0),
            row("a-3", RowStatus.FEASIBLE, gap=0.5, wall_time_s=15.0, verified="no"),
            row("a-4", RowStatus.NOT_APPLICABLE, gap=None, wall_time_s=99.0),
            row("b", RowStatus.ERROR, gap=None, wall_time_s=99.0),
            row("c"),
        ]
    )
    assert list(summary.families) == ["a", "others"]
    family = summary.families["a"]
    assert (family.instances, family.proven, family.certified, family.refuted) == (4, 2, 1, 1)
    assert family.statuses == {
        "optimal": 1, "feasible": 1, "infeasible": 1, "unknown": 0, "not-applicable": 1, "error": 0
    }  # fmt: skip
    assert (family.mean_gap, family.max_gap) == (0.25, 0.5)
    assert (family.median_time_s, family.max_time_s) == (3.0, 15.0)
    assert family.mean_time_s == pytest.approx(3.0)  # 1 · 4 · 16 = 4^3
    assert summary.families["others"].max_time_s == LIMIT  # what an error counts
    assert summary.all.instances == 6
    assert summary.all.mean_gap == pytest.approx(0.5 / 3)


def test_nothing_has_no_figures() -> None:
    summary = summarise([])
    assert not summary.families
    assert (summary.all.instances, summary.all.mean_gap, summary.all.mean_time_s) == (0, None, None)
    (alone,) = summarise([row("a-1", RowStatus.NOT_APPLICABLE, gap=None)]).families.values()
    assert alone.median_time_s is None


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_the_mean_lies_between_the_extremes(times: list[float]) -> None:
    mean = shifted_geometric_mean(times)
    slack = 1e-9 * (1 + max(times))
    assert min(times) - slack <= mean <= max(times) + slack
    assert mean <= math.fsum(times) / len(times) + slack


@pytest.mark.parametrize("rows", [(), (row("a-1"), row("a-2"), row("b"))])
def test_the_document_fits_its_schema(rows: tuple[Row, ...]) -> None:
    report = Report(rows=rows, total=4, resumed=0)
    document = summary_document(report, Settings(gap_limit=0.1), "rows.csv")
    jsonschema.validate(document, schema("bench-summary"))
    assert document["finished"] == document["all"]["instances"] == len(rows)
    assert document["settings"]["gap_limit"] == 0.1
