"""Recorded threads under other policies: what they wait for, and that nothing is lost."""

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.problem.penalties import PenaltyG
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.steps import Receive, Send, Sleep, Spawn
from dfopt.simulate.workload import Burst
from dfopt.simulate.workloads.replay import Replay, Wait, recorded_waits
from dfopt.trace import read_trace, write_trace
from dfopt.trace.events import Forks, Wakeups
from dfopt.trace.trace import Gaps, Trace, TraceTask

RECORDINGS = (
    "dfbench_16t_6df.ftrace",
    "ftrace_lost_events_excerpt",
    "hackbench_g1_l10.ftrace_tgid",
    "hackbench_proc_g16_l20.perf_sched_script",
    "hackbench_proc_g4_l200.perf_record_3ev.perf_script",
    "hackbench_proc_g4_l200.perf_sched_script",
    "hackbench_proc_g4_l30.perf_sched_script",
    "hackbench_thread_g4_l30.perf_sched_script_pidtid",
    "nasty_comm.ftrace",
    "nasty_comm.perf_script",
)
EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"

A, B, C = range(3)
INTERRUPT = -1
FREE = PenaltyG(fill=0, write_back=0)


def recording(dispatches, *, wakeups=(), forks=(), gaps=()):
    """Return a trace of (CPU, start, end, task, fragment), of (time, waker, woken) and so on."""
    rows = sorted(dispatches, key=lambda row: row[1])
    cpu, start, end, task, fragment = np.array(rows, np.int64).reshape(len(rows), 5).T
    narrow, wide = np.int32, np.int64
    time, waker, woken = np.array(wakeups, wide).reshape(len(wakeups), 3).T
    fork_time, parent, child = np.array(forks, wide).reshape(len(forks), 3).T
    gap_cpu, gap_start, gap_end = np.array(gaps, wide).reshape(len(gaps), 3).T
    return Trace(
        cpus=2, cpu=cpu.astype(narrow), start=start, end=end, task=task.astype(narrow),
        fragment=fragment.astype(narrow), fragments=("x", "y"),
        tasks=tuple(TraceTask(name=name) for name in "abc"),
        wakeups=Wakeups(time=time, waker=waker.astype(narrow), woken=woken.astype(narrow)),
        forks=Forks(time=fork_time, parent=parent.astype(narrow), child=child.astype(narrow)),
        gaps=Gaps(
            cpu=gap_cpu.astype(narrow), start=gap_start, end=gap_end,
            reason=np.zeros(len(gaps), narrow), reasons=("lost events",),
        ),
    )  # fmt: skip


def programs(trace, **parameters):
    """Return each thread's steps by its name, and the threads, spawned ones included."""
    found, threads = {}, {}
    waiting = list(Replay(trace=trace, **parameters).build(Random(0)).threads)
    while waiting:
        thread = waiting.pop()
        threads[thread.name] = thread
        found[thread.name] = list(thread.steps)
        waiting += [step.child for step in found[thread.name] if isinstance(step, Spawn)]
    return found, threads


def shown(steps):
    words = []
    for step in steps:
        match step:
            case Burst():
                words.append(step.time)
            case Sleep():
                words.append(f"sleep {step.time}")
            case Send():
                words.append(f"send {step.channel.name[-1]}")
            case Receive():
                words.append("receive")
            case Spawn():
                words.append(f"spawn {step.child.name}")
    return words


def scenario(trace, **parameters):
    return Scenario(
        name="replay",
        workload=Replay(trace=trace, **parameters),
        machine=Machine(cpus=trace.cpus),
        penalty=FREE,
    )


PING_PONG = recording(
    [(0, 0, 10, A, 0), (1, 12, 20, B, 1), (0, 18, 30, A, 0)],
    wakeups=[(6, A, B), (15, B, A)],
)


def test_a_thread_that_another_woke_waits_for_its_message():
    steps, threads = programs(PING_PONG)
    assert shown(steps["a"]) == [6, "send b", 4, "receive", 12]
    assert shown(steps["b"]) == ["receive", 3, "send a", 5]
    assert threads["a"].arrival == threads["b"].arrival == 0
    assert [step.fragment for step in steps["a"] if isinstance(step, Burst)] == [0, 0, 0]


def test_threads_keep_their_weights():
    a, b, c = PING_PONG.tasks
    tasks = replace(a, weight=3125), replace(b, weight=1), c
    _, threads = programs(replace(PING_PONG, tasks=tasks))
    urgent, slow = threads["a"], threads["b"]
    assert (urgent.nice, urgent.real_weight) == (-5, 3125)
    assert (slow.nice, slow.real_weight) == (19, 1)
    _, threads = programs(PING_PONG)
    assert {(thread.nice, thread.real_weight) for thread in threads.values()} == {(0, 1024)}


def test_a_fair_policy_gives_recorded_weights_their_shares():
    """Both threads want one CPU for 100 ms; the light one has got a tenth when the other ends."""
    two = recording([(0, 0, 10**8, A, 0), (1, 0, 10**8, B, 0)])
    a, b, c = two.tasks
    heavy = replace(two, tasks=(replace(a, weight=9 * 512), replace(b, weight=512), c))
    one_cpu = replace(scenario(heavy), machine=Machine(cpus=1))
    trace = simulate_once(one_cpu, POLICIES["eevdf"]).trace
    names = [trace.tasks[task].name for task in trace.task.tolist()]
    end = max(end for name, end in zip(names, trace.end.tolist(), strict=True) if name == "a")
    assert end == pytest.approx(10**8 * 10 / 9, rel=0.03)


def test_with_waits_it_sleeps_as_long_as_it_was_blocked():
    steps, threads = programs(PING_PONG, timing="waits")
    assert shown(steps["a"]) == [10, "sleep 5", 12]
    assert shown(steps["b"]) == [8]
    assert threads["b"].arrival == 6


def test_closed_loops_follow_the_waker_and_open_ones_do_not():
    """A ran late, and woke B after 5 of its 10; on another CPU it runs at once."""
    late = recording(
        [(0, 0, 50, C, 0), (0, 50, 60, A, 0), (0, 60, 70, B, 0)],
        wakeups=[(0, INTERRUPT, A), (55, A, B)],
    )
    begins = {}
    for timing in ("wakeups", "waits"):
        trace = simulate_once(scenario(late, timing=timing), POLICIES["fcfs"]).trace
        begins[timing] = dict(
            zip((trace.tasks[task].name for task in trace.task), trace.start.tolist(), strict=True)
        )
    assert begins == {"wakeups": {"a": 0, "b": 10, "c": 0}, "waits": {"a": 0, "b": 55, "c": 0}}


def test_a_thread_that_nobody_woke_was_preempted_and_goes_on():
    trace = recording(
        [(0, 0, 10, A, 0), (0, 10, 20, B, 1), (0, 20, 25, A, 0)], wakeups=[(3, INTERRUPT, B)]
    )
    steps, threads = programs(trace)
    assert shown(steps["a"]) == [10, 5]
    assert (shown(steps["b"]), threads["b"].arrival) == ([10], 3)


def test_an_interrupt_wakes_after_the_recorded_time():
    trace = recording([(0, 0, 10, A, 0), (0, 20, 25, A, 0)], wakeups=[(17, INTERRUPT, A)])
    assert shown(programs(trace)[0]["a"]) == [10, "sleep 7", 5]


def test_a_waker_that_does_not_run_then_is_an_interrupt():
    trace = recording(
        [(0, 0, 10, A, 0), (0, 20, 25, A, 0), (1, 30, 40, B, 0)], wakeups=[(17, B, A)]
    )
    assert shown(programs(trace)[0]["a"]) == [10, "sleep 7", 5]


@pytest.mark.parametrize(
    ("gaps", "wakeups"),
    [([(1, 12, 14)], [(25, INTERRUPT, B)]), ((), ())],
    ids=["a gap", "no wake-ups at all"],
)
def test_where_wake_ups_may_be_missing_the_whole_wait_is_slept(gaps, wakeups):
    trace = recording([(0, 0, 10, A, 0), (0, 20, 25, A, 0)], wakeups=wakeups, gaps=gaps)
    assert shown(programs(trace)[0]["a"]) == [10, "sleep 10", 5]


def test_who_runs_on_at_once_has_not_waited():
    trace = recording([(0, 0, 10, A, 0), (0, 10, 25, A, 1)])
    assert shown(programs(trace)[0]["a"]) == [10, 15]


def test_a_child_begins_where_its_parent_forks():
    trace = recording([(0, 0, 10, A, 0), (1, 8, 20, B, 1)], forks=[(4, A, B)], wakeups=[(5, A, B)])
    steps, _ = programs(trace)
    assert shown(steps["a"]) == [4, "spawn b", 6]
    assert shown(steps["b"]) == [12]


def test_a_dispatch_without_a_length_needs_its_fragment():
    trace = recording(
        [(0, 0, 10, A, 0), (0, 10, 10, B, 1), (0, 12, 15, A, 0)], wakeups=[(10, A, B), (12, -1, A)]
    )
    steps, _ = programs(trace)
    assert shown(steps["a"]) == [10, "send b", "sleep 2", 3]
    assert shown(steps["b"]) == ["receive", 0]
    done = simulate_once(
        replace(scenario(trace), machine=Machine(cpus=1), penalty=PenaltyG(fill=20, write_back=0)),
        POLICIES["fcfs"],
    )
    assert done.counters.dispatches == 3
    assert done.counters.penalties == [60]
    assert (done.counters.executed, done.counters.end) == (13, 73)


def test_messages_that_contradict_the_order_of_the_file_are_not_followed():
    """With a coarse clock A and B seem to wake each other at one moment, before either ran."""
    trace = recording([(0, 5, 10, A, 0), (1, 5, 10, B, 0)], wakeups=[(5, A, B), (5, B, A)])
    kinds = recorded_waits(trace).kind.tolist()
    assert sorted(kinds) == [Wait.WOKEN, Wait.TIMED]
    assert simulate_once(scenario(trace), POLICIES["fcfs"]).counters.executed == 10


def test_lines_and_states_where_the_trace_does_not_say():
    steps, _ = programs(PING_PONG, lines=7, leaves="clean")
    assert {(step.lines, step.leaves) for step in steps["a"] if isinstance(step, Burst)} == {(7, 0)}
    assert Replay(trace=PING_PONG, lines=7).build(Random(0)).sizes == (7, 7)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"timing": "late"}, "timing: must be one of 'waits', 'wakeups', not 'late'"),
        ({"leaves": "wet"}, "leaves: must be one of 'clean', 'dirty', 'invalidated', not 'wet'"),
        ({"lines": -1}, "lines: must be at least 0"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(DfoptError) as caught:
        Replay(trace="x", **parameters)
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_there_or_has_no_such_labels():
    with pytest.raises(DfoptError, match=r"nix\.txt: there is no such file"):
        Replay(trace="nix.txt").build(Random(0))
    with pytest.raises(DfoptError, match="two-cpus"):
        Replay(trace=str(EXAMPLES / "two-cpus.jsonl"), labels="marks").build(Random(0))


def run_times(trace):
    times = Counter()
    lengths = (trace.end - trace.start).tolist()
    for task, length in zip(trace.task.tolist(), lengths, strict=True):
        times[trace.tasks[task].name] += length
    return dict(times)


def cuts(trace, kinds):
    """Return how many dispatches are cut in two by something that happens in them."""
    waits = recorded_waits(trace)
    inside = set()
    for place in np.flatnonzero(np.isin(waits.kind, kinds)).tolist():
        row, time = int(waits.rows[waits.by[place]]), int(waits.at[place])
        if trace.start[row] < time < trace.end[row]:
            inside.add((row, time))
    return len(inside)


def check_replay(trace, timing):
    """Check that every dispatch is there with its length, and that everything ends."""
    steps, _ = programs(trace, timing=timing)
    own = {
        name: [step.time for step in one if isinstance(step, Burst)] for name, one in steps.items()
    }
    assert {name: sum(times) for name, times in own.items()} == run_times(trace)
    acting = [Wait.FORKED] if timing == "waits" else [Wait.FORKED, Wait.WOKEN]
    assert sum(map(len, own.values())) == len(trace) + cuts(trace, acting)
    done = simulate_once(scenario(trace, timing=timing), POLICIES["fcfs"])
    assert {thread.name: thread.run_time for thread in done.engine.threads} == run_times(trace)


@pytest.mark.slow
@pytest.mark.parametrize("timing", ["wakeups", "waits"])
@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings(shared, name, timing):
    check_replay(read_trace(shared / "data" / "traces" / f"{name}.txt.gz"), timing)


@pytest.mark.parametrize("timing", ["wakeups", "waits"])
@pytest.mark.parametrize("name", ["hackbench-4.txt.gz", "workers.ftrace.txt", "two-cpus.jsonl"])
def test_examples(name, timing):
    check_replay(read_trace(EXAMPLES / name), timing)


@pytest.mark.parametrize("policy", ["fcfs", "lifo"])
def test_a_simulated_trace_is_replayed_through_a_file(policy, tmp_path):
    first = simulate_once(scenario(PING_PONG), POLICIES[policy]).trace
    file = tmp_path / "first.jsonl.gz"
    write_trace(first, file)
    again = simulate_once(scenario(read_trace(file)), POLICIES["fcfs"])
    assert run_times(again.trace) == run_times(first)
    read = Replay(trace=str(file)).build(Random(0))
    assert {thread.name for thread in read.threads} == {"a", "b"}
    assert read.fragments == ("x", "y")


@st.composite
def recordings(draw):
    """Draw a trace with a coarse clock: much happens at one time, and not all of it is possible."""
    dispatches = []
    free = {A: 0, B: 0, C: 0}
    now = [0, 0]
    for _ in range(draw(st.integers(1, 12))):
        cpu, task = draw(st.integers(0, 1)), draw(st.sampled_from([A, B, C]))
        start = max(now[cpu], free[task]) + draw(st.integers(0, 2))
        end = start + draw(st.integers(0, 3))
        dispatches.append((cpu, start, end, task, draw(st.integers(-1, 1))))
        now[cpu] = free[task] = end
    times = st.integers(0, max(now))
    wakeups = st.tuples(times, st.integers(-1, 2), st.integers(0, 2))
    forks = st.tuples(times, st.just(A), st.sampled_from([B, C])) | st.tuples(
        times, st.just(B), st.just(C)
    )
    gaps = st.tuples(st.integers(0, 1), times, times).filter(lambda gap: gap[1] < gap[2])
    return recording(
        dispatches,
        wakeups=sorted(draw(st.lists(wakeups, max_size=15)), key=lambda one: one[0]),
        forks=sorted(draw(st.lists(forks, max_size=2, unique_by=lambda one: one[2]))),
        gaps=sorted(draw(st.lists(gaps, max_size=2)), key=lambda one: one[1]),
    )


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(recordings(), st.sampled_from(["wakeups", "waits"]))
def test_nothing_is_lost_and_nobody_waits_for_ever(trace, timing):
    check_replay(trace, timing)
