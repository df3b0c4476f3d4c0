"""Comparisons as data frames."""

from typing import Any, get_args

import pytest

from dfopt.compare.comparison import FramePart
from dfopt.compare.comparison_parts import Cause
from dfopt.compare.written_times import WHOLE
from dfopt.errors import MethodError
from dfopt.trace.service import service_of
from tests.compare.domains.test_domain_pairs import HALVES, TWO_ROUNDS, in_domains
from tests.compare.examples import comparison, frontier
from tests.trace.test_service import TWO_ON_ONE_CPU

pandas = pytest.importorskip("pandas")
COMPARED = comparison(
    frontier=frontier(),
    service=service_of(TWO_ON_ONE_CPU),
    cost_unit="switches",
    policy="fcfs",
    domains=in_domains(TWO_ROUNDS, HALVES, WHOLE),
)


def frame(part: FramePart) -> Any:
    return COMPARED.to_frame(part, library="pandas")


@pytest.mark.parametrize("part", get_args(FramePart))
def test_every_part_is_tidy(part: FramePart) -> None:
    table = frame(part)
    assert list(table.columns[:2]) == ["trace", "policy"]
    assert set(table["trace"]) == {"made by hand"}
    assert set(table["policy"]) == {"fcfs"}
    assert table.columns.is_unique
    assert len(table.columns) == len(COMPARED.table(part).columns) + 2
    together = pandas.concat([table, table])
    assert len(together) == 2 * len(table) > 0


def test_windows() -> None:
    table = COMPARED.to_frame().set_index("window")
    assert list(table.index) == ["5", "whole"]
    assert table.loc["5", "bound_switches"] == 4
    assert table.loc["5", "ratio"] == 3
    assert table.loc["whole", "difference_switches"] == 8


def test_causes_add_up() -> None:
    table = frame("causes")
    assert set(table["cause"]) == set(map(str, Cause))
    assert table["cost_switches"].sum() == COMPARED.realised.total


def test_a_trace_is_one_row() -> None:
    (row,) = frame("trace").to_dict("records")
    assert COMPARED.service is not None
    assert COMPARED.service.wakeup_latency is not None
    assert row["latency_p99_ns"] == COMPARED.service.wakeup_latency.p99
    assert COMPARED.service.response is not None
    assert row["response_p99_ns"] == COMPARED.service.response.p99
    assert row["fairness"] == COMPARED.service.fairness
    assert row["realised_max_switches"] == 7
    (bare,) = comparison().to_frame("trace").to_dict("records")
    assert pandas.isna(bare["latency_p99_ns"])


def test_the_frontier_has_its_rows_and_those_of_the_rule() -> None:
    table = frame("frontier")
    shown = frontier()
    assert len(table) == len(shown.rows) + len(shown.patience)
    assert list(table["scheduling"][:2]) == ["recorded", "same timeline"]
    assert table["bound_switches"].dtype == "Int64"
    assert len(comparison().to_frame("frontier")) == 0


def test_a_part_that_there_is_not() -> None:
    with pytest.raises(MethodError, match="'window' is no part of a comparison; name one of wind"):
        COMPARED.to_frame("window")  # type: ignore[arg-type]


def test_units_of_costs_and_times() -> None:
    def names(part: FramePart, cost_unit: str, time_unit: str | None) -> list[str]:
        compared = comparison(cost_unit=cost_unit, time_unit=time_unit, frontier=frontier())
        return list(compared.to_frame(part, library="pandas").columns)

    assert {"cost_us", "run_time_us"} < set(names("cpus", "us", "us"))
    assert "run_time" in names("cpus", "switches", None)
    assert names("frontier", "switches", "ns")[2:] == [
        "schedule", "scheduling", "wait_ns", "patience_ns", "cost_switches", "bound_switches",
        "bound_with_lengths_switches", "is_optimal", "dispatches", "total_wait_ns", "mean_wait_ns",
        "p99_wait_ns", "parallel",
    ]  # fmt: skip
    in_time = [name for name in names("trace", "switches", "ns") if "_ns" in name]
    assert in_time == [
        f"{wait}_{figure}_ns"
        for wait in ("latency", "wait", "response")
        for figure in ("mean", "p50", "p99", "longest")
        if (wait, figure) not in {("wait", "p50"), ("response", "p50")}
    ]
