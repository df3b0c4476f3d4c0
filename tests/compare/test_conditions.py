"""Conditions on the figures of comparisons."""

import operator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare.comparison import Comparison, OrderKept
from dfopt.compare.conditions import (
    COMPARISONS,
    SCHEDULE_FIGURES,
    TRACE_FIGURES,
    Measure,
    failures,
    near,
    parse_condition,
)
from dfopt.compare.document import comparison_document
from dfopt.compare.window_length import WHOLE, parse_window
from dfopt.errors import DfoptError
from dfopt.trace.service import service_of
from dfopt.trace.time_units import NANOSECONDS
from tests.compare.domains.test_domain_pairs import HALVES, TWO_ROUNDS, in_domains
from tests.compare.examples import comparison, frontier, window
from tests.trace.test_service import TWO_ON_ONE_CPU
from tests.trace.traces import SMALL

EVERYTHING = comparison(
    frontier=frontier(),
    order_kept=OrderKept(online=9, best=7, bound=7),
    service=service_of(TWO_ON_ONE_CPU),
    domains=in_domains(TWO_ROUNDS, HALVES, parse_window("4"), WHOLE),
    parallel_share=0.25,
    time_unit="ns",
)


def failed(compared: Comparison, text: str) -> list[str]:
    return list(failures(parse_condition(text), comparison_document(compared)))


@given(
    name=st.sampled_from(sorted(TRACE_FIGURES)),
    comparison=st.sampled_from(sorted(COMPARISONS)),
    number=st.decimals(-(10**12), 10**12, places=4).map(str)
    | st.integers(-(10**18), 10**18).map(str)
    | st.tuples(st.integers(0, 99), st.integers(-9, 9)).map(lambda pair: f"{pair[0]}e{pair[1]}"),
    spaces=st.lists(st.sampled_from(["", " ", "  "]), min_size=5, max_size=5),
    data=st.data(),
)
def test_what_is_written_is_read(
    name: str, comparison: str, number: str, spaces: list[str], data: st.DataObject
) -> None:
    measure = TRACE_FIGURES[name].measure
    units = ["", *measure.units]
    if measure is Measure.SHARE and Fraction(number) > 1:
        units.remove("")
    unit = data.draw(st.sampled_from(units))
    first, second, third, fourth, fifth = spaces
    text = f"{first}{name}{second}{comparison}{third}{number}{fourth}{unit}{fifth}"
    condition = parse_condition(text)
    assert (condition.name, condition.comparison, condition.unit) == (name, comparison, unit)
    assert condition.limit == Fraction(number)
    assert condition.text == text.strip()


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    | st.from_regex("[a-z.]*[<>=!]{1,3}[0-9.e-]*")
)
def test_other_texts_are_refused_in_one_short_line(text: str) -> None:
    try:
        condition = parse_condition(text)
    except DfoptError as error:
        line = str(error)
    else:
        line = condition.text
        assert condition.name in TRACE_FIGURES
    assert len(line.splitlines()) == 1
    assert len(line) < 500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no condition; write figure"),
        ("ratio", "in a shell it needs quotes"),
        ("ratio=1", "is no condition"),
        ("ratio>", "is no condition"),
        ("ratio>1,5", "is no condition"),
        ("ratio>1e999", "is no condition"),
        ("ratio>\u0661", "is no condition"),
        ("1.5<ratio", "is no condition"),
        ("ratoi>1", "'ratoi' is no figure of this comparison; did you mean ratio?"),
        ("p99>10ms", "did you mean latency.p99, wait.p99"),
        ("gap>0", "there are ratio, .*, and names that begin with realised., "),
        ("ratio>1ms", "has the unit ms, but ratio is a ratio; write it in % or without"),
        ("latency.p99>1h", "has the unit h, but latency.p99 is a time; write it in ns, us"),
        ("fairness<40", "fairness is a share, from 0 to 1; write 40% or a number up to 1"),
        ("parallel_share<9", "write 9% or"),
        ("quality.unlabelled_share>1.5", "write 1.5% or"),
        ("count>1s", "has the unit s, but count is a number; leave it out"),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(DfoptError, match=message):
        parse_condition(text)


def test_figures_of_schedules_have_near_names_too() -> None:
    assert near("Ratio", SCHEDULE_FIGURES) == "did you mean ratio?"
    assert near("xyz", SCHEDULE_FIGURES).endswith("difference, lower_bound, best")


@pytest.mark.parametrize("name", TRACE_FIGURES)
def test_every_figure_is_found(name: str) -> None:
    """A comparison that has everything meets each of two opposite conditions somewhere."""
    lines = failed(EVERYTHING, f"{name}<0") + failed(EVERYTHING, f"{name}>=0")
    assert lines
    missing = [line for line in lines if "could not be computed" in line]
    # Rows that are no limits have no bounds, and some kinds of rows the example does not have.
    assert not missing or name.startswith("frontier.")


def test_a_line_names_trace_window_figure_value_and_limit() -> None:
    compared = comparison(
        windows=(window("5", bound=8, rolling=9), window("whole", bound=4, rolling=4))
    )
    assert failed(compared, "ratio>1.5") == [
        "made by hand, window whole: ratio is 3; limit: ratio>1.5"
    ]
    assert failed(compared, "ratio >= 150 %") == [
        "made by hand, window 5: ratio is 150%; limit: ratio >= 150 %",
        "made by hand, window whole: ratio is 300%; limit: ratio >= 150 %",
    ]
    assert failed(compared, "realised.total!=12") == []


def test_a_schedule_of_the_frontier_is_asked_for_by_its_name() -> None:
    assert failed(EVERYTHING, "frontier.nobody-later.cost>0") == [
        "made by hand, nobody later: frontier.nobody-later.cost is 7 ns; "
        "limit: frontier.nobody-later.cost>0"
    ]
    # Of the rule only the row that is shown counts, not every patience that was tried.
    rows = failed(EVERYTHING, "frontier.patience.cost>7")
    assert [line.partition(":")[0] for line in rows] == ["made by hand, patience 30000"]


@pytest.mark.parametrize("limit", ["0.2", "1", "20%"])
def test_limits_of_shares_are_shares_or_percentages(limit: str) -> None:
    assert bool(failed(EVERYTHING, f"parallel_share>{limit}")) == (limit != "1")


def test_times_without_a_unit_are_in_that_of_the_trace() -> None:
    (line,) = failed(EVERYTHING, "frontier.nobody-later.p99_wait>10")
    assert line.endswith("is 175000 ns; limit: frontier.nobody-later.p99_wait>10 ns")
    (line,) = failed(EVERYTHING, "frontier.nobody-later.p99_wait>10us")
    assert line.endswith("p99_wait>10us")


@pytest.mark.parametrize("sign", COMPARISONS)
@pytest.mark.parametrize("limit", [11, 12, 13])
def test_comparisons_are_those_of_python(sign: str, limit: int) -> None:
    means = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}[sign]
    lines = failed(comparison(), f"realised.total{sign}{limit}")
    assert bool(lines) == getattr(operator, means)(12, limit)


@given(
    st.integers(0, 10**15), st.sampled_from(sorted(NANOSECONDS)), st.sampled_from(["ns", "us", "s"])
)
def test_times_are_compared_exactly_in_any_unit(limit: int, unit: str, own: str) -> None:
    document: dict[str, Any] = {
        "trace": "t", "time_unit": own, "service": {"wait": {"p99": 1_234_567}, "problem": None}
    }  # fmt: skip
    condition = parse_condition(f"wait.p99>={limit}{unit}")
    assert bool(list(failures(condition, document))) == (
        1_234_567 * NANOSECONDS[own] >= limit * NANOSECONDS[unit]
    )


def test_what_could_not_be_computed_fails_with_a_reason() -> None:
    free = comparison(windows=(window("5", bound=0, rolling=0),), service=service_of(SMALL))
    assert failed(free, "ratio>9") == [
        "made by hand, window 5: ratio could not be computed (the bound is 0); limit: ratio>9"
    ]
    assert "(the rolling schedule costs 0)" in failed(free, "rolling_ratio>9")[0]
    assert "(the trace has no wake-ups" in failed(free, "latency.p99>1ms")[0]
    assert "(only under total-penalty)" in failed(free, "order_kept.best>9")[0]
    assert "(it was not part of the comparison)" in failed(free, "domains.ratio>9")[0]
    counted = comparison(windows=(window("5", bound=2, rolling=2),), cost_unit="switches")
    assert "is in switches, which cannot be compared with ms" in failed(counted, "bound>1ms")[0]


def test_what_an_interrupt_left_out_is_not_tested() -> None:
    assert failed(comparison(windows=(), is_complete=False), "ratio>1") == []
    assert failed(comparison(windows=()), "ratio>1") != []


def test_measures_have_the_units_of_the_reference() -> None:
    assert Measure.COUNT.units == ()
    assert Measure.RATIO.units == Measure.SHARE.units == ("%",)
    assert set(Measure.TIME.units) == set(Measure.COST.units) == set(NANOSECONDS)
