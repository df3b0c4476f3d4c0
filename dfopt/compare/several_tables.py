"""Tables of several comparisons, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dfopt.compare.attainable.frontier import Scheduling
from dfopt.compare.comparison import ATTAINABLE, Comparison, policies_of
from dfopt.compare.cost_model import cost_words, unmanaged_words
from dfopt.compare.part_tables import DOMAINS, PARALLEL, SCHEDULES, SERVICE, left_out
from dfopt.table import Table, side_by_side

OUTCOME = (
    f"attainable: the cost that was found for '{Scheduling.NOBODY_LATER}' "
    f"({SCHEDULES[Scheduling.NOBODY_LATER]}), or without wake-ups for "
    f"'{Scheduling.SAME_TIMELINE}'; nothing below the next column is possible then, with lengths "
    "as recorded, and what lies between the two is open",
    "by a rule: it does not know what arrives later, and lets single dispatches wait longer",
)

LOST = ("managed", "cost of each", "switches", "parallel", "mainly lost to", "write-back")
SERVED = ("realised total", "latency p50", "latency p99", "wait mean", "fairness", "migrations")
"""The columns that stand side by side, of those that describe a trace."""


def comparison_tables(
    comparisons: Sequence[Comparison], *, with_windows: bool = False, verbose: bool = False
) -> list[Table]:
    """Return what comparisons say: one by itself, or a row for each of several.

    Where each trace names another policy they are called by these, and costs for each dispatch
    let runs of different length compare.

    Parameters
    ----------
    comparisons
        The comparisons.
    with_windows, verbose
        As for :meth:`Comparison.tables`.
    """
    if len(comparisons) == 1:
        return comparisons[0].tables(with_windows=with_windows, verbose=verbose)
    policies = policies_of(comparisons)
    names = policies or [one.name for one in comparisons]
    called = "trace" if policies is None else "policy"
    if not all(one.known_frontier.rows for one in comparisons):
        with_windows = True
    found = [
        _rows(
            one,
            with_outcome=any(each.frontier for each in comparisons),
            with_windows=with_windows,
            verbose=verbose,
        )
        for one in comparisons
    ]
    tables = [
        table
        for of_each in zip(*found, strict=True)
        for table in side_by_side(names, of_each, called)
    ]
    if policies is not None:
        said = "traces: " + ", ".join(one.name for one in comparisons)
        tables.append(Table("", notes=[said]))
    return tables


def _rows(one: Comparison, *, with_outcome: bool, with_windows: bool, verbose: bool) -> list[Table]:
    """Return the rows of a comparison in each table; a table without rows is left out."""
    outcome, summary = one.outcome(), one.table("trace")
    attainable = one.attainable(*ATTAINABLE[:-1], verbose=verbose)
    possible = one.possible(verbose=verbose)
    service = one.service
    said = [] if service is None else [*SERVICE]
    if service is not None and service.problem is not None:
        said.append(f"–: {service.problem}")
    return [
        replace(
            outcome,
            title="What was paid, and what was attainable",
            rows=outcome.rows if with_outcome else (),
            notes=[*OUTCOME, *left_out(one.known_frontier)],
        ),
        replace(attainable, rows=attainable.rows if verbose else ()),
        replace(possible, rows=possible.rows if with_windows else ()),
        replace(one.table("domains"), notes=DOMAINS if verbose else ()),
        replace(summary.only(*LOST), title="What it was lost to", notes=_model_notes(one)),
        replace(summary.only(*SERVED), title="How tasks were served", notes=said),
    ]


def _model_notes(one: Comparison) -> list[str]:
    unit = f", in {one.cost_unit}" if one.cost_unit else ""
    said = [f"costs: {cost_words(one.model)}; {one.model.objective}{unit}"]
    if one.unlabelled_share:
        said.append(f"caches: {unmanaged_words(one.model, one.unlabelled_share)}")
    return [*said, *([] if one.parallel_share is None else [PARALLEL])]
