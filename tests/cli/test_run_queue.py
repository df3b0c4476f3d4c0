"""``dfopt simulate run-queue``."""

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dfopt.files import schema
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario_document import shipped_scenarios
from dfopt.time_units import readable_time
from dfopt.trace import read_trace
from tests.cli.conftest import EXECUTABLE
from tests.patience import PATIENCE_S

RUN_QUEUE = ("simulate", "run-queue")

SMALL = """
format = "dfopt-scenario/1"
name = "small"
base = "chat"
[parameters]
rooms = 3
users = 3
messages = 2
"""

RECORDING = "\n".join(
    (
        '{"format": "dfopt-trace/1", "cpus": 2, "time_unit": "ns"}',
        '{"cpu": 0, "start": 0, "end": 4000, "task": "a", "df": "x"}',
        '{"cpu": 1, "start": 0, "end": 3000, "task": "b", "df": "y"}',
        '{"cpu": 0, "start": 4000, "end": 9000, "task": "b", "df": "y"}',
        '{"cpu": 1, "start": 5000, "end": 9000, "task": "a", "df": "x"}',
        "",
    )
)

OWN = '''
from dfopt.simulate import Policy


class Newest(Policy):
    """The thread that came last runs first."""

    name = "newest"

    def __init__(self, patience: int = 0) -> None:
        self.patience = patience
        self.stack = []

    def ready(self, thread, why, cpu):
        self.stack.append(thread)

    def pick(self, cpu):
        return self.stack.pop() if self.stack else None
'''


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "first.run.jsonl"
    path.write_text(RECORDING)
    return path


@pytest.mark.slow
def test_policies_side_by_side(run, small):
    code, printed, said = run(*RUN_QUEUE, small)
    assert (code, said) == (0, "")
    assert "small" in printed
    assert "chat on 2 CPUs" in printed
    policies = [line.split()[0] for line in printed.splitlines() if line.strip()]
    names = ["linux-o1", "data-affinity", "fcfs"]  # in a table of costs, of waits, and of responses
    assert [word for word in policies if word in names] == [*names, *names, *names]


def test_the_table_says_in_which_time_responses_came(run, small):
    arguments = (*RUN_QUEUE, small, "--policy", "fcfs")
    service = json.loads(run(*arguments, "--json")[1])["runs"][0]["service"]
    table = run(*arguments)[1].split("response  response\n")[1]
    heading, row = (line.split() for line in table.splitlines()[:2])
    assert heading == ["policy", "p50", "p99"]
    shown = [readable_time(service["response"][figure], "ns") for figure in ("p50", "p99")]
    assert row == ["fcfs", *shown[0].split(), *shown[1].split()]


@pytest.mark.slow
def test_traces_are_taken_by_compare_as_they_are(run, small, tmp_path):
    folder = tmp_path / "new" / "traces"
    code, _, _ = run(*RUN_QUEUE, small, "--policy", "fcfs", "--policy", "lifo", "-o", folder)
    assert code == 0
    summary = json.loads((folder / "summary.json").read_text())
    Draft202012Validator(schema("run-queue")).validate(summary)
    for row in summary["runs"]:
        code, printed, _ = run("compare", folder / row["trace"], "--json")
        assert code == 0
        document = json.loads(printed)
        assert document["realised"]["total"] == row["penalty"]["total"]
        assert all(
            window["ratio"] is None or window["ratio"] >= 1 for window in document["windows"]
        )


@pytest.mark.slow
def test_json_is_the_summary(run, small, tmp_path):
    arguments = (*RUN_QUEUE, small, "--policy", "random", "--seed", "7", "--replications", "2")
    code, printed, said = run(*arguments, "--json", "--workers", "1")
    assert (code, said) == (0, "")
    document = json.loads(printed)
    Draft202012Validator(schema("run-queue")).validate(document)
    assert [row["seed"] for row in document["runs"]] == [7, 8]
    assert run(*arguments, "--json", "--workers", "2")[1] == printed
    folder = tmp_path / "plain"
    assert run(*arguments, "-o", folder, "--plain")[0] == 0
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["small-random-seed7.jsonl", "small-random-seed8.jsonl", "summary.json"]


@pytest.mark.slow
def test_tables_fit_eighty_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    wide = ("aim", "--set", "until=9000000", "--policy", "smpbatch-smash", "--policy", "fcfs")
    for replications in ("1", "2"):
        printed = run(*RUN_QUEUE, *wide, "--replications", replications)[1]
        assert "…" not in printed
        assert max(map(len, printed.splitlines())) <= 80
        assert "migrations" in printed
        assert "smpbatch-smash " in printed


def test_replications_have_confidence(run, small):
    printed = run(*RUN_QUEUE, small, "--policy", "random", "--replications", "3")[1]
    assert "3; ± 95 % confidence" in printed
    assert "±" in printed.split("policy", 1)[1]


def test_settings(run, small):
    def dispatches(*options: str) -> tuple[int, int]:
        printed = run(*RUN_QUEUE, small, "--policy", "fcfs", "--json", *options)[1]
        (one,) = json.loads(printed)["runs"]
        return one["cpus"], one["executed"]

    assert dispatches() == dispatches("--set", "rooms=3")
    assert dispatches("--cpus", "5")[0] == dispatches("--set", "machine.cpus=5")[0] == 5
    assert dispatches("--set", "rooms = 6")[1] > dispatches()[1]
    one = ("--set", "policy.fcfs.time_slice=1000", "--set", "penalty.write_back=0")
    assert dispatches(*one)[1] == dispatches()[1]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("rooms", "is not KEY=VALUE"),
        ("rooms=", "is not KEY=VALUE"),
        ("rooms=[1", "rooms: '[1' is no value of TOML"),
        ("rooms=1\nusers=2", "is no value of TOML"),
        ("machine.cpus=3", "machine.cpus is set to 2 and to 3; give one"),
    ],
)
def test_settings_that_are_none(run, small, setting, message):
    code, printed, said = run(*RUN_QUEUE, small, "--cpus", "2", "--set", setting)
    assert (code, printed) == (2, "")
    assert message in " ".join(said.replace("│", " ").split())


def test_times_may_have_units(run, small):
    def document(setting):
        return run(*RUN_QUEUE, small, "--policy", "fcfs", "--json", "--set", setting)

    assert document("policy.fcfs.time_slice=2us") == document("policy.fcfs.time_slice=2000")
    code, _, said = document("rooms=20s")
    assert code == 1
    assert said.endswith("parameters.rooms: must be an integer, not '20s'\n")


def test_cache_domains(run, small, tmp_path):
    file = tmp_path / "cpus.txt"
    file.write_text("# CPU,,L2,L3\n0,,0,0\n1,,1,0\n")
    arguments = (*RUN_QUEUE, small, "--policy", "random", "--json", "--cpus", "2", "--domains")
    for domains in ("0-1", "1;0", file):
        code, printed, _ = run(*arguments, domains)
        document = json.loads(printed)
        Draft202012Validator(schema("run-queue")).validate(document)
        (row,) = document["runs"]
        # Both CPUs are one domain, or each of them is.
        assert (code, row["far_migrations"]) == (0, row["migrations"] if domains == "1;0" else 0)
        assert row["migrations"] > 0
    for domains, message in [
        ("0-2", "small.toml: machine.domains: hold CPUs 0-2, but the CPUs are 0-1"),
        ("0;0", "--domains: [1].cpus: names CPU 0 a second time"),
        ("0-", "--domains: '0-' is no list of CPUs"),
        ("none.txt", "none.txt: there is no such file"),
    ]:
        code, printed, said = run(*arguments, domains)
        assert (code, printed) == (1, "")
        assert message in said


def test_what_a_policy_prints_is_no_figure(run, tmp_path):
    file = tmp_path / "newest.py"
    file.write_text("print('loaded')\n" + OWN.replace("return", "print('picks'); return"))
    little = ("--set", "rooms=1", "--set", "messages=1")
    code, printed, said = run(*RUN_QUEUE, "chat", "--policy", file, "--json", *little)
    assert code == 0
    assert [row["policy"] for row in json.loads(printed)["runs"]] == ["newest"]
    assert {"loaded", "picks"} == set(said.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nix",), "dfopt: nix: there is no such file; check its name; scenarios that come with"),
        (("chat", "--set", "roms=1"), "dfopt: chat: parameters.roms: unknown key; did you mean"),
        (("chat", "--cpus", "99999999999"), "machine.cpus: is 99999999999; at most 1000000 are"),
        (("chat", "--set", "base=aim"), "dfopt: chat: base: cannot be set here; write a scenario"),
        (("chat", "--set", "timing=late"), "dfopt: chat: parameters.timing: unknown key"),
        (("chat", "--policy", "fcsf"), "there is no policy 'fcsf'; did you mean 'fcfs'?"),
        (("chat", "--set", "policy.fcfs.x=1", "--policy", "fcfs"), "policy.fcfs.x: unknown key"),
        (("chat", "-o", "/dev/null/x"), "/dev/null/x: is no folder to write to"),
        (("chat", "-o", ""), "dfopt: '': is no folder to write to; name one"),
        (("chat", "--set", "rooms=99999999"), "parameters.rooms: makes 7,999,999,920 threads; at"),
    ],
)
def test_wrong_arguments(run, arguments, message):
    code, printed, said = run(*RUN_QUEUE, *arguments)
    assert (code, printed) == (1, "")
    assert message in said
    assert said.count("\n") == 1


def test_all_scenarios(run):
    code, printed, said = run(
        *RUN_QUEUE, "all", "--policy", "fcfs", "--json", "--set", "until=20000"
    )
    assert (code, said) == (0, "")
    scenarios = [row["scenario"] for row in json.loads(printed)["runs"]]
    assert sorted(scenarios) == sorted(shipped_scenarios())


def test_all_policies(run, small):
    """Those that do not fit are left out."""
    code, printed, said = run(*RUN_QUEUE, small, "--policy", "all", "--json")
    assert code == 0
    document = json.loads(printed)
    used, skipped = ([entry["policy"] for entry in document[key]] for key in ("runs", "skipped"))
    assert sorted([*used, *skipped]) == sorted(POLICIES)
    assert "segregation" in skipped
    assert "dfopt: small: segregation is left out: " in said
    assert said.count("\n") == len(skipped)


def test_a_policy_that_is_named_although_it_does_not_fit(run, recording):
    twice = ("--policy", "cache-aware", "--policy", "eevdf", "--replications", "2")
    code, printed, said = run(*RUN_QUEUE, recording, *twice, "--quiet")
    assert code == 0
    assert "cache-aware " in printed
    assert [line for line in said.splitlines() if "cache-aware" in line] == [
        "dfopt: first: warning: cache-aware does not fit: the machine has one cache domain, so "
        "there is nothing to prefer, and it does what eevdf does"
    ]


def test_rules_and_caches_without_effect_are_told_once(run, recording):
    two = ("--domains", "0;1", "--policy", "eevdf", "--policy", "cache-aware", "--quiet")
    both = (*two, "--set", "policy.cache-aware.group=fragment", "--replications", "2")
    caches = ("--set", "caches={lines=512, miss=100}")
    code, _, said = run(*RUN_QUEUE, recording, *both, *caches)
    assert code == 0
    told = [line for line in said.splitlines() if line.startswith("dfopt: first: warning: ")]
    assert len(told) == 2
    assert "cache-aware had no effect: it neither moved nor kept a thread" in told[0]
    assert "no burst reads lines; recorded threads read some with '--set lines=64'" in told[1]
    with_lines = run(*RUN_QUEUE, recording, *both, *caches, "--set", "lines=64")[2]
    assert "had no effect" in with_lines
    assert "no burst reads lines" not in with_lines


def test_a_recording_under_another_policy(run, recording):
    code, printed, said = run(
        *RUN_QUEUE, recording, "--policy", "fcfs", "--json", "--read-line", "100",
        "--write-back", "0", "--lines", "3",
    )  # fmt: skip
    assert (code, said) == (0, "")
    (one,) = json.loads(printed)["runs"]
    assert (one["scenario"], one["cpus"], one["executed"]) == ("first", 2, 16_000)
    assert one["penalty"]["total"] % 300 == 0


def test_short_recordings_are_told_in_units_of_their_length(run, recording):
    headings = run(*RUN_QUEUE, recording, "--policy", "fcfs")[1].splitlines()[3:5]
    assert headings[0].split()[-1] == "end"
    assert headings[1].split()[-1] == "[µs]"


def test_a_recording_may_be_compressed_and_its_loop_open(run, recording):
    packed = recording.with_name("packed.jsonl.gz")
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    code, printed, _ = run(*RUN_QUEUE, packed, "--policy", "fcfs", "--set", "timing=waits")
    assert code == 0
    assert "replay on 2 CPUs" in printed


def test_recordings_are_told_apart(run, recording):
    other = recording.with_name("first.again.jsonl")
    other.write_text(RECORDING)
    code, printed, _ = run(*RUN_QUEUE, recording, other, "--policy", "fcfs")
    assert code == 0
    assert {"first.run.jsonl", "first.again.jsonl"} < set(printed.splitlines())
    # Every change of fragment costs 1, so their number says it all.
    assert "penalty" not in printed
    assert "fragment" in printed


def test_a_recording_without_fragments_is_simulated_and_told(run, recording):
    recording.write_text(RECORDING.replace('"df": "x"', '"df": null').replace('"y"', "null"))
    code, printed, said = run(*RUN_QUEUE, recording, "--policy", "fcfs", "--json")
    assert code == 0
    assert json.loads(printed)["runs"][0]["executed"] == 16_000
    assert said.startswith(f"dfopt: {recording}: warning: no dispatch has a fragment")


def test_recordings_under_a_matrix(run, tmp_path):
    folder = tmp_path / "traces"
    web = ("web-server", "--policy", "fcfs", "--set", "until=50000000")
    assert run(*RUN_QUEUE, *web, "-o", folder)[0] == 0
    code, printed, said = run(
        *RUN_QUEUE, folder / "web-server-fcfs.jsonl.gz", "--policy", "lifo", "--json"
    )
    assert (code, said) == (0, "")
    (one,) = json.loads(printed)["runs"]
    assert one["scenario"] == "web-server-fcfs"
    assert one["penalty"]["total"] > 0


def test_what_is_wrong_with_a_recording_is_said_with_its_name(run, recording, small):
    code, _, said = run(
        *RUN_QUEUE, recording, "--penalty", "f", "--read-line", "1", "--write-back", "0"
    )
    assert code == 1
    assert said.startswith(f"dfopt: {recording}: the trace does not say how many lines")
    code, _, said = run(*RUN_QUEUE, small, "--read-line", "1")
    assert code == 2
    assert "for recorded traces" in " ".join(said.replace("│", " ").split())
    recording.write_text("no trace at all\n")
    code, _, said = run(*RUN_QUEUE, recording)
    assert code == 1
    assert said.startswith(f"dfopt: {recording}: ")


WITH_PATIENCE = (
    "--set", "rooms=2", "--set", "messages=1", "--set", "policy.newest.patience=3", "--json",
)  # fmt: skip


@pytest.mark.slow
def test_a_policy_from_a_module_outside_the_repository(tmp_path):
    """Processes beside this one find it, too."""
    (tmp_path / "newest.py").write_text(OWN)
    done = subprocess.run(
        [EXECUTABLE, *RUN_QUEUE, "chat", "--policy", "newest:Newest", *WITH_PATIENCE,
         "--workers", "2", "--replications", "2", "-o", "traces", "--quiet"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [row["policy"] for row in runs] == ["newest", "newest"]
    assert read_trace(tmp_path / "traces" / runs[0]["trace"]).header.policy == "newest"


def test_a_policy_from_a_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("newest.py").write_text(OWN)
    for source in ("newest.py", "newest.py:Newest"):
        arguments = (*RUN_QUEUE, "chat", "--policy", source, "--policy", "lifo", *WITH_PATIENCE)
        code, printed, said = run(*arguments)
        assert (code, said) == (0, "")
        assert [row["policy"] for row in json.loads(printed)["runs"]] == ["newest", "lifo"]
        code, _, said = run(*arguments, "--set", "policy.newest.x=3")
        assert code == 1
        assert said.startswith("dfopt: chat: policy.newest.x: unknown key; ")


@pytest.mark.parametrize(
    ("added", "message"),
    [
        (
            '[penalty]\nkind = "matrix"\ntypes = ["a"]\nswitch = [[0]]',
            "penalty.types: has no type 'room0-client', which the workload uses; add it",
        ),
        ("[policy.fcsf]", "policy.fcsf: there is no such policy; did you mean 'fcfs'?"),
        (
            "[penalty]\nread_line = 4611686018427387904",
            "the simulation lasts longer than 2^62; give its times a larger unit",
        ),
    ],
)
def test_what_is_wrong_with_a_scenario_is_said_with_its_file(run, small, added, message):
    small.write_text(f"{SMALL}{added}\n".replace('name = "small"\n', ""))
    code, _, said = run(*RUN_QUEUE, small, "--policy", "fcfs")
    assert (code, said) == (1, f"dfopt: {small}: {message}\n")


@pytest.mark.slow
def test_a_scenario_on_a_base_is_called_like_its_file(run, small):
    small.write_text(SMALL.replace('name = "small"\n', ""))
    other = small.with_name("other.toml")
    other.write_text('format = "dfopt-scenario/1"\nbase = "small.toml"\n')
    code, printed, _ = run(*RUN_QUEUE, small, other, "--policy", "fcfs", "--json")
    assert code == 0
    assert [row["scenario"] for row in json.loads(printed)["runs"]] == ["small", "other"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "self.stack.pop()", "self.stak.pop()",
            "line 18: the policy 'newest' fails in pick (AttributeError: 'Newest' object has no "
            "attribute 'stak'); correct it",
        ),
        (
            "self.stack.append(thread)", "exit()",
            "line 15: the policy 'newest' fails in ready (SystemExit: None); correct it",
        ),
        (
            "def pick", "def peck",
            "the simulation fails under the policy 'newest' (NotImplementedError: pick() must be "
            "there); check what its callbacks return, and what they ask the engine for",
        ),
        ("import Policy", "import Policy\nexit(0)", "cannot be loaded (SystemExit: 0); correct it"),
        (
            "self.patience = patience", "raise LookupError('no\\nluck')",
            "line 11: the policy 'newest' fails in __init__ (LookupError: no luck); correct it",
        ),
    ],
)  # fmt: skip
def test_a_policy_that_fails_is_named_in_one_line(run, tmp_path, old, new, message):
    file = tmp_path / "newest.py"
    file.write_text(OWN.replace(old, new))
    for workers in ("1", "2"):
        code, printed, said = run(
            *RUN_QUEUE, "chat", "--policy", file, "--policy", "fcfs", "--workers", workers
        )
        assert (code, printed) == (1, "")
        assert said == f"dfopt: {file}: {message}\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_keeps_what_is_finished(terminal, tmp_path):
    process = terminal.start(
        *RUN_QUEUE, "chat", "--policy", "fcfs", "--set", "rooms=2", "--replications", "2000",
        "--json", "-o", tmp_path,
    )  # fmt: skip
    terminal.wait_for(rb"replications: [1-9]")
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 4, terminal.all_shown()
    document = json.loads(printed)
    assert not document["complete"]
    assert 1 <= len(document["runs"]) < 2000
    assert b"interrupted" in terminal.all_shown()
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {*(row["trace"] for row in document["runs"]), "summary.json"}
