import json
import logging
import os
import re
import signal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import dfopt.solvers
from dfopt import replace
from dfopt.files import read_result, schema, write_instance
from dfopt.generate import zipf
from dfopt.problem.certificate import CompleteSearch
from dfopt.problem.instance import Instance, Task
from dfopt.problem.penalties import PenaltyG
from dfopt.problem.result import Result, Status, StopReason
from dfopt_cli.exit_codes import INFEASIBLE, NOT_PROVEN
from tests.cli.conftest import Run
from tests.cli.terminal import Terminal
from tests.patience import PATIENCE_S
from tests.plot.worked_example import INSTANCE


@pytest.fixture
def easy(tmp_path: Path) -> Path:
    path = tmp_path / "easy.json"
    write_instance(INSTANCE, path)
    return path


@pytest.fixture
def hard(tmp_path: Path) -> Path:
    path = tmp_path / "hard.json"
    write_instance(zipf(tasks=1000, cpus=64, fragments=200, seed=1), path)
    return path


def test_a_search_begins_with_an_earlier_result(run: Run, easy: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    run("solve", easy, "-o", first)
    code, _, _ = run("solve", easy, "--start", first, "--time-limit", "0", "-o", second)
    assert code == NOT_PROVEN  # there was no time for a bound
    assert read_result(second).schedule == read_result(first).schedule


def test_a_start_without_a_schedule_is_refused(run: Run, easy: Path, tmp_path: Path) -> None:
    full = tmp_path / "full.json"
    write_instance(replace(INSTANCE, capacity=1), full)
    empty = tmp_path / "empty.json"
    run("solve", full, "-o", empty)
    code, _, said = run("solve", easy, "--start", empty)
    assert code == 1
    assert said == f"dfopt: {empty}: schedule: is null; name a result that has one\n"
    code, _, said = run("solve", easy, "--start", tmp_path / "nix.json")
    assert (code, f"{tmp_path / 'nix.json'}: there is no such file" in said) == (1, True)


@pytest.mark.parametrize(("unit", "shown"), [("unit", " units"), ("ns", " ns"), (None, "")])
def test_costs_have_their_unit(run: Run, tmp_path: Path, unit: str | None, shown: str) -> None:
    path = tmp_path / "units.json"
    write_instance(replace(INSTANCE, time_unit=unit), path)
    out = run("solve", path)[1]
    assert f"objective    15{shown} (makespan)\n" in out
    assert re.search(rf"lower bound  15{shown} *\n", out)


@pytest.mark.parametrize(
    ("solver", "ending", "said"),
    [
        ("cp-sat", StopReason.PROOF, "complete search by cp-sat"),
        ("cp-sat", StopReason.TIME_LIMIT, "cp-sat bound"),
        ("branch and price", StopReason.INTERRUPT, "branch and price bound"),
        ("area", StopReason.PROOF, "area bound"),
    ],
)
def test_only_a_search_that_ended_is_complete(solver: str, ending: StopReason, said: str) -> None:
    solved = dfopt.solvers.solve(INSTANCE)
    certificate = CompleteSearch(threshold=14, solver=solver)
    result = replace(solved, certificate=certificate, stop_reason=ending)
    assert result.proof == f"{said}; not independently checkable"


def test_shows_schedule_bound_and_proof(run: Run, easy: Path) -> None:
    code, out, err = run("solve", easy)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["CPU", "tasks", "cost", "fragments", "in", "order", "×tasks"]
    tasks, costs = zip(*((int(row[1]), int(row[2])) for row in rows[1:3]), strict=True)
    assert sorted(tasks) == [2, 3]
    assert max(costs) == 15
    assert "objective    15" in out
    assert "lower bound  15" in out
    assert "optimal, proven" in out
    assert "enumeration" in out


def test_json_is_one_valid_document_and_the_file_the_same(run: Run, easy: Path) -> None:
    output = easy.with_name("result.json")
    code, out, err = run("solve", easy, "--json", "-o", output)
    assert (code, err) == (0, "")
    document = json.loads(out)
    jsonschema.validate(document, schema("result"))
    assert json.loads(output.read_text()) == document
    assert run("verify", easy, output)[0] == 0


def test_infeasible_is_a_result_that_says_by_how_much(run: Run, tmp_path: Path) -> None:
    instance = Instance(
        cpus=2,
        capacity=2,
        penalty=PenaltyG(fill=1, write_back=1),
        tasks=tuple(Task(id=f"t{number}", df="A") for number in range(7)),
    )
    path, output = tmp_path / "small.json", tmp_path / "result.json"
    write_instance(instance, path)
    code, out, _ = run("solve", path, "-o", output)
    assert code == INFEASIBLE
    assert "no room for 3 tasks" in out
    assert read_result(output).status is Status.INFEASIBLE


def test_no_tasks_are_a_remark(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    write_instance(Instance(cpus=1, penalty=PenaltyG(fill=1, write_back=0)), path)
    code, out, err = run("solve", path, "--json")
    assert (code, json.loads(out)["objective"]) == (0, 0)
    assert (
        err == f"dfopt: {path}: warning: there are no tasks to schedule; add some under 'tasks'\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "code", "reason"),
    [
        (["--time-limit", "1.5"], NOT_PROVEN, StopReason.TIME_LIMIT),
        (["--gap", "0.9"], 0, StopReason.GAP_LIMIT),
    ],
)
def test_limits_keep_the_best_so_far(
    run: Run, hard: Path, limit: list[str], code: int, reason: StopReason
) -> None:
    output = hard.with_name("result.json")
    assert run("solve", hard, *limit, "-o", output)[0] == code
    result = read_result(output)
    assert result.stop_reason is reason
    assert result.schedule is not None
    assert run("verify", hard, output)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signals_keep_the_best_so_far(terminal: Terminal, hard: Path, sent: int) -> None:
    output = hard.with_name("result.json")
    process = terminal.start("solve", hard, "-o", output)
    terminal.wait_for(rb"best \d")
    process.send_signal(sent)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == NOT_PROVEN, terminal.all_shown()
    assert "interrupted" in out
    assert read_result(output).stop_reason is StopReason.INTERRUPT


def test_the_instance_is_not_overwritten(run: Run, easy: Path) -> None:
    before = easy.read_bytes()
    link = easy.with_name("link.json")
    os.link(easy, link)
    for output in (easy, link):
        code, out, err = run("solve", easy, "-o", output)
        assert (code, out) == (1, "")
        assert str(output) in err
    assert easy.read_bytes() == before


def test_an_output_that_cannot_be_written_is_refused_at_once(
    run: Run, hard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object, **__: object) -> None:
        raise AssertionError("searches")

    monkeypatch.setattr(dfopt.solvers, "solve", search)
    code, out, err = run("solve", hard, "-o", hard.with_name("nowhere") / "result.json")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "nowhere" in err


def test_a_method_that_does_not_fit_names_the_file(run: Run, hard: Path) -> None:
    code, out, err = run("solve", hard, "--method", "exhaustive")
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {hard}: ")
    assert "'auto'" in err


def test_names_cannot_command_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    tasks = tuple(Task(id=name, df=name) for name in ("\x1b[2Jx", "two\nlines", ""))
    write_instance(Instance(cpus=1, penalty=PenaltyG(fill=1, write_back=0), tasks=tasks), path)
    _, out, _ = run("solve", path)
    assert "\x1b" not in out
    assert r"\x1b[2Jx" in out
    assert r"two\nlines" in out


def test_idle_cpus_take_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "idle.json"
    write_instance(
        Instance(cpus=1000, penalty=PenaltyG(fill=1, write_back=0), tasks=(Task(id="a", df="A"),)),
        path,
    )
    code, out, _ = run("solve", path)
    assert code == 0
    assert "999 CPUs idle" in out
    assert len(out.splitlines()) < 15


@pytest.mark.parametrize(
    "options", [["--time-limit", "-1"], ["--gap", "2"], ["--method", "magic"], ["--workers", "0"]]
)
def test_wrong_usage_has_its_own_exit_code(run: Run, easy: Path, options: list[str]) -> None:
    code, out, _ = run("solve", easy, *options)
    assert (code, out) == (2, "")


def test_verbose_shows_what_the_solvers_log(
    run: Run, easy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = dfopt.solvers.solve

    def logging_solve(*values: Any, **named: Any) -> Result:
        logging.getLogger("dfopt.solvers.dp").debug("%d states", 7)
        return whole(*values, **named)

    monkeypatch.setattr(dfopt.solvers, "solve", logging_solve)
    assert run("solve", easy)[2] == ""
    code, out, err = run("solve", easy, "--verbose", "--workers", "1")
    assert code == 0
    assert "proven" in out
    _, head, *rows = err.splitlines()
    assert head.split() == ["seconds", "bound", "best", "gap", "event"]
    assert re.fullmatch(r" +\d+\.\d\d +0 +- +-  dp: 7 states", rows[0])
    found = [row for row in rows if row.startswith("*")]
    assert re.fullmatch(
        r"\* +\d+\.\d\d +\d+ +(\d+) +\d+\.\d\d%  incumbent with objective \1", found[-1]
    )
    assert not logging.getLogger("dfopt").handlers


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_result_is_written_waits(
    run: Run, easy: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def synchronise(_: int) -> None:
        os.kill(os.getpid(), number)

    monkeypatch.setattr("os.fsync", synchronise)
    output = easy.with_name("result.json")
    code, out, _ = run("solve", easy, "-o", output)
    assert code == 0
    assert "objective    15" in out
    assert read_result(output).objective == 15
    assert sorted(path.name for path in easy.parent.iterdir()) == ["easy.json", "result.json"]


def test_a_result_that_cannot_be_written_is_printed(
    run: Run, easy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    code, out, err = run("solve", easy, "-o", easy.with_name("result.json"))
    assert code == 1
    assert "objective    15" in out
    assert "No space left" in err
