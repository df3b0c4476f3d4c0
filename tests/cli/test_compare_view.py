"""What the tables of a comparison say about what is not known."""

from dataclasses import replace

import pytest

from dfopt_cli.compare_view import balanced_cell
from tests.compare.examples import window


@pytest.mark.parametrize(("closed", "shown"), [(1, "≥ 1,200"), (4, "1,200")])
def test_a_balanced_optimum_that_is_not_proven_is_a_bound(closed: int, shown: str) -> None:
    row = replace(window("50", bound=4, rolling=9), balanced=1200, balanced_closed=closed)
    assert balanced_cell(row) == shown
