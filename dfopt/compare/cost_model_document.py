"""Cost models as parts of documents, and back again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from dfopt.compare.cost_model import CostModel
from dfopt.files import penalty_from_document, penalty_to_document
from dfopt.files.fields import at, boolean, choice, fields_of, integer, optional, string
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import Objective


def model_to_document(model: CostModel) -> dict[str, Any]:
    """Return the part of a document that says under which costs something holds."""
    return {
        **{field.name: getattr(model, field.name) for field in dataclasses.fields(model)},
        "penalty": penalty_to_document(model.penalty),
        "leaves": str(model.leaves),
        "objective": str(model.objective),
    }


def model_from_document(value: object) -> CostModel:
    """Return the cost model in a part of a document.

    Raises
    ------
    FileError, InstanceError, MethodError
        With place and remedy, when the part holds no cost model.
    """
    fields = fields_of(value, tuple(READERS), required=tuple(READERS), nullable=("lines",))
    return CostModel(**{name: at(name, read, fields[name]) for name, read in READERS.items()})


def _capacity(value: object) -> int | str:
    if value in ("observed", "balanced", "unlimited"):
        return str(value)
    return integer(value)


READERS: Mapping[str, Callable[[Any], Any]] = {
    "penalty": penalty_from_document,
    "lines": optional(integer),
    "lines_by_run_time": boolean,
    "leaves": choice(Leaves),
    "objective": choice(Objective),
    "cold_start": boolean,
    "final_write_back": boolean,
    "capacity": _capacity,
    "unmanaged": string,
    "broken_chains": string,
}
"""The keys of a cost model, and what reads them."""
