"""Many simulations at once: their files, their figures, and what is left out."""

import json

import pytest
from jsonschema import Draft202012Validator

from dfopt.compare import compare_trace
from dfopt.compare.cost_model_choice import ModelChoice, chosen_model
from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.caches import CacheSizes
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.runs import simulate_all
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import run_of, simulate_once
from dfopt.trace import read_trace
from dfopt.trace.trace import Lengths
from tests.simulate.run_queue.scenarios import small_chat, small_hackbench

VALIDATOR = Draft202012Validator(schema("run-queue"))


def small(kind=small_chat, name="small", **values):
    return Scenario(
        **{
            "name": name,
            "workload": kind(),
            "machine": Machine(cpus=2),
            "penalty": PenaltyF(read_line=10, write_back=100),
        }
        | values
    )


def test_traces_and_a_summary(tmp_path):
    done = simulate_all([small()], ["fcfs", "lifo"], folder=tmp_path, processes=1)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "small-fcfs.jsonl.gz", "small-lifo.jsonl.gz", "summary.json",
    ]  # fmt: skip
    document = json.loads((tmp_path / "summary.json").read_text())
    VALIDATOR.validate(document)
    assert document == done.to_document()
    for run in done.runs:
        trace = read_trace(tmp_path / run.trace)
        assert trace.header.objective is Objective.TOTAL_PENALTY
        assert trace.header.lengths is Lengths.WITH_SWITCHES
        assert len(trace) == run.dispatches
        # The trace says all that a comparison has to know, and this finds the same costs.
        found = compare_trace(trace, chosen_model(ModelChoice(), trace.header), waits=None)
        assert found.realised.total == run.penalty.total
        assert found.realised.worst == run.penalty.worst
        assert found.service == run.service
        assert run.service.wakeup_latency.count > 0


def test_no_trace_is_written_over_another(tmp_path):
    scenarios = [small(name=name) for name in ("a b", "a-b")]
    with pytest.raises(DfoptError, match=r"2 traces are called .a-b-fcfs\.jsonl\.gz"):
        simulate_all(scenarios, ["fcfs"], folder=tmp_path)
    assert not list(tmp_path.iterdir())
    assert len(simulate_all(scenarios, ["fcfs"], processes=1).runs) == 2


@pytest.mark.slow
def test_seeds_stand_in_the_names_where_there_are_several(tmp_path):
    scenario = small(name="a b/c")
    simulate_all([scenario], ["fcfs"], seeds=range(3, 5), folder=tmp_path, is_plain=True)
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"a-b-c-fcfs-seed3.jsonl", "a-b-c-fcfs-seed4.jsonl", "summary.json"}


@pytest.mark.slow
def test_the_same_whatever_the_processes(tmp_path):
    scenarios = [small(), small(small_hackbench, "other")]
    policies, seeds = ["random", "fcfs"], range(2)
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        folder.mkdir()
        simulate_all(scenarios, policies, seeds=seeds, folder=folder, processes=processes)
    first, second = (
        {file.name: file.read_bytes() for file in folder.iterdir()}
        for folder in sorted(tmp_path.iterdir())
    )
    assert first == second
    assert len(first) == 9


@pytest.mark.slow
def test_they_come_in_the_order_asked_for():
    done = simulate_all(
        [small(), small(small_hackbench, "other")], ["lifo", "fcfs"], seeds=range(2), processes=2
    )
    assert [(run.scenario, run.policy, run.seed) for run in done.runs] == [
        (scenario, policy, seed)
        for scenario in ("small", "other")
        for policy in ("lifo", "fcfs")
        for seed in range(2)
    ]


def test_progress():
    seen = []
    simulate_all(
        [small()], ["fcfs", "lifo"], processes=1,
        on_progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert seen == [(1, 2), (2, 2)]


def test_all_leaves_out_what_does_not_fit():
    done = simulate_all([small()], ["all"], processes=1)
    (skipped,) = [entry for entry in done.skipped if entry.policy == "segregation"]
    assert "HTTP" in skipped.why
    names = [run.policy for run in done.runs]
    assert {*names, *(entry.policy for entry in done.skipped)} == set(POLICIES)
    VALIDATOR.validate(done.to_document())


def test_who_is_named_is_not_left_out(monkeypatch):
    monkeypatch.setattr(FirstComeFirstServed, "unfit", lambda *_: "it is old")
    assert "fcfs" not in {run.policy for run in simulate_all([small()], ["all"], processes=1).runs}
    done = simulate_all([small()], ["fcfs"])
    assert ([run.unfit for run in done.runs], done.skipped) == (["it is old"], ())
    document = done.to_document()
    VALIDATOR.validate(document)
    assert document["runs"][0]["unfit"] == "it is old"


def test_counts_of_caches_and_locks():
    scenario = small(caches=CacheSizes(lines=64, miss=7), machine=Machine(cpus=2, lock_time=500))
    done = simulate_all([scenario], ["global-queue", "fcfs"], processes=1)
    VALIDATOR.validate(done.to_document())
    first, second = done.to_document()["runs"]
    assert sum(first["caches"]["misses"]) > 0
    assert first["locks"]["misses"] == pytest.approx(
        first["locks"]["miss_ratio"] * first["locks"]["attempts"]
    )
    assert first["locks"]["attempts"] > 0
    assert "locks" not in second


def test_figures_are_those_of_the_counters():
    done = simulate_once(small(), FirstComeFirstServed)
    run, counters = run_of(done, scenario="small", seed=0), done.counters
    whole = run.cpus * counters.end
    idle = whole - sum(counters.busy) - counters.overhead
    assert run.idle_share * whole == pytest.approx(idle)
    assert run.response.mean * counters.responses == pytest.approx(counters.responded)
    assert run.wait.mean * counters.waits == pytest.approx(counters.waited)
    assert run.penalty_per_dispatch * counters.dispatches == pytest.approx(run.penalty.total)
    assert run.penalty.worst == max(counters.penalties)


def test_an_interrupt_keeps_what_is_finished(tmp_path, monkeypatch):
    def interrupted(tasks, processes):
        del processes
        for task in tasks[:2]:
            yield task, task.perform()
        (tasks[2].folder / tasks[2].trace).write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr("dfopt.parallel.pool.performed", interrupted)
    done = simulate_all([small()], ["fcfs"], seeds=range(4), folder=tmp_path)
    assert ([run.seed for run in done.runs], done.is_complete) == ([0, 1], False)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "small-fcfs-seed0.jsonl.gz", "small-fcfs-seed1.jsonl.gz", "summary.json",
    ]  # fmt: skip
    document = json.loads((tmp_path / "summary.json").read_text())
    VALIDATOR.validate(document)
    assert document["complete"] is False


@pytest.mark.parametrize(
    ("scenarios", "policies", "message"),
    [
        ([small(), small()], ["fcfs"], "2 scenarios are called 'small'"),
        (
            [small()],
            ["scx_mine.bpf.c"],
            "'scx_mine.bpf.c' is no policy, since policies are Python programs; name a file.py, "
            "which docs/how-to/run-queue-policy.md shows how to write",
        ),
        ([small()], ["fcsf"], "there is no policy 'fcsf'; did you mean 'fcfs'?"),
        (
            [small()], ["FIFO"],
            "there is no policy 'FIFO'; did you mean 'fcfs' (first come, first served)? (one of",
        ),
        (
            [small(policies={"fcsf": {}})], ["fcfs"],
            "small: policy.fcsf: there is no such policy; did you mean 'fcfs'?",
        ),
        (
            [small(policies={"fcfs": {"slice": 1}})], ["fcfs"],
            "small: policy.fcfs.slice: unknown key; did you mean 'time_slice'?",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_before_anything_is_done(tmp_path, scenarios, policies, message):
    with pytest.raises(DfoptError) as caught:
        simulate_all(scenarios, policies, folder=tmp_path)
    assert str(caught.value).startswith(message)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DfoptError, match="cannot be written to"):
        simulate_all([small()], ["fcfs"], folder=tmp_path / "nix")


def test_a_frame_has_a_row_for_each_simulation():
    pytest.importorskip("pandas")
    scenario = small(caches=CacheSizes(lines=64, miss=7))
    runs = simulate_all([scenario], ["fcfs", "data-affinity"], seeds=range(2), processes=1)
    frame = runs.to_frame(library="pandas")
    assert list(zip(frame["policy"], frame["seed"], strict=True)) == [
        (run.policy, run.seed) for run in runs.runs
    ]
    assert list(frame["penalty_total_ns"]) == [run.penalty.total for run in runs.runs]
    assert list(frame["response_mean_ns"]) == [run.response.mean for run in runs.runs]
    (latency,) = {run.service.wakeup_latency.p99 for run in runs.runs[:1]}
    assert frame["service_wakeup_latency_p99_ns"][0] == latency
    assert frame["service_response_p99_ns"][0] == runs.runs[0].service.response.p99
    assert list(frame["caches_misses"]) == [sum(run.caches.misses) for run in runs.runs]
    assert not any(isinstance(value, list | dict) for value in frame.iloc[0])
