"""Comparisons as JSON documents of the format ``dfopt-comparison/1``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dfopt.compare.attainable.frontier import FrontierRow, WaitingFrontier
from dfopt.compare.comparison import Comparison
from dfopt.compare.comparison_parts import Cause, CpuResult, FragmentResult, OrderKept, WindowResult
from dfopt.compare.domains.domain_pairs import DomainComparison
from dfopt.files import document_text
from dfopt.files.formats import Format
from dfopt.files.storage import write_text
from dfopt.structs import document_of

FORMAT = Format.COMPARISON

SHOWN_DIGITS = 6
"""Decimal places of ratios and shares."""


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return the document of one comparison."""
    return {"format": FORMAT, **_trace_document(comparison)}


def comparisons_document(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return the document of several comparisons side by side."""
    return {"format": FORMAT, "traces": [_trace_document(comparison) for comparison in comparisons]}


def _trace_document(comparison: Comparison) -> dict[str, Any]:
    realised = comparison.realised
    return {
        "trace": comparison.name,
        "policy": comparison.policy,
        "model": document_of(comparison.model),
        "cost_unit": comparison.cost_unit,
        "time_unit": comparison.time_unit,
        "dispatches": comparison.dispatches,
        "managed": comparison.managed,
        "realised": {
            "total": realised.total,
            "max": realised.worst,
            "switches": realised.switches,
        },
        "frontier": None if comparison.frontier is None else _frontier(comparison.frontier),
        "order_kept": _order_kept_document(comparison.order_kept),
        "service": None if comparison.service is None else document_of(comparison.service),
        "domains": None if comparison.domains is None else _domains_document(comparison.domains),
        "parallel_share": comparison.parallel_share,
        "lengths": comparison.lengths,
        **({} if comparison.assumed is None else {"assumed": str(comparison.assumed)}),
        "windows": [_window_document(window) for window in comparison.windows],
        "complete": comparison.is_complete,
        "causes": _causes_document(comparison.causes),
        "fragments": [_holder_document(fragment) for fragment in comparison.fragments],
        "cpus": [_holder_document(cpu) for cpu in comparison.cpus],
        "quality": {
            **dataclasses.asdict(comparison.quality),
            "silent_cpus": list(comparison.quality.silent_cpus),
            "unlabelled_share": round(comparison.unlabelled_share, SHOWN_DIGITS),
            "warnings": list(comparison.quality.warnings),
        },
    }


def _window_document(window: WindowResult) -> dict[str, Any]:
    return {
        **dataclasses.asdict(window),
        "ratio": rounded(window.ratio),
        "rolling_ratio": rounded(window.rolling_ratio),
        "difference": window.difference,
    }


def _domains_document(found: DomainComparison) -> dict[str, Any]:
    return {
        **dataclasses.asdict(found),
        "domains": [list(cpus) for cpus in found.domains],
        "windows": [
            {**dataclasses.asdict(window), "ratio": rounded(window.ratio)}
            for window in found.windows
        ],
    }


def _order_kept_document(found: OrderKept | None) -> dict[str, Any] | None:
    return None if found is None else {**dataclasses.asdict(found), "optimal": found.is_optimal}


def _frontier(frontier: WaitingFrontier) -> dict[str, Any]:
    return {
        "rows": [_frontier_row(row) for row in frontier.rows],
        "patience": [_frontier_row(row) for row in frontier.patience],
        "left_out": frontier.left_out,
        "unknown": frontier.unknown,
        "kept": frontier.kept,
        "warnings": list(frontier.warnings),
        "complete": frontier.is_complete,
    }


def _frontier_row(row: FrontierRow) -> dict[str, Any]:
    return {
        **{
            field.name: getattr(row, field.name)
            for field in dataclasses.fields(row)
            if field.compare
        },
        "scheduling": str(row.scheduling),
        "mean_wait": rounded(row.mean_wait),
        "with_switches": None
        if row.with_switches is None
        else {
            **dataclasses.asdict(row.with_switches),
            "mean_wait": rounded(row.mean_wait_with_switches),
        },
        "optimal": row.is_optimal,
    }


def _holder_document(holder: FragmentResult | CpuResult) -> dict[str, Any]:
    """Return the document of a fragment or a CPU."""
    document = {**dataclasses.asdict(holder), "causes": _causes_document(holder.causes)}
    for key in ("name", "comms"):
        if not document.get(key, True):
            del document[key]  # most fragments have none
    return document


def _causes_document(causes: Mapping[Cause, int]) -> dict[str, int]:
    return {str(cause): causes.get(cause, 0) for cause in Cause}


def rounded(ratio: float | None) -> float | None:
    """Return a ratio as documents have it."""
    return None if ratio is None else round(ratio, SHOWN_DIGITS)


def write_comparison(path: str | Path, comparison: Comparison) -> None:
    """Write a comparison as ``dfopt compare --json`` prints it.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    write_text(path, document_text(comparison_document(comparison)))
