"""Published bounds beside rows."""

import itertools
from pathlib import Path

import pytest

from dfopt import replace
from dfopt.bench import (
    PublishedBounds,
    RowStatus,
    Verdict,
    judged,
    read_published,
    verdict_counts,
)
from dfopt.errors import FileError
from tests.bench.test_table import ROW

RANGE = (None, *range(5))


def verdict(ours: tuple[int | None, int | None], theirs: tuple[int | None, int | None]) -> Verdict:
    row = replace(ROW, lower_bound=ours[0], objective=ours[1], status=RowStatus.FEASIBLE)
    (found,) = judged([row], {row.instance: PublishedBounds(lower=theirs[0], upper=theirs[1])})
    return found.verdict


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ((7, 7), (7, 7), "confirmed"),
        ((7, 7), (None, 9), "confirmed"),
        ((7, 7), (6, None), "confirmed"),
        ((0, 9), (None, 9), "confirmed"),
        ((5, 7), (5, 7), "confirmed"),
        ((7, 7), (6, 8), "sharper"),
        ((6, 9), (5, 8), "sharper"),
        ((0, 7), (5, 8), "sharper"),
        ((5, 7), (7, 7), "within"),
        ((5, 9), (6, 8), "within"),
        ((0, 9), (None, 8), "within"),
        ((5, None), (7, 7), "within"),
        ((8, 9), (7, 7), "contradiction"),
        ((5, 6), (7, 7), "contradiction"),
        ((8, None), (None, 7), "contradiction"),
        ((0, 5), (6, None), "contradiction"),
        ((None, None), (6, 8), "no-result"),
    ],
)
def test_verdicts(
    ours: tuple[int | None, int | None], theirs: tuple[int | None, int | None], expected: str
) -> None:
    assert verdict(ours, theirs) == expected


def test_a_contradiction_is_exactly_what_leaves_no_optimum() -> None:
    for lower, upper, bound, objective in itertools.product(RANGE, repeat=4):
        sane = all(
            low is None or high is None or low <= high
            for low, high in ((lower, upper), (bound, objective))
        )
        if not sane or (lower is None and upper is None) or (bound is None and objective is None):
            continue
        possible = any(
            (low is None or low <= optimum) and (high is None or optimum <= high)
            for optimum in range(6)
            for low, high in [(max(filter(None, (lower, bound, 0)), default=0),
                               min((x for x in (upper, objective) if x is not None), default=5))]
        )  # fmt: skip
        found = verdict((bound, objective), (lower, upper))
        assert (found is Verdict.CONTRADICTION) == (not possible)


def test_what_was_published_as_possible_is_not_infeasible() -> None:
    row = replace(ROW, lower_bound=None, objective=None, status=RowStatus.INFEASIBLE)
    for upper, expected in ((2, Verdict.CONTRADICTION), (None, Verdict.CONFIRMED)):
        (found,) = judged([row], {row.instance: PublishedBounds(lower=1, upper=upper)})
        assert found.verdict is expected


def test_only_rows_with_published_bounds_are_judged() -> None:
    rows = [replace(ROW, instance=name, lower_bound=3, objective=3) for name in "abc"]
    found = judged(rows, {"b": PublishedBounds(lower=3, upper=3)})
    assert [(item.row.instance, item.verdict) for item in found] == [("b", Verdict.CONFIRMED)]
    assert verdict_counts(found)["confirmed"] == 1


def test_a_table_is_read_whatever_the_order_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text('upper,source,instance,lower\n5,"a, b",x,3\n\n,c,y,4\n9,d,z,\n')
    assert read_published(path) == {
        "x": PublishedBounds(lower=3, upper=5),
        "y": PublishedBounds(lower=4, upper=None),
        "z": PublishedBounds(lower=None, upper=9),
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no rows; its first line names the columns, such as instance,lower,upper"),
        ("instance,lower\nx,1\n", "line 1: has no column 'upper'; there are instance, lower"),
        ("instance,lower,upper\nx,1\n", "line 2: has 2 values, but there are 3 columns"),
        ("instance,lower,upper\nx,,\n", "line 2: has neither lower nor upper"),
        ("instance,lower,upper\nx,5,4\n", "line 2: lower 5 is more than upper 4"),
        ("instance,lower,upper\nx,1,1\nx,1,1\n", "line 3: 'x' is there twice"),
        ("instance,lower,upper\nx,1.5,2\n", "line 2: lower is '1.5', no integer"),
        ("instance,lower,upper\nx,1,-2\n", "line 2: upper is '-2', no integer"),
        (f"instance,lower,upper\nx,1,{'9' * 5000}\n", "line 2: upper is '999"),
        ('instance,lower,upper\n"x,1,2\n', "is no CSV"),
        ("\0", "is a binary file"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        read_published(path)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
