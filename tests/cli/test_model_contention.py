"""``dfopt model`` and ``dfopt plot`` for contention and for batches."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dfopt.files import schema
from tests.cli.conftest import Run

SHIPPED = {"contention": "sohn-kim", "batching": "debattista"}


@pytest.mark.parametrize("command", SHIPPED)
def test_documents_follow_their_schemas(run: Run, command: str) -> None:
    more = ["--check"] if command == "batching" else []
    code, out, err = run("model", command, SHIPPED[command], "--json", *more)
    assert (code, err) == (0, "")
    document = json.loads(out)
    Draft202012Validator(schema(command)).validate(document)
    assert document["format"] == f"dfopt-{command}/1"
    assert ("counted" in document) is bool(more)


def test_the_table_of_contention(run: Run) -> None:
    code, out, err = run("model", "contention", "sohn-kim")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["spinning"][1:] == ["10", "20.0%", "32.2%", "19.9%", "no"]
    assert rows["misses-own-locks"][1:] == ["10", "12.0%", "12.4%", "10.5%", "no"]
    assert "~exponential" in out
    assert "lock.holds" in out.split("~ assumed")[1]


def test_the_table_of_batches(run: Run) -> None:
    code, out, err = run("model", "batching", "debattista", "--granularity", "8")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.strip()]
    assert ["1", "1.000", "1.191", "1.463", "1.709", "1.839", "1.862"] in rows
    assert ["8", "3", "5,461", "96"] in rows
    assert any(row[:2] == ["32", "128"] for row in rows)
    assert ["miss", "[ns]", "~100"] in rows


@pytest.mark.parametrize("command", SHIPPED)
def test_formulas(run: Run, command: str) -> None:
    code, out, err = run("model", command, "--formula")
    assert (code, err) == (0, "")
    assert {"contention": "X_new = N/(R + Z)", "batching": "f = G/i + s"}[command] in out


@pytest.mark.parametrize("command", SHIPPED)
def test_names_that_are_neither(run: Run, command: str) -> None:
    wrong = SHIPPED[command].replace("i", "y")
    code, out, err = run("model", command, wrong)
    assert (code, out) == (1, "")
    assert f"did you mean '{SHIPPED[command]}'?" in err
    assert err.count("\n") == 1


def test_a_granularity_beyond_the_array(run: Run) -> None:
    code, _, err = run("model", "batching", "debattista", "--granularity", "262145")
    assert code == 2
    assert "the array has 262144 integers" in err


@pytest.mark.parametrize("command", SHIPPED)
def test_pictures(run: Run, tmp_path: Path, command: str) -> None:
    picture = tmp_path / "picture.svg"
    code, out, err = run("plot", command, SHIPPED[command], "-o", picture)
    assert (code, out, err) == (0, "", "")
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize("command", SHIPPED)
def test_a_picture_never_replaces_its_parameters(run: Run, tmp_path: Path, command: str) -> None:
    path = tmp_path / "own.svg"
    path.write_text("")
    assert run("plot", command, path, "-o", path)[0] != 0
    assert path.read_text() == ""
