"""Tables of a comparison, where something is not known."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from dfopt.compare.comparison import Comparison
from dfopt_cli.compare_view import balanced_cell, side_by_side
from tests.compare.examples import comparison, window


@pytest.mark.parametrize(("closed", "shown"), [(1, "≥ 1,200"), (4, "1,200")])
def test_a_balanced_optimum_that_is_not_proven_is_a_bound(closed: int, shown: str) -> None:
    row = replace(window("50", bound=4, rolling=9), balanced=1200, balanced_closed=closed)
    assert balanced_cell(row) == shown


def shown(*comparisons: Comparison) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    for part in side_by_side(comparisons):
        console.print(part)
    return console.export_text()


def test_policies_stand_side_by_side_under_their_names() -> None:
    found = shown(comparison(policy="fcfs", name="chat-fcfs"), comparison(policy="linux-o1"))
    lines = [line.split() for line in found.splitlines()]
    assert lines[0] == ["policy", "window", "realised", "bound", "ratio", "rolling", "ratio"]
    assert lines[1] == ["fcfs", "5", "12", "4", "3.00", "9", "1.33"]
    assert [
        "policy",
        "dispatches",
        "cost",
        "of",
        "each",
        "switches",
        "mainly",
        "lost",
        "to",
    ] in lines
    assert ["linux-o1", "18", "0.667", "12", "revisited", "50.0%"] in lines
    assert "traces   chat-fcfs, made by hand" in found


def test_traces_of_one_policy_are_called_by_their_names() -> None:
    found = shown(comparison(policy="fcfs", name="chat"), comparison(policy="fcfs", name="web"))
    assert found.startswith("trace ")
    assert "\nweb " in found
