import math

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.bench import Report, Row, RowStatus, Settings, summarise
from dfopt.bench.summary import BENCH_SUMMARY, bench_summary
from dfopt.files import schema
from tests.bench.test_table import ROW

LIMIT = 10.0


def row(name: str, status: RowStatus = RowStatus.OPTIMAL, **fields: object) -> Row:
    given = {"gap": 0.0, "certificate": "search", "wall_time_s": 1.0, **fields}
    return replace(ROW, instance=name, status=status, time_limit_s=LIMIT, **given)  # type: ignore[arg-type]


def test_figures_are_those_of_the_rows_of_a_method() -> None:
    figures = summarise(
        [
            row("a", certificate="contents", wall_time_s=0.0),
            row("a", method="dp"),
            row("b", RowStatus.INFEASIBLE, gap=None, certificate="", wall_time_s=3.0),
            row("c", RowStatus.FEASIBLE, gap=0.5, wall_time_s=15.0, verified="no"),
            row("d", RowStatus.NOT_APPLICABLE, gap=None, wall_time_s=99.0),
            row("a", RowStatus.ERROR, gap=None, wall_time_s=99.0, method="cp-sat"),
        ]
    )
    assert list(figures) == ["auto", "dp", "cp-sat"]
    auto = figures["auto"]
    assert (auto.runs, auto.proven, auto.certified, auto.refuted) == (4, 2, 1, 1)
    assert auto.statuses == {
        "optimal": 1, "feasible": 1, "infeasible": 1, "unknown": 0, "not-applicable": 1, "error": 0
    }  # fmt: skip
    assert (auto.mean_gap, auto.max_time_s) == (0.25, 15.0)
    assert auto.mean_time_s == pytest.approx(3.0)  # 1 · 4 · 16 = 4^3
    assert figures["cp-sat"].max_time_s == LIMIT  # what an error counts


def test_nothing_has_no_figures() -> None:
    assert not summarise([])
    (alone,) = summarise([row("a-1", RowStatus.NOT_APPLICABLE, gap=None)]).values()
    assert (alone.mean_gap, alone.max_time_s) == (None, None)


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_the_mean_lies_between_the_extremes(times: list[float]) -> None:
    rows = [row(str(number), wall_time_s=time) for number, time in enumerate(times)]
    mean = summarise(rows)["auto"].mean_time_s
    assert mean is not None
    slack = 1e-9 * (1 + max(times))
    assert min(times) - slack <= mean <= max(times) + slack
    assert mean <= math.fsum(times) / len(times) + slack


PROFILES = [
    {"method": "auto", "factors": [1, 2, 5, 10, 100], "shares": 5 * [1.0], "solved": 1.0},
    {"method": "dp", "factors": [1, 2, 5, 10, 100], "shares": [0.0] + 4 * [1.0], "solved": 1.0},
]


@pytest.mark.parametrize("rows", [(), (row("a-1"), row("a-1", method="dp", wall_time_s=2.0))])
def test_the_document_fits_its_schema(rows: tuple[Row, ...]) -> None:
    report = Report(rows=rows, total=4, resumed=0)
    found = bench_summary(report, [Settings(gap_limit=0.1)], "rows.csv")
    document = BENCH_SUMMARY.to_document(found)
    jsonschema.validate(document, schema("bench-summary"))
    assert document["finished"] == sum(each["runs"] for each in document["methods"]) == len(rows)
    assert document["settings"][0]["gap_limit"] == 0.1
    assert document.get("profiles") == (PROFILES if rows else None)
