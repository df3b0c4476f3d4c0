"""``dfopt measure``, without the real clock, and ``--machine`` of the commands about traces."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.models.measure.test_machine import TEXT, SimulatedMemory


class QuietMemory(SimulatedMemory):
    """The simulated caches in the place of the machine at hand."""

    def __init__(self, seed: int) -> None:
        super().__init__(miss=80.0 + seed)

    def close(self) -> None:
        pass


class BusyMemory(QuietMemory):
    """The same, and every second pass is interrupted."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._interrupted = 2


def test_a_quiet_machine(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt_models.measure.this_machine.ThisMachine", QuietMemory)
    output = tmp_path / "machine.toml"
    code, out, err = run("measure", "machine", "--lines", "64", "--passes", "3", "-o", output)
    assert code == 0
    assert err.count("0% of the passes rejected") == 3
    rows = [line.split() for line in out.splitlines()]
    assert ["moved", "random", "81.00", "80.00", "to", "80.00", "80.00,", "81.00,", "82.00"] in rows
    assert "read_line = 81000" in output.read_text()


def test_a_busy_machine(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt_models.measure.this_machine.ThisMachine", BusyMemory)
    output = tmp_path / "machine.toml"
    code, out, err = run("measure", "machine", "--lines", "64", "-o", output)
    assert (code, out) == (1, "")
    assert "more than half; measure when the machine is quieter" in err
    assert not output.exists()


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "machine.toml"
    path.write_text(TEXT)
    return path


def trace(path: Path, unit: str) -> Path:
    header = {"format": "dfopt-trace/1", "cpus": 1, "time_unit": unit}
    rows = [
        {"cpu": 0, "task": df, "df": df, "start": start, "end": start + 10}
        for start, df in ((0, "a"), (10, "b"))
    ]
    path.write_text("\n".join(json.dumps(line) for line in [header, *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("options", "penalty"),
    [
        (["--lines", "10"], {"kind": "f", "read_line": 7, "write_back": 0}),
        (["--lines", "10", "--read-line", "9"], {"kind": "f", "read_line": 9, "write_back": 0}),
        (["--penalty", "g"], {"kind": "g", "fill": 62, "write_back": 0}),
    ],
)
def test_costs_of_a_machine(
    run: Run, tmp_path: Path, machine: Path, options: list[str], penalty: dict[str, object]
) -> None:
    source, output = trace(tmp_path / "trace.jsonl", "ns"), tmp_path / "instance.json"
    code, _, err = run("trace", "to-instance", source, "--machine", machine, *options, "-o", output)
    assert (code, err) == (0, "")
    found = json.loads(output.read_text())["penalty"]
    assert {key: found[key] for key in penalty} == penalty


def test_other_units_and_matrices_are_refused(run: Run, tmp_path: Path, machine: Path) -> None:
    source = trace(tmp_path / "trace.jsonl", "us")
    code, _, err = run("compare", source, "--machine", machine, "--lines", "10")
    assert code == 1
    assert "the costs are in ns, and the trace is in 'us'; give --read-line" in err
    code, _, err = run("compare", source, "--machine", machine, "--penalty", "matrix")
    assert code == 2
    assert "--machine is for the penalties f and g" in err
