"""``dfopt info``."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dfopt import replace
from dfopt.files import fingerprint, schema, write_instance
from dfopt.generate import matrix, zipf
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyG
from tests.cli.conftest import Run
from tests.plot.worked_example import INSTANCE


def figures(out: str) -> dict[str, str]:
    """Take the upper table apart."""
    rows = [line for line in out.partition("\n\n")[0].splitlines() if not line.startswith(" ")]
    return dict(re.split(" {2,}", row, maxsplit=1) for row in rows)


def test_worked_example(run: Run, instance_file: Path) -> None:
    code, out, err = run("info", instance_file)
    assert (code, err) == (0, "")
    assert figures(out) == {
        "name": "worked-example",
        "sha256": fingerprint(INSTANCE),
        "objective": "makespan",
        "penalty": "f: read_line 1, write_back 4",
        "flags": "cold_start, final_write_back",
        "CPUs": "2",
        "capacity": "balanced, at most 3 tasks a CPU",
        "feasible": "yes",
        "initial": "all caches empty",
        "tasks": "5",
        "task types": "5; tasks of one type cost the same",
        "leaves": "clean 1 (20%), dirty 4 (80%), invalidated 0 (0%)",
        "exec": "5 in all",
        "after": "4 tasks wait for others",
    }
    assert out.partition("\n\n")[2].splitlines() == [
        "2 fragments",
        "fragment  tasks  share",
        "DF1           3  60.0%",
        "DF2           2  40.0%",
    ]


def test_json_says_the_same(run: Run, instance_file: Path) -> None:
    code, out, err = run("info", instance_file, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "format": "dfopt-info/1",
        "kind": "instance",
        "name": "worked-example",
        "description": None,
        "source": None,
        "time_unit": None,
        "sha256": fingerprint(INSTANCE),
        "objective": "makespan",
        "penalty": {"kind": "f", "read_line": 1, "write_back": 4},
        "cold_start": True,
        "final_write_back": True,
        "cpus": 2,
        "capacity": "balanced",
        "tasks_per_cpu": 3,
        "feasible": True,
        "missing_capacity": 0,
        "sizes": None,
        "initial": [None, None],
        "tasks": 5,
        "task_types": 5,
        "leaves": {"clean": 1, "dirty": 4, "invalidated": 0},
        "exec": 5,
        "released": 0,
        "waiting": 4,
        "fragments": [
            {"df": "DF1", "tasks": 3, "share": 0.6},
            {"df": "DF2", "tasks": 2, "share": 0.4},
        ],
        "types": None,
    }


def shown(run: Run, tmp_path: Path, instance: Instance) -> str:
    path = tmp_path / "shown.json"
    write_instance(instance, path)
    code, out, err = run("info", path)
    assert (code, err) == (0, "")
    return out


def test_the_digest_is_that_of_the_document_as_given(run: Run, instance_file: Path) -> None:
    document = json.loads(instance_file.read_text())
    instance_file.write_text(json.dumps({**document, "x-note": "kept"}))
    _, out, _ = run("info", instance_file, "--json")
    assert json.loads(out)["sha256"] != fingerprint(INSTANCE)


def test_what_is_missing_is_told(run: Run, tmp_path: Path) -> None:
    out = shown(run, tmp_path, replace(INSTANCE, capacity=2))
    assert figures(out)["capacity"] == "at most 2 tasks a CPU"
    assert figures(out)["feasible"].startswith("no, there is no room for 1 of 5 tasks; raise")


def test_a_table_is_shown_by_its_types(run: Run, tmp_path: Path) -> None:
    instance = matrix(tasks=6, cpus=2, types=2, largest=7, cold_start=True, seed=1)
    out = shown(run, tmp_path, instance)
    assert "matrix: types 2, largest_switch" in figures(out)["penalty"]
    assert figures(out)["penalty"].endswith("start given, finish none")
    assert "leaves" not in figures(out)
    assert "2 types" in out


def test_copies_count(run: Run, tmp_path: Path) -> None:
    tasks = (replace(INSTANCE.tasks[0], count=7),)
    out = shown(run, tmp_path, replace(INSTANCE, tasks=tasks))
    assert figures(out)["tasks"] == "7"
    assert out.endswith("1 fragment\nfragment  tasks   share\nDF1           7  100.0%\n")


def test_many_fragments_are_cut_short(run: Run, tmp_path: Path) -> None:
    out = shown(run, tmp_path, zipf(tasks=30, cpus=2, fragments=12, skew=0))
    rows = out.partition("\n\n")[2].splitlines()
    assert len(rows) == 13
    assert rows[0].startswith("12 fragments")
    assert rows[-1].startswith("and 2 more")
    assert sum(int(row.split()[-2]) for row in rows[2:]) == 30


def test_initial_caches_are_shown(run: Run, tmp_path: Path) -> None:
    states = (None, CacheState(df="DF1", leaves=Leaves.DIRTY))
    out = shown(run, tmp_path, replace(INSTANCE, initial=states))
    assert figures(out)["initial"] == "CPU 1: DF1 dirty; others empty"


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("result", "holds a result (dfopt-result/2), for 'dfopt verify' and"),
        ("comparison", "holds a comparison (dfopt-comparison/1), for 'dfopt report' and"),
        ("scenario", "holds a scenario (dfopt-scenario/1), for 'dfopt simulate run-queue'; 'dfopt"),
        ("thread-graph", "holds a thread graph (dfopt-thread-graph/1); 'dfopt info' shows"),
        ("info", "holds a summary of a file (dfopt-info/1); 'dfopt info' shows instances and"),
    ],
)
def test_what_is_shown_elsewhere(run: Run, tmp_path: Path, kind: str, problem: str) -> None:
    path = tmp_path / "file.json"
    text = (
        f'format = "dfopt-{kind}/1"'
        if kind == "scenario"
        else json.dumps({"format": f"dfopt-{kind}/1"})
    )
    path.write_text(text)
    code, out, err = run("info", path)
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {path}: {problem}")


def test_no_tasks_at_all(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    write_instance(Instance(cpus=1, penalty=PenaltyG(fill=1, write_back=1)), path)
    code, out, err = run("info", path)
    assert code == 0
    assert figures(out)["tasks"] == "0"
    assert (
        err == f"dfopt: {path}: warning: there are no tasks to schedule; add some under 'tasks'\n"
    )


def test_names_are_printed_as_they_are(run: Run, tmp_path: Path) -> None:
    out = shown(run, tmp_path, replace(INSTANCE, name="[red] :smile: a"))
    assert figures(out)["name"] == "[red] :smile: a"


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_lines_fit_the_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out = shown(run, tmp_path, zipf(tasks=30, cpus=2, fragments=12))
    assert all(len(line) <= int(columns) for line in out.splitlines())
    assert all(line == line.rstrip() for line in out.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    [
        INSTANCE,
        replace(INSTANCE, capacity=2),
        replace(INSTANCE, initial=(CacheState(df="DF1", leaves=Leaves.DIRTY), None)),
        zipf(tasks=9, cpus=3, fragments=3, seed=1),
        matrix(tasks=6, cpus=2, types=2, largest=7, cold_start=True, seed=1),
    ],
)
def test_the_document_has_the_published_form(run: Run, tmp_path: Path, instance: Instance) -> None:
    path = tmp_path / "instance.json"
    write_instance(instance, path)
    code, out, _ = run("info", path, "--json")
    assert code == 0
    validator = Draft202012Validator(schema("info"))
    document = json.loads(out)
    validator.validate(document)
    for key in document:
        assert not validator.is_valid({k: v for k, v in document.items() if k != key}), key
        assert not validator.is_valid({**document, key: [["no"]]}), key
