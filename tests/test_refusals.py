"""Every wrong value of every document is refused where it stands: a table made from the types."""

import copy
import functools
import operator
import tomllib
import warnings
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from dfopt.errors import DfoptError, DfoptWarning
from dfopt.files import instance_from_document, read_document, result_from_document
from dfopt.files.documents import DocumentType
from dfopt.files.strict import shown_place
from dfopt.simulate.scenario_document import SCENARIOS
from dfopt_models.measure.machine import MACHINES
from dfopt_models.model import MODELS, model_named
from dfopt_models.space_sharing.mix import MIXES
from dfopt_models.space_sharing.structures import GRAPHS
from tests.files.examples import INSTANCE, MATRIX_INSTANCE, RESULT

DOCS = Path(__file__).parents[1] / "docs" / "examples"

Path_ = tuple[str | int, ...]


def read_model(document: DocumentType[Any]) -> Any:
    return lambda values: document.read_parsed({"name": "model"} | values)


def examples() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield the name of each example, its reader and the document."""
    yield "instance", instance_from_document, INSTANCE
    yield "instance with a matrix", instance_from_document, MATRIX_INSTANCE
    yield "result", result_from_document, RESULT
    yield "thread graph", GRAPHS.from_document, read_document(DOCS / "two-stages.json")
    machine = {"format": "dfopt-machine/1", "time_unit": "ps"}
    machine |= {"read_line": 3000, "write_back": 5, "lines": 7}
    yield "machine", MACHINES.from_document, machine
    for name in MODELS:
        model = model_named(name)
        if name != "crossover":  # its parameters are those of response times
            shipped = sorted(model.shipped())[0]
            yield shipped, read_model(model.parameters), shipped_document(shipped)
    for based, name in ((MIXES, "symmetry"), (SCENARIOS, "chat")):
        ((_, document),) = based.layers(name)
        if based is MIXES:
            document = document | {"job": [{"application": "MVA", "copies": 2}]}
        yield name, functools.partial(made, based), document


def made(based: Any, document: dict[str, Any]) -> Any:
    return based.made([("a file", document)], lambda value: value)


def shipped_document(name: str) -> dict[str, Any]:
    folder = resources.files("dfopt_models") / "parameters"
    return tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))


EXAMPLES = {name: (read, document) for name, read, document in examples()}


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if not (isinstance(key, str) and (key.startswith("x-") or key in FREE)):
            yield (*path, key)
            if isinstance(inner, dict | list):
                yield from places(inner, (*path, key))


FREE = ("format", "versions", "parameters", "policy", "affinity")
"""Keys under which anything may stand, or what another test is about."""


def wrong_value(value: object) -> object:
    """Return a value that no key with this value may have."""
    if isinstance(value, bool | dict | list) or value is None:
        return -1.5
    return [True] if isinstance(value, int | float) else {"a": [1]}


def problem_of(read: Any, document: dict[str, Any]) -> DfoptError | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DfoptWarning)
        try:
            read(document)
        except DfoptError as error:
            return error
    return None


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_wrong_value_is_refused_at_its_place(name: str) -> None:
    read, document = EXAMPLES[name]
    assert problem_of(read, copy.deepcopy(document)) is None
    found = list(places(document))
    assert found
    for path in found:
        changed = copy.deepcopy(document)
        holder = functools.reduce(operator.getitem, path[:-1], changed)
        holder[path[-1]] = wrong_value(holder[path[-1]])
        error = problem_of(read, changed)
        assert error is not None, path
        assert error.place.startswith(shown_place(path)), (path, str(error))
        assert "\n" not in str(error)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_unknown_key_is_refused_at_its_place_unless_it_is_ones_own(name: str) -> None:
    read, document = EXAMPLES[name]
    objects = [()] + [
        path
        for path in places(document)
        if isinstance(functools.reduce(operator.getitem, path, document), dict)
    ]
    for path in objects:
        changed = copy.deepcopy(document)
        holder = functools.reduce(operator.getitem, path, changed)
        holder["x-own"] = {"anything": [None]}
        assert problem_of(read, copy.deepcopy(changed)) is None, path
        holder["zzqq"] = 1
        error = problem_of(read, changed)
        assert error is not None, path
        assert shown_place((*path, "zzqq")) == error.place or path[-1:] == ("application",)
