"""Scenarios as files: what they mean, and what is wrong with them."""

import tomllib
from importlib import resources

import pytest
from jsonschema import Draft202012Validator

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt.problem.cache_domains import cache_domains
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.parameters import parameters_of
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.runs import simulate_all
from dfopt.simulate.scenario import Machine
from dfopt.simulate.scenario_document import (
    ScenarioDocument,
    read_scenario,
    scenario_of_trace,
    shipped_scenarios,
)
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workloads import WORKLOADS
from dfopt.simulate.workloads.replay import Replay
from dfopt.trace.trace import TraceHeader

SMALL = """
format = "dfopt-scenario/1"
name = "small"
workload = "chat"
until = 1_000_000
cold_start = false
[machine]
cpus = 2
switch_time = 3
[penalty]
kind = "f"
read_line = 10
write_back = 20
[parameters]
rooms = 1
users = 2
messages = 3
[policy.fcfs]
time_slice = 500
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def test_what_a_file_says(file):
    scenario = read_scenario(file)
    assert (scenario.name, scenario.until, scenario.cold_start) == ("small", 1_000_000, False)
    assert scenario.machine == Machine(cpus=2, switch_time=3)
    assert scenario.penalty == PenaltyF(read_line=10, write_back=20)
    assert scenario.workload == WORKLOADS["chat"](rooms=1, users=2, messages=3)
    assert scenario.policies == {"fcfs": {"time_slice": 500}}
    assert (scenario.time_unit, scenario.caches) == ("ns", None)


def test_every_kind_but_replays_comes_with_a_scenario():
    assert set(shipped_scenarios()) == set(WORKLOADS) - {"replay"}
    for name in shipped_scenarios():
        scenario = read_scenario(name)
        assert scenario.name == scenario.workload.name == name
        assert scenario.source


@pytest.mark.parametrize("name", sorted(set(WORKLOADS) - {"replay"}))
def test_shipped_scenarios_can_be_simulated(name):
    small = {
        "aim": {"users": 2, "jobs": 1},
        "chat": {"rooms": 2, "messages": 1},
        "custom": {"iterations": 100_000},
        "fine-grained": {"array_size": 2**12},
        "hackbench": {"groups": 1, "loops": 1},
        "web-server": {"until": 100_000_000},
    }
    done = simulate_all([read_scenario(name, small[name])], ["fcfs"])
    (run,) = done.runs
    assert (run.scenario, run.policy, run.cpus) == (name, "fcfs", read_scenario(name).machine.cpus)
    assert run.dispatches > 0
    assert (run.caches is not None) == (read_scenario(name).caches is not None)


def test_caches_and_other_penalties(file):
    file.write_text(
        SMALL.replace('kind = "f"\nread_line = 10', 'kind = "g"\nfill = 10')
        + "[caches]\nlines = 8\nmiss = 5\n"
    )
    scenario = read_scenario(file)
    assert scenario.penalty == PenaltyG(fill=10, write_back=20)
    assert scenario.caches == CacheSizes(lines=8, miss=5)


@pytest.mark.parametrize(
    "written",
    [
        'domains = "0;1"',
        '[[machine.domains]]\ncpus = "0"\n[[machine.domains]]\ncpus = [1]',
        '[[machine.domains]]\ncpus = [0]\nname = "0"\n[[machine.domains]]\ncpus = "1"\nname = "1"',
    ],
)
def test_cache_domains_of_a_machine(file, written):
    file.write_text(SMALL.replace("switch_time = 3", written))
    assert read_scenario(file).machine == Machine(cpus=2, domains=cache_domains("0;1"))
    one = cache_domains("0-1")
    assert read_scenario(file, {"machine.domains": one}).machine.domains == one
    assert read_scenario(file, {"machine.domains": "0-1"}).machine.domains == one
    Draft202012Validator(schema("scenario")).validate(tomllib.loads(file.read_text()))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('domains = "0-2"', "machine.domains: hold CPUs 0-2, but the CPUs are 0-1"),
        ('domains = "a"', "machine.domains: 'a' is no list of CPUs"),
        ('domains = [{cpus = "0"}, {cpus = [0]}]', r"machine.domains\[1\].cpus: names CPU 0 a sec"),
        ('domains = [{cpus = "0-1", cpu = 1}]', r"machine.domains\[0\].cpu: unknown key"),
        ("domains = [{}]", r"machine.domains\[0\].cpus: is missing"),
        ("domains = 1", "machine.domains: must be an array"),
    ],
)
def test_cache_domains_that_are_wrong(file, written, message):
    file.write_text(SMALL.replace("switch_time = 3", written))
    with pytest.raises(DfoptError, match=message):
        read_scenario(file)


def test_a_machine_takes_cache_domains_only():
    assert Machine(cpus=2, domains="0;1").domains == cache_domains("0;1")
    with pytest.raises(DfoptError, match=r"domains: must be an array"):
        Machine(cpus=2, domains=3)


def test_a_base_by_name_or_file(file):
    on_it = file.with_name("on-it.toml")
    on_it.write_text(
        'format = "dfopt-scenario/1"\nbase = "small.toml"\n[parameters]\nrooms = 7\n'
        '[penalty]\nkind = "g"\nfill = 1\nwrite_back = 0\n'
    )
    scenario = read_scenario(on_it)
    assert (scenario.name, scenario.workload) == (
        "on-it", WORKLOADS["chat"](rooms=7, users=2, messages=3),
    )  # fmt: skip
    assert scenario.penalty == PenaltyG(fill=1, write_back=0)
    on_it.write_text('format = "dfopt-scenario/1"\nbase = "web-server"\nworkload = "hackbench"\n')
    scenario = read_scenario(on_it)
    assert scenario.workload == WORKLOADS["hackbench"]()
    assert isinstance(scenario.penalty, PenaltyMatrix)


def test_a_file_may_have_the_name_of_a_shipped_one(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    file.rename(file.with_name("chat"))
    assert read_scenario("chat").name == "small"


def test_shipped_scenarios_stand_on_shipped_ones(tmp_path, monkeypatch):
    """Whatever has the name of their base in the working folder, where runs are written to."""
    shipped = read_scenario("custom")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat").mkdir()
    assert read_scenario("custom") == shipped
    assert read_scenario("chat").name == "chat"
    (tmp_path / "chat").rmdir()
    (tmp_path / "chat").write_text('format = "dfopt-scenario/1"\nbase = "hackbench"\n')
    assert read_scenario("custom") == shipped


def test_settings(file):
    scenario = read_scenario(
        file,
        {
            "rooms": 5, "machine.cpus": 8, "penalty.write_back": 0, "until": 7,
            "policy.fcfs.time_slice": 9, "policy.linux-o1.x-note": 1, "parameters.users": 3,
        },
    )  # fmt: skip
    assert scenario.workload == WORKLOADS["chat"](rooms=5, users=3, messages=3)
    assert scenario.machine.cpus == 8
    assert scenario.penalty == PenaltyF(read_line=10, write_back=0)
    assert scenario.until == 7
    assert scenario.policies["fcfs"] == {"time_slice": 9}


def test_what_a_file_says_about_threads(file):
    file.write_text(
        SMALL + '[[thread]]\nmatch = "*"\nnice = 5\ncpus_allowed = [1]\n'
        '[[thread]]\nmatch = "*-sender"\nweight = 9\nnice = -3\n'
    )
    scenario = read_scenario(file)
    Draft202012Validator(schema("scenario")).validate(tomllib.loads(file.read_text()))
    threads = simulate_once(scenario, POLICIES["eevdf"]).engine.threads
    seen = {(thread.nice, thread.weight, thread.cpus_allowed) for thread in threads}
    bound = frozenset({1})
    # Nice 5 has the weight 1024 / 1.25^5.
    assert seen == {(5, 336, bound), (-3, 9, bound)}
    assert read_scenario(file, {"thread": []}).threads == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"roms": 5}, "parameters.roms: unknown key; did you mean 'rooms'?"),
        ({"rooms": "many"}, "parameters.rooms: must be an integer, not 'many'"),
        ({"rooms": 0}, "parameters.rooms: must be at least 1, not 0"),
        ({"machine.cpu": 5}, "machine.cpu: unknown key; did you mean 'cpus'?"),
        ({"penalty.fill": 5}, "penalty.fill: belongs to the kind 'g'"),
        ({"policy.fcfs.slice": 5}, "policy.fcfs.slice: unknown key; did you mean 'time_slice'?"),
        ({"policy.fcfs.time_slice": "a"}, "policy.fcfs.time_slice: must be an integer, not 'a'"),
        ({"machine": 5}, "machine: must be an object"),
        ({"until": -1}, "until: must be at least 0"),
        ({"thread": [{"nice": 3}]}, "thread[0].match: is missing"),
        ({"thread": [{"match": "a", "wieght": 3}]}, "thread[0].wieght: unknown key; did you mean"),
        ({"thread": [{"match": "a", "nice": 20}]}, "thread[0].nice: must be at most 19, not 20"),
        ({"thread": [{"match": "a", "weight": 0}]}, "thread[0].weight: must be at least 1, not 0"),
        ({"thread": [{"match": "a", "cpus_allowed": []}]}, "thread[0].cpus_allowed: is empty"),
        ({"thread": 3}, "thread: must be an array"),
    ],
)
def test_settings_that_are_wrong(file, settings, message):
    with pytest.raises(DfoptError) as caught:
        read_scenario(file, settings)
    assert str(caught.value).startswith(f"{file}: {message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dfopt-scenario/1", "dfopt-mix/1", "format: the file holds a mix of jobs"),
        ('"chat"', '"chatt"', "workload: 'chatt' is no workload; did you mean 'chat'?"),
        ("[machine]", "[machin]", "machin: unknown key; did you mean 'machine'?"),
        ("cpus = 2", "cpus = 0", "machine.cpus: must be at least 1, not 0"),
        ("cpus = 2", 'cpus = "2"', "machine.cpus: must be an integer, not '2'"),
        ("cpus = 2\n", "", "machine.cpus: is missing"),
        ("cpus = 2", "cpus = 2\nlock_distribution = 'wild'", "machine.lock_distribution: must be"),
        ('kind = "f"', 'kind = "h"', "penalty.kind: must be one of 'f', 'g', 'matrix', not 'h'"),
        ("read_line = 10\n", "", "penalty.read_line: is missing"),
        ("read_line = 10", "read_line = 1.5", "penalty.read_line: must be an integer, not 1.5"),
        ("rooms = 1", "room = 1", "parameters.room: unknown key; did you mean 'rooms'?"),
        ("rooms = 1", "rooms = 1.0", "parameters.rooms: must be an integer, not 1.0"),
        ("users = 2", "users = 1", "parameters.users: must be at least 2"),
        ("cold_start = false", "cold_start = 0", "cold_start: must be true or false, not 0"),
        ("until = 1_000_000", "until = inf", "until: NaN and infinite"),
        ("time_slice = 500", "slice = 500", "policy.fcfs.slice: unknown key; did you mean"),
        ("time_slice = 500", "time_slice = 1.5", "policy.fcfs.time_slice: must be an integer"),
        ('workload = "chat"', "", "workload: is missing"),
        ("[parameters]", "[parameters", "line 14"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(file, old, new, message):
    assert old in SMALL
    file.write_text(SMALL.replace(old, new))
    with pytest.raises(DfoptError) as caught:
        read_scenario(file)
    assert str(caught.value).startswith(f"{file}: {message}")
    assert "\n" not in str(caught.value)


def test_a_name_that_is_neither_a_file_nor_shipped():
    with pytest.raises(DfoptError, match=r"nix: there is no such file; .* dfopt are aim, chat"):
        read_scenario("nix")


def test_replays_from_files(tmp_path):
    path = tmp_path / "again.toml"
    text = SMALL.replace('"chat"', '"replay"').split("[parameters]")[0]
    path.write_text(f'{text}[parameters]\ntrace = "first.jsonl"\nlines = 3\n')
    scenario = read_scenario(path)
    assert scenario.workload == Replay(trace=str(tmp_path / "first.jsonl"), lines=3)
    path.write_text(f'{text}[parameters]\ntrace = "first.jsonl"\n')
    with pytest.raises(DfoptError, match=r"parameters\.lines: is missing; under penalty f"):
        read_scenario(path)


def test_a_trace_as_a_scenario():
    recorded = simulate_once(read_scenario("chat", {"rooms": 2, "messages": 1}), POLICIES["fcfs"])
    trace = recorded.trace
    scenario = scenario_of_trace(trace, {"machine.cpus": 4, "timing": "waits"}, name="x")
    assert (scenario.name, scenario.time_unit) == ("chat-fcfs", "ns")
    assert scenario.penalty == read_scenario("chat").penalty
    assert scenario.machine == Machine(cpus=4)
    assert scenario.workload == Replay(trace=trace, timing="waits")
    nameless = replace(trace, header=replace(trace.header, name=None))
    assert scenario_of_trace(nameless, name="x").name == "x"


def test_a_trace_without_costs_is_no_scenario():
    recorded = simulate_once(read_scenario("chat", {"rooms": 1, "messages": 1}), POLICIES["fcfs"])
    trace = replace(recorded.trace, header=TraceHeader())
    with pytest.raises(DfoptError, match="penalty: is missing; say what switches cost"):
        scenario_of_trace(trace)


@pytest.mark.parametrize("labels", ["own", "wakeups", "comm:a/.*", "nowhere.csv"])
def test_labels_of_replays_that_name_no_file(tmp_path, labels):
    assert labels_of(tmp_path, labels) == labels


@pytest.mark.parametrize("source", ["{}", "csv:{}", "cgroup:{}"])
def test_files_of_labels_lie_beside_their_scenario(tmp_path, source):
    (tmp_path / "fragments.csv").touch()
    expected = source.format(tmp_path / "fragments.csv")
    assert labels_of(tmp_path, source.format("fragments.csv")) == expected


def labels_of(folder, labels):
    path = folder / "again.toml"
    text = SMALL.replace('"chat"', '"replay"').split("[parameters]")[0]
    path.write_text(f'{text}[parameters]\ntrace = "x"\nlines = 3\nlabels = "{labels}"\n')
    return read_scenario(path).workload.labels


def test_the_schema_knows_every_key(file):
    known = schema("scenario")["properties"]
    assert set(known) == {"format", *ScenarioDocument.__struct_encode_fields__}
    parts = schema("scenario")["$defs"]
    assert set(parts["Machine"]["properties"]) == set(Machine.__struct_fields__)
    assert set(parts["CacheSizes"]["properties"]) == set(CacheSizes.__struct_fields__)
    validator = Draft202012Validator(schema("scenario"))
    Draft202012Validator.check_schema(schema("scenario"))
    validator.validate(tomllib.loads(SMALL))
    folder = resources.files("dfopt.simulate") / "scenarios"
    for name in shipped_scenarios():
        validator.validate(tomllib.loads((folder / f"{name}.toml").read_text("utf-8")))
    wrong = tomllib.loads(SMALL.replace("switch_time", "switchtime"))
    assert not validator.is_valid(wrong)


def test_every_policy_has_parameters_with_defaults():
    for policy in POLICIES.values():
        assert all(one.annotation is not None for one in parameters_of(policy).values())
        policy()
