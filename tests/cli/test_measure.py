"""``dfopt measure``, without the real clock, and ``--machine`` of the commands about traces."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from dfopt_models.measure import read_penalties
from dfopt_models.measure.machine import MOVED, STATIONARY, WRITTEN, MeasurementError, TimedPass
from dfopt_models.measure.programs import run_program
from dfopt_models.measure.this_machine import ThisMachine
from tests.cli.conftest import Run
from tests.models.measure.test_machine import TEXT, SimulatedMemory
from tests.models.measure.test_penalty_runs import FOOTPRINTS, SimulatedProcessor


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
    assert ["moved", "random", "81.00", "81.00", "to", "81.00", "80.00,", "81.00,", "82.00"] in rows
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


class QuietProcessor(SimulatedProcessor):
    """The simulated processor in the place of the one at hand; its switches vary by run."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed

    def switch(self, times: int) -> TimedPass:
        return TimedPass((2000.0 + self._seed) * times, False)

    def close(self) -> None:
        pass


PENALTIES = "dfopt_models.measure.penalty_runs"
SHORT = ["--quantum", "1.28e-6", "--slices", "5"]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{PENALTIES}.ThisMachine", QuietProcessor)
    monkeypatch.setattr(f"{PENALTIES}.KERNELS", dict.fromkeys(FOOTPRINTS, ""))
    monkeypatch.setattr(f"{PENALTIES}.OTHER", "large")


@pytest.mark.usefixtures("simulated")
def test_penalties_of_kernels(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "penalties.toml"
    job = ["--kernel", "small"]
    code, out, err = run("measure", "penalties", *job, *SHORT, "-o", output)
    assert code == 0
    assert err.count("0% of the slices rejected") == 3
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "small moved 1.28 µs 2.6 2.6, 2.6, 2.6 0%" in rows
    found = read_penalties(output)
    assert found.reallocation_time == pytest.approx(2.001e-6)
    assert found.of("small")[0].no_affinity == pytest.approx(32 * 80e-9)
    code, out, err = run("measure", "penalties", *job, *SHORT, "--json", "--quiet")
    assert (code, err) == (0, "")
    assert json.loads(out)["x-measured"][0]["between"] == "moved"


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        (["--kernel", "smell"], 2, "there is no job 'smell'"),
        (["--program", "true"], 2, "'true' must be NAME=COMMAND"),
        (["--program", "a=true", "--kernel", "small"], 2, "one after the other"),
        (["--quantum", "0"], 2, "a quantum must be more than 0"),
        (["--kernel", "small", *SHORT, "--without-affinity", "L9"], 1, "no level 'L9'"),
        (["--kernel", "small", "--quantum", "1e-8"], 1, "take a quantum of at least"),
    ],
)
def test_penalties_that_cannot_be_measured(
    run: Run, tmp_path: Path, options: list[str], code: int, problem: str
) -> None:
    output = tmp_path / "penalties.toml"
    found, out, err = run("measure", "penalties", *options, "-o", output)
    assert (found, out) == (code, "")
    assert problem in " ".join(err.split()).replace("│ ", "")
    assert not output.exists()


class StoppedMemory(QuietMemory):
    """Ctrl-C comes in the third run."""

    last = 2

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        if seed == self.last:
            raise KeyboardInterrupt


@pytest.mark.parametrize(("last", "expected"), [(2, 4), (1, 130)])
def test_what_ended_before_ctrl_c_is_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int, expected: int
) -> None:
    monkeypatch.setattr("dfopt_models.measure.this_machine.ThisMachine", StoppedMemory)
    monkeypatch.setattr(StoppedMemory, "last", last)
    output = tmp_path / "machine.toml"
    code, _, err = run("measure", "machine", "--lines", "64", "--passes", "3", "-o", output)
    assert code == expected
    assert f"stopped after {last} of 3 runs" in err
    assert output.exists() == (last == 2)


def test_a_level_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dfopt_models.measure.this_machine.ThisMachine", QuietMemory)
    command = ["measure", "machine", "--lines", "64", "--passes", "3", "--json", "--quiet"]
    code, out, err = run(*command, "--leave-out", "memory")
    assert (code, err) == (0, "")
    assert {table["level"] for table in json.loads(out)["x-read"]} == {MOVED, WRITTEN}
    code, _, err = run(*command, "--leave-out", "moved", "--level", "moved")
    assert code == 2
    assert "'moved' is not measured" in err


def test_a_real_program_in_slices(tmp_path: Path) -> None:
    """It runs to its end in slices, whatever happens in between, and its end is seen."""
    mark = tmp_path / "mark"
    code = (
        f"import time\nwhile time.process_time() < 0.05: pass\nopen({str(mark)!r}, 'a').write('x')"
    )
    commands = {"work": shlex.join([sys.executable, "-S", "-c", code]), "wrong": "false"}
    machine = ThisMachine()
    try:
        run = run_program(machine, commands, "work", 0.005, "after work")
        assert mark.read_text().startswith("x")
        assert run.slices > 1
        assert run.processor_time > 0
        with pytest.raises(MeasurementError, match="wrong ended with exit code 1"):
            run_program(machine, commands, "wrong", 0.05, STATIONARY)
        with pytest.raises(MeasurementError, match="none does not start"):
            run_program(machine, {"none": "/no/program"}, "none", 0.01, STATIONARY)
    finally:
        machine.close()


def test_penalties_of_a_trace(run: Run, tmp_path: Path) -> None:
    source, output = trace(tmp_path / "trace.jsonl", "ns"), tmp_path / "instance.json"
    file = tmp_path / "penalties.toml"
    file.write_text(
        'format = "dfopt-penalties/1"\nreallocation_time = 2e-6\n[[job]]\nname = "a"\n'
        "penalties = [{ quantum = 0.1, affinity = 0, no_affinity = 3e-6 }]\n"
    )
    code, _, err = run("trace", "to-instance", source, "--penalties", f"a={file}", "-o", output)
    assert (code, err) == (0, "")
    found = json.loads(output.read_text())["penalty"]
    assert (found["kind"], found["fill"], found["write_back"]) == ("g", 5000, 0)
    code, _, err = run("compare", source, "--penalties", file, "--penalty", "f")
    assert code == 2
    assert "--penalties is for the penalty g" in err
    code, out, _ = run("model", "crossover", "mix-5", "--penalties", file)
    assert (code, out) == (1, "")


def test_a_machine_of_a_model(run: Run, machine: Path) -> None:
    code, out, _ = run("model", "crossover", "mix-5", "--machine", machine)
    assert code == 0
    assert "~" in out
    code, _, err = run("model", "crossover", "mix-5", "--machine", machine, "--penalties", machine)
    assert code == 2
    assert "give --penalties or --machine, not both" in err
