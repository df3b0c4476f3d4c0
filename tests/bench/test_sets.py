import json
import os
from pathlib import Path

import pytest

from dfopt import replace
from dfopt.bench import read_set
from dfopt.errors import DfoptError, DfoptWarning
from dfopt.files import fingerprint, read_instance, write_instance
from tests.bench.conftest import PLAIN, TABLE


def index(folder: Path, *entries: object) -> Path:
    path = folder / "index.json"
    path.write_text(json.dumps({"format": "dfopt-instance-index/1", "instances": entries}))
    return path


def test_a_folder_gives_its_instances_in_the_order_of_names(folder: Path) -> None:
    (folder / ".hidden.json").write_text("{}")
    (folder / "notes.txt").write_text("nothing")
    entries = read_set(folder)
    assert [entry.instance for entry in entries] == ["plain-1", "plain-2", "table"]
    assert [entry.file for entry in entries] == [
        str(folder / name) for name in ("a.json", "b.json.gz", "c.json")
    ]
    first, _, last = entries
    assert first.sha256 == fingerprint(read_instance(folder / "a.json"))
    assert (first.tasks, first.cpus, first.fragments) == (4, 2, 3)
    assert (first.penalty, first.objective_kind) == ("g", "max-penalty")
    assert (last.penalty, last.fragments) == ("matrix", 2)


def test_an_index_gives_what_it_lists(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    write_instance(replace(TABLE, name="listed"), inner / "z.json")
    sha256 = fingerprint(read_instance(inner / "z.json"))
    path = index(folder, {"file": "inner/z.json", "sha256": sha256}, {"file": "a.json"})
    for given in (folder, path):
        assert [entry.instance for entry in read_set(given)] == ["listed", "plain-1"]


def test_an_instance_may_be_called_index(folder: Path) -> None:
    (folder / "a.json").rename(folder / "index.json")
    assert [entry.instance for entry in read_set(folder)] == ["plain-2", "table", "plain-1"]


def test_files_and_folders_may_be_mixed(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "single.json"
    write_instance(replace(PLAIN, name=None), path)
    assert [entry.instance for entry in read_set(path, folder)][:2] == ["single", "plain-1"]


def test_the_same_instance_twice_runs_once(folder: Path) -> None:
    (folder / "d.json").write_bytes((folder / "a.json").read_bytes())
    with pytest.warns(DfoptWarning, match=r"d\.json is the same instance as .*a\.json"):
        assert len(read_set(folder)) == 3


def test_a_warning_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    penalty = replace(TABLE.penalty, start=(1, 1))  # type: ignore[type-var]
    with pytest.warns(DfoptWarning):
        write_instance(replace(TABLE, penalty=penalty), path)
    with pytest.warns(DfoptWarning, match=r"table\.json: penalty\.start is given"):
        read_set(path)


def test_an_instance_is_the_one_that_was_checked(folder: Path) -> None:
    path = folder / "a.json"
    document = json.loads(path.read_text()) | {"x-mine": 1}
    path.write_text(json.dumps(document))
    (entry,) = read_set(path)
    assert entry.read() == read_instance(path)
    path.write_text(json.dumps(document | {"cpus": 1}))
    with pytest.raises(DfoptError, match=r"a\.json: has changed since the run began"):
        entry.read()


def test_what_is_no_instance_is_named(folder: Path) -> None:
    file = folder / "b2.json"
    for text, problem in {
        "{": "ends too early",
        '{"format": "dfopt-result/2"}': "holds a result",
        '{"a": 1}': "format: is missing",
        '{"format": "dfopt-instance/1", "cpus": 0, "penalty": {"kind": "g", "fill": 1, '
        '"write_back": 1}, "tasks": []}': "cpus: must be at least 1",
    }.items():
        file.write_text(text)
        with pytest.raises(DfoptError, match=problem) as raised:
            read_set(folder)
        assert raised.value.file == str(file)


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ((), "instances: is empty"),
        ((1,), r"instances\[0\]: must be an object"),
        (({"name": "a"},), r"instances\[0\]: must be an object \{…\} with the key 'file'"),
        (({"file": 1},), r"instances\[0\]\.file: must be a string"),
        (({"file": "no.json"},), "there is no such file"),
        (({"file": "a.json", "sha256": "0"},), "not the version that its index lists"),
    ],
)
def test_a_bad_index_is_named(folder: Path, entries: tuple[object, ...], problem: str) -> None:
    path = index(folder, *entries)
    with pytest.raises(DfoptError, match=problem) as raised:
        read_set(path)
    assert os.path.dirname(raised.value.file) == str(folder)


def test_there_must_be_something_to_solve(tmp_path: Path) -> None:
    with pytest.raises(DfoptError, match="set: is empty"):
        read_set()
    with pytest.raises(DfoptError, match=f"{tmp_path}: holds no file that ends in"):
        read_set(tmp_path)
    with pytest.raises(DfoptError, match=r"nowhere: there is no such file"):
        read_set(tmp_path / "nowhere")
    with pytest.raises(DfoptError, match="standard input: is read once only"):
        read_set("-")
