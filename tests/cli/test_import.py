"""``dfopt import``."""

import json
from pathlib import Path

import pytest

from dfopt import read_instance
from dfopt.files.imported import import_instance
from tests.cli.conftest import Run
from tests.files.imported.written import saved, task_graph, tsplib

TOUR = tsplib([[0, 1, 2], [3, 0, 4], [5, 6, 0]], name="three")
GRAPH = task_graph([2, 3], [[], [1]])


def test_one_file_goes_to_a_file_or_to_standard_output(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path, TOUR, "three.atsp")
    output = tmp_path / "three.json"
    assert run("import", path, "-o", output) == (0, "", "")
    assert read_instance(output) == import_instance(path)
    code, shown, _ = run("import", path)
    assert (code, json.loads(shown)["name"]) == (0, "three")


def test_the_number_of_cpus_is_an_option(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path, GRAPH, "g.stg")
    assert run("import", path)[2].endswith("does not say how many CPUs there are; give --cpus\n")
    output = tmp_path / "g.json"
    assert run("import", path, "--cpus", "3", "-o", output)[0] == 0
    assert read_instance(output).cpus == 3


def test_several_files_go_to_a_folder_past_those_that_are_wrong(run: Run, tmp_path: Path) -> None:
    good, bad = saved(tmp_path, TOUR, "a.atsp"), saved(tmp_path, "?", "b.atsp")
    also_good = saved(tmp_path, TOUR, "c.atsp")
    folder = tmp_path / "out"
    code, _, errors = run("import", good, bad, also_good, "-o", folder)
    assert (code, errors.count("\n"), "b.atsp: line 1: is of no known" in errors) == (1, 1, True)
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "c.json"]
    assert run("import", good, "-o", folder)[0] == 0


def test_several_files_need_a_folder_and_names_of_their_own(run: Run, tmp_path: Path) -> None:
    first, second = saved(tmp_path, TOUR, "a.atsp"), saved(tmp_path, TOUR, "a.txt")
    assert run("import", first, second)[0] == 2
    code, _, error = run("import", first, second, "-o", tmp_path / "out")
    assert (code, "would have the same name" in error) == (1, True)


@pytest.mark.parametrize("names", [["a.json"], ["a", "a.json"]])
def test_what_is_read_is_not_written_over(run: Run, tmp_path: Path, names: list[str]) -> None:
    paths = [saved(tmp_path, TOUR, name) for name in names]
    output = paths[0] if len(names) == 1 else tmp_path
    code, _, error = run("import", *paths, "-o", output)
    assert (code, "is what is read from" in error) == (1, True)
    assert [path.read_text() for path in paths] == [TOUR] * len(names)
