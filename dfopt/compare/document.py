"""Comparisons as JSON documents of the format ``dfopt-comparison/1``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dfopt.compare.comparison import (
    Cause,
    Comparison,
    CpuResult,
    FragmentResult,
    WindowResult,
)
from dfopt.compare.cost_model import CostModel
from dfopt.files import penalty_to_document
from dfopt.files.formats import Format

FORMAT = Format.COMPARISON

SHOWN_DIGITS = 6
"""Decimal places of ratios and shares."""


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return the document that describes how one trace compares with the best possible."""
    return {"format": FORMAT, **_trace(comparison)}


def comparisons_document(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return the document that describes several traces side by side."""
    return {"format": FORMAT, "traces": [_trace(comparison) for comparison in comparisons]}


def _trace(comparison: Comparison) -> dict[str, Any]:
    realised = comparison.realised
    return {
        "trace": comparison.name,
        "policy": comparison.policy,
        "model": _model(comparison.model),
        "cost_unit": comparison.cost_unit,
        "time_unit": comparison.time_unit,
        "dispatches": comparison.dispatches,
        "managed": comparison.managed,
        "realised": {
            "total": realised.total,
            "max": realised.worst,
            "switches": realised.switches,
        },
        "windows": [_window(window) for window in comparison.windows],
        "complete": comparison.is_complete,
        "causes": _causes(comparison.causes),
        "fragments": [_holder(fragment) for fragment in comparison.fragments],
        "cpus": [_holder(cpu) for cpu in comparison.cpus],
        "quality": {
            **dataclasses.asdict(comparison.quality),
            "silent_cpus": list(comparison.quality.silent_cpus),
            "unlabelled_share": round(comparison.unlabelled_share, SHOWN_DIGITS),
            "warnings": list(comparison.quality.warnings),
        },
    }


def _model(model: CostModel) -> dict[str, Any]:
    return {
        **{field.name: getattr(model, field.name) for field in dataclasses.fields(model)},
        "penalty": penalty_to_document(model.penalty),
        "leaves": str(model.leaves),
        "objective": str(model.objective),
    }


def _window(window: WindowResult) -> dict[str, Any]:
    return {
        **dataclasses.asdict(window),
        "ratio": rounded(window.ratio),
        "rolling_ratio": rounded(window.rolling_ratio),
        "difference": window.difference,
    }


def _holder(holder: FragmentResult | CpuResult) -> dict[str, Any]:
    """Return what a fragment or a CPU did and paid."""
    return {**dataclasses.asdict(holder), "causes": _causes(holder.causes)}


def _causes(causes: Mapping[Cause, int]) -> dict[str, int]:
    return {str(cause): causes.get(cause, 0) for cause in Cause}


def rounded(ratio: float | None) -> float | None:
    """Return a ratio as documents have it."""
    return None if ratio is None else round(ratio, SHOWN_DIGITS)
