"""Conditions on the figures of comparisons."""

import operator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare.conditions import COMPARISONS, failures, parse_condition
from dfopt.errors import DfoptError
from dfopt.time_units import NANOSECONDS

DOCUMENT: dict[str, Any] = {
    "trace": "t",
    "time_unit": "ns",
    "cost_unit": "switches",
    "realised": {"total": 12, "max": 7},
    "order_kept": None,
    "windows": [
        {"window": "5", "ratio": 1.5, "bound": 8},
        {"window": "whole", "ratio": 3, "bound": None},
    ],
    "frontier": {"rows": [{"scheduling": "nobody later", "cost": 7, "mean_wait": 2_500_000}]},
    "parallel_share": 0.25,
    "complete": True,
}


def failed(text: str, document: dict[str, Any] = DOCUMENT) -> list[str]:
    return [line.partition(";")[0] for line in failures(parse_condition(text), document)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("realised.total>11", ["t: realised.total is 12"]),
        ("realised.total>12", []),
        ("realised.*>0", ["t: realised.total is 12", "t: realised.max is 7"]),
        ("windows.*.ratio>1.5", ["t: windows.whole.ratio is 3"]),
        ("windows.5.ratio >= 150 %", ["t: windows.5.ratio is 150%"]),
        ("windows.1.ratio>2", ["t: windows.whole.ratio is 3"]),
        ("windows.*.bound>9", ["t: windows.whole.bound could not be computed"]),
        ("order_kept.best>9", ["t: order_kept could not be computed"]),
        ("frontier.rows.nobody later.cost>6", ["t: frontier.rows.nobody later.cost is 7"]),
        (
            "frontier.rows.*.mean_wait>2ms",
            ["t: frontier.rows.nobody later.mean_wait is 2.5ms"],
        ),
        ("frontier.rows.*.mean_wait>3ms", []),
        ("parallel_share>20%", ["t: parallel_share is 25%"]),
        ("complete==1", ["t: complete is 1"]),
    ],
)
def test_figures_are_found_by_their_keys(text: str, lines: list[str]) -> None:
    assert failed(text) == lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no condition; write path"),
        ("realised.total", "in a shell it needs quotes"),
        ("ratio=1", "is no condition"),
        ("ratio>", "is no condition"),
        ("ratio>1,5", "is no condition"),
        ("ratio>1h", "is no condition"),
        ("ratio>1e999", "is no condition"),
        ("ratio>\u0661", "is no condition"),
        ("realised.totl>1", "'realised.totl' leads to no figure; realised has total, max; did you"),
        ("realised>1", "realised has total, max$"),
        ("realised.total.x>1", "realised.total has no entries"),
        ("windows.2.ratio>1", "windows has 5, whole$"),
        ("ratio>1", "the document has trace, time_unit, "),
        ("trace>1", "'trace' leads to no figure"),
        ("realised.total>1ms", "but realised.total is in switches; leave the unit out"),
        ("frontier.rows.nobody later.cost>1ms", "cost is in switches"),
        ("windows.*.ratio>1ms", "ratio has none"),
        ("parallel_share>1us", "parallel_share has none"),
        (f"windows.{'9' * 5000}.ratio>1", "leads to no figure"),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(DfoptError, match=message):
        failed(text)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    | st.from_regex("[a-z.*]*[<>=!]{1,3}[0-9.e-]*")
)
def test_whatever_is_written_is_answered_in_short_lines(text: str) -> None:
    try:
        lines = failed(text)
    except DfoptError as error:
        lines = [str(error)]
    assert all(len(line.splitlines()) == 1 and len(line) < 500 for line in lines)


@pytest.mark.parametrize("sign", COMPARISONS)
@pytest.mark.parametrize("limit", [11, 12, 13])
def test_comparisons_are_those_of_python(sign: str, limit: int) -> None:
    means = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}[sign]
    assert bool(failed(f"realised.total{sign}{limit}")) == getattr(operator, means)(12, limit)


@given(
    st.decimals(0, 10**15, places=3), st.sampled_from(sorted(NANOSECONDS)), st.sampled_from("us")
)
def test_times_are_compared_exactly_in_any_unit(limit: Any, unit: str, own: str) -> None:
    own = {"u": "us", "s": "s"}[own]
    document = {"trace": "t", "time_unit": own, "service": {"wait": {"p99": 1_234_567}}}
    assert bool(failed(f"service.wait.p99>={limit}{unit}", document)) == (
        1_234_567 * NANOSECONDS[own] >= Fraction(limit) * NANOSECONDS[unit]
    )
