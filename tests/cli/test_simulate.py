import json
import signal
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dfopt.files import schema
from dfopt.trace import read_trace
from dfopt_models.response_time import RESPONSE_TIME, response_time
from tests.patience import PATIENCE_S

POLICIES = ("equipartition", "dynamic", "dyn-aff", "dyn-aff-nopri", "dyn-aff-delay")

MIX = """
format = "dfopt-mix/1"
name = "small"
base = "mix-1"
[application.MVA]
work = 4.0
rows = 5
columns = 5
"""


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    path = tmp_path / "mix.toml"
    path.write_text(MIX)
    return path


def test_a_table_for_each_application(run, mix):
    code, printed, said = run("simulate", "space-sharing", mix, "--replications", "2")
    assert (code, said) == (0, "")
    assert "small" in printed
    assert [line.split()[0] for line in printed.splitlines() if line.startswith(POLICIES)] == [
        *POLICIES
    ]


def test_json(run, mix):
    arguments = ("simulate", "space-sharing", mix, "--replications", "3", "--json")
    code, printed, _ = run(*arguments, "--policy", "dynamic", "--policy", "dyn-aff", "--seed", "7")
    assert code == 0
    document = json.loads(printed)
    Draft202012Validator(schema("simulation")).validate(document)
    assert document["seed"] == 7
    assert [policy["policy"] for policy in document["policies"]] == ["dynamic", "dyn-aff"]
    for policy in document["policies"]:
        assert policy["replications"] == 3
        (job,) = policy["jobs"]
        spent = sum(job[account]["mean"] for account in ("work", "waste", "overhead"))
        assert job["response_time"]["mean"] * job["allocation"]["mean"] == pytest.approx(
            spent, rel=0.01
        )


def test_the_same_seed_whatever_the_workers(run, mix):
    arguments = ("simulate", "space-sharing", mix, "--replications", "3", "--json")
    assert run(*arguments, "--workers", "1") == run(*arguments, "--workers", "2")


def test_the_response_time_model(run, mix, tmp_path):
    model_file = tmp_path / "model.toml"
    code, printed, _ = run(
        "simulate", "space-sharing", mix, "--replications", "3", "--json", "-o", model_file
    )
    assert code == 0
    model = RESPONSE_TIME.read(model_file)
    assert (model.name, model.baseline) == ("small", "equipartition")
    assert model.reallocation_time == 750e-6
    for policy in json.loads(printed)["policies"]:
        case = model.case("MVA", policy["policy"])
        measured = policy["jobs"][0]["response_time"]["mean"]
        assert float(response_time(case)) == pytest.approx(measured, rel=0.02)
    assert run("model", "crossover", model_file, "--json")[0] == 0


def test_traces(run, mix, tmp_path):
    code, _, _ = run(
        "simulate", "space-sharing", mix, "--replications", "2", "--policy", "dynamic",
        "--trace-dir", tmp_path / "traces", "--json",
    )  # fmt: skip
    assert code == 0
    files = sorted((tmp_path / "traces").iterdir())
    assert [file.name for file in files] == ["small.dynamic.0.jsonl", "small.dynamic.1.jsonl"]
    trace = read_trace(files[0])
    assert trace.cpus == 16
    assert trace.header.policy == "dynamic"
    assert set(trace.fragments) >= {"MVA.1#1", "MVA.2#1"}
    assert {task.name.split("/")[0] for task in trace.tasks} == set(trace.fragments)


def test_applications_alone(run, mix, tmp_path):
    picture = tmp_path / "alone.svg"
    code, printed, said = run("simulate", "space-sharing", mix, "--alone", "-o", picture)
    assert (code, said) == (0, "")
    lines = [line.split() for line in printed.splitlines()]
    (elapsed, demand) = next(line[1:] for line in lines if line[:1] == ["MVA"])
    assert float(elapsed) * float(demand) == pytest.approx(4.0, rel=0.05)
    levels = [float(line[1].rstrip("%")) for line in lines if line[:1] and line[0].isdecimal()]
    assert len(levels) == 16
    assert sum(levels) == pytest.approx(100, abs=1)
    assert b"<svg" in picture.read_bytes()


@pytest.mark.parametrize("option", ["--json", "--trace-dir=traces"])
def test_applications_alone_are_a_table(run, mix, option):
    code, _, said = run("simulate", "space-sharing", mix, "--alone", option)
    assert code == 2
    assert "--alone prints a table" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nix.toml",), "dfopt: nix.toml: there is no such file"),
        (("mix-5", "--policy", "dyn-af"), "there is no policy 'dyn-af'; did you mean 'dyn-aff'?"),
        (("symmetry",), "dfopt: symmetry: job: the mix has no job"),
        (("mix-5", "-o", "/nix/nix/model.toml"), "its folder does not exist"),
    ],
)
def test_wrong_arguments(run, arguments, message):
    code, printed, said = run("simulate", "space-sharing", *arguments)
    assert (code, printed) == (1, "")
    assert message in said
    assert said.count("\n") == 1


def test_a_mix_is_not_written_over(run, mix):
    code, _, said = run("simulate", "space-sharing", mix, "-o", mix)
    assert code == 1
    assert "is what is read from" in said
    assert mix.read_text() == MIX


def test_a_wrong_value_is_said_with_file_and_key(run, mix):
    mix.write_text(MIX.replace("rows = 5", "rows = 0"))
    code, printed, said = run("simulate", "space-sharing", mix)
    assert (code, printed) == (1, "")
    assert said.startswith(f"dfopt: {mix}: application.MVA.rows: must be at least 1")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_keeps_what_is_finished(terminal):
    process = terminal.start(
        "simulate", "space-sharing", "mix-5", "--policy", "equipartition",
        "--replications", "2000", "--json",
    )  # fmt: skip
    terminal.wait_for(rb"replications: [1-9]")
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 4, terminal.all_shown()
    (policy,) = json.loads(printed)["policies"]
    assert 1 <= policy["replications"] < 2000
    assert b"interrupted" in terminal.all_shown()


def test_a_policy_that_fails_is_named_in_one_line(run, tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(
        "from dfopt_models.space_sharing import AllocationPolicy\n"
        "class Odd(AllocationPolicy):\n"
        "    def __getattribute__(self, name):\n"
        "        raise LookupError('no luck')\n"
    )
    code, printed, said = run("simulate", "space-sharing", "mix-5", "--policy", file)
    assert (code, printed) == (1, "")
    assert said == (
        f"dfopt: {file}: line 4: the policy 'Odd' fails in __getattribute__ "
        "(LookupError: no luck); correct it\n"
    )
