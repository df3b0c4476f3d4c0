"""The instance collection: index, instances and results agree, and what is proven is true."""

import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from dfopt import Instance, Result, Status, read_instance, read_result, solve
from dfopt.files import fingerprint, read_document, read_text, schema
from dfopt.problem.certificate import Exhaustive, Proof
from dfopt.verify import verify
from dfopt_cli.app import app

FOLDER = Path(__file__).parents[1] / "instances"
INDEX = read_document(FOLDER / "index.json")
ENTRIES: list[dict[str, Any]] = INDEX["instances"]
KEYS = {
    "file", "name", "sha256", "tasks", "cpus", "objective", "status", "lower_bound",
    "upper_bound", "how", "result", "generated_by",
}  # fmt: skip
INSTANCE_FILES = {
    path.relative_to(FOLDER).as_posix()
    for path in [*FOLDER.rglob("*.json"), *FOLDER.rglob("*.json.gz")]
    if path.parent.name != "results" and path.name != "index.json"
}
RESULT_FILES = sorted([*FOLDER.glob("results/*.json"), *FOLDER.glob("results/*.json.gz")])
GENERATED = ("generated/", "benchmark/")
RECORDED = sorted(FOLDER.glob("hackbench-*.json")) + sorted(FOLDER.glob("df-workers-*.json"))

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
each_tiny_entry = pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry["tasks"] <= 8],
    ids=lambda entry: entry["file"],
)
each_argued_entry = pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry["file"].startswith("small/") and entry["upper_bound"]],
    ids=lambda entry: entry["file"],
)
each_generated_entry = pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry["file"].startswith(GENERATED)],
    ids=lambda entry: entry["file"],
)


def stem_of(file: str) -> str:
    return Path(file).name.removesuffix(".gz").removesuffix(".json")


def instance_of(entry: dict[str, Any]) -> Instance:
    return read_instance(FOLDER / entry["file"])


def result_of(entry: dict[str, Any]) -> Result:
    return read_result(FOLDER / entry["result"])


def test_index_lists_every_instance_once() -> None:
    assert INDEX["format"] == "dfopt-instance-index/1"
    files = [entry["file"] for entry in ENTRIES]
    assert len(files) == len(set(files))
    assert set(files) == INSTANCE_FILES


def test_names_are_unique() -> None:
    names = [entry["name"] for entry in ENTRIES]
    assert len(names) == len(set(names))


@each_entry
def test_instance_is_what_the_index_says(entry: dict[str, Any]) -> None:
    instance = instance_of(entry)
    assert entry.keys() == KEYS
    assert entry["name"] == instance.name == stem_of(entry["file"])
    assert entry["sha256"] == fingerprint(instance)
    assert entry["tasks"] == instance.task_count
    assert entry["cpus"] == instance.cpus
    assert entry["objective"] == instance.objective


@each_entry
def test_result_is_what_the_index_says(entry: dict[str, Any]) -> None:
    result = result_of(entry)
    assert entry["result"] == f"results/{Path(entry['file']).name}"
    assert entry["status"] == result.status != Status.UNKNOWN
    assert entry["lower_bound"] == result.lower_bound
    assert entry["upper_bound"] == result.objective
    assert entry["how"].startswith(f"{result.method}, ")


@pytest.mark.slow
@each_entry
def test_instance_fits_its_schema(entry: dict[str, Any]) -> None:
    jsonschema.validate(read_document(FOLDER / entry["file"]), schema("instance"))


@pytest.mark.slow
@pytest.mark.parametrize("path", RESULT_FILES, ids=lambda path: path.stem)
def test_result_verifies(path: Path) -> None:
    jsonschema.validate(read_document(path), schema("result"))
    result = read_result(path)
    by_digest = {entry["sha256"]: entry for entry in ENTRIES}
    found = verify(instance_of(by_digest[result.instance_sha256]), result)
    assert found.ok, found.problems
    if isinstance(result.certificate, Proof | Exhaustive):
        assert found.bound_checked


def test_every_result_is_one_of_the_index_or_a_published_schedule() -> None:
    published = {
        "results/pinter-worked-example.cpu-affinity.json",
        "results/pinter-worked-example.data-affinity.json",
    }
    files = {path.relative_to(FOLDER).as_posix() for path in RESULT_FILES}
    assert files == published | {entry["result"] for entry in ENTRIES}


@pytest.mark.parametrize(("affinity", "makespan"), [("cpu-affinity", 23), ("data-affinity", 15)])
def test_published_schedules(affinity: str, makespan: int) -> None:
    """Figures 2 and 3 of Pinter and Zalmanovici, section 2.2."""
    instance = read_instance(FOLDER / "pinter-worked-example.json")
    result = read_result(FOLDER / f"results/pinter-worked-example.{affinity}.json")
    found = verify(instance, result)
    assert found.ok, found.problems
    assert found.objective == makespan


@each_tiny_entry
def test_enumeration_confirms_the_optimum(entry: dict[str, Any]) -> None:
    result = solve(instance_of(entry), method="exhaustive")
    assert result.status == entry["status"]
    assert result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    assert result.objective == entry["lower_bound"] == entry["upper_bound"]


@each_argued_entry
def test_description_states_the_optimum(entry: dict[str, Any]) -> None:
    """A description that argues for another value than the index would mislead."""
    description = instance_of(entry).description or ""
    assert str(entry["upper_bound"]) in re.findall(r"\d+", description)


@each_entry
def test_only_small_instances_stand_among_the_small_ones(entry: dict[str, Any]) -> None:
    assert entry["tasks"] <= 8 or not entry["file"].startswith("small/")


@each_entry
def test_the_command_is_given_for_generated_instances_only(entry: dict[str, Any]) -> None:
    assert (entry["generated_by"] is not None) is entry["file"].startswith(GENERATED)


@pytest.mark.slow
@each_generated_entry
def test_the_command_gives_the_instance(entry: dict[str, Any], tmp_path: Path) -> None:
    *command, option, path = shlex.split(entry["generated_by"])
    assert command[0] == "dfopt"
    assert (option, path) == ("-o", f"instances/{entry['file']}")
    again = tmp_path / "instance.json"
    outcome = CliRunner().invoke(app, [*command[1:], "-o", str(again)])
    assert outcome.exit_code == 0, outcome.output
    assert again.read_text(encoding="utf-8") == read_text(FOLDER / entry["file"])


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_instances_are_as_they_were_recorded(path: Path, shared: Path) -> None:
    original = shared / "data" / "instances" / path.name
    assert read_document(path) == read_document(original)


def test_every_recorded_instance_is_here(shared: Path) -> None:
    originals = {path.name for path in (shared / "data" / "instances").glob("*.json")}
    assert originals == {path.name for path in RECORDED}
