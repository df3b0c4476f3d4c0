"""Workloads of a user's own: as the shipped ones, with errors that name the line."""

import shutil
from pathlib import Path

import pytest

from dfopt.errors import DfoptError
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.runs import simulate_all
from dfopt.simulate.scenario_document import read_scenario, scenario_of_workload
from dfopt.simulate.simulation import simulate_once

EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "ping_pong.py"
SMALL = {"machine.cpus": 2, "rounds": 3, "pairs": 2}

SCENARIO = """
format = "dfopt-scenario/1"
workload = "ping_pong.py:PingPong"
parameters = {rounds = 3, pairs = 2}
machine = {cpus = 2}
penalty = {kind = "g", fill = 1, write_back = 0}
"""


@pytest.fixture
def code(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLE, tmp_path / "ping_pong.py"))


def line_of(file: Path, text: str) -> int:
    (line,) = (n for n, own in enumerate(file.read_text().splitlines(), 1) if text in own)
    return line


def changed(file: Path, old: str, new: str) -> Path:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return file


def test_it_runs_from_a_file_and_from_a_scenario(code: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(SCENARIO)
    scenarios = [scenario_of_workload(str(code), SMALL), read_scenario(tmp_path / "own.toml")]
    assert scenarios[0].name == "PingPong"
    runs = simulate_all(scenarios, ["fcfs"], processes=2).runs
    # Two pairs of two threads, each of which works three times for 5,000.
    assert [run.executed for run in runs] == [60_000, 60_000]
    assert runs[0].service is not None
    assert runs[0].service == runs[1].service


@pytest.mark.parametrize(
    ("old", "new", "where", "line"),
    [
        (
            "Burst(self.work, ",
            "Burst(-1, ",
            "fails in play (time: must be at least 0",
            "Burst(-1",
        ),
        ("Send(other)", "5", "the program of 0a yields 5", "yield 5"),
        ("threads = []", "threads = [][1]", "in build (IndexError", "threads = "),
    ],
)
def test_errors_name_file_and_line(code: Path, old: str, new: str, where: str, line: str) -> None:
    scenario = scenario_of_workload(str(changed(code, old, new)), SMALL)
    with pytest.raises(DfoptError) as caught:
        simulate_once(scenario, POLICIES["fcfs"])
    assert where in caught.value.problem
    assert caught.value.file == str(code)
    assert caught.value.place == f"line {line_of(code, line)}"


STEP = """

class Fails:
    def perform(self, kernel, thread):
        raise RuntimeError("no")
"""


def test_errors_of_own_steps_and_children_are_named(code: Path) -> None:
    changed(code, "import Channel, Receive, Send", "import Channel, Receive, Send, Spawn")
    child = 'Spawn(NewThread(name="child", steps=iter([Fails()])))'
    changed(code, "yield Send(other)", f"yield {child}")
    code.write_text(code.read_text() + STEP)
    with pytest.raises(DfoptError, match=r"fails in perform .*no") as caught:
        simulate_once(scenario_of_workload(str(code), SMALL), POLICIES["fcfs"])
    assert caught.value.place == f"line {line_of(code, 'raise RuntimeError')}"


def test_what_is_missing_or_unknown_is_said(code: Path) -> None:
    with pytest.raises(DfoptError, match="say how many CPUs there are with `cpus`"):
        scenario_of_workload(str(code))
    with pytest.raises(DfoptError, match="did you mean 'pairs'"):
        scenario_of_workload(str(code), {**SMALL, "pears": 3})
    with pytest.raises(DfoptError, match="no such file"):
        scenario_of_workload("other.py", SMALL)
    with pytest.raises(DfoptError, match="has no workload 'Other'"):
        scenario_of_workload(f"{code}:Other", SMALL)
    code.write_text("x = 1\n")
    with pytest.raises(DfoptError, match="there are: none"):
        scenario_of_workload(str(code), SMALL)
