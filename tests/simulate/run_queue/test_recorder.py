"""The traces of simulations say why threads stopped, when they were woken, and who made them."""

from __future__ import annotations

import pytest

from dfopt.compare import CostModel
from dfopt.compare.dispatches import movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.problem.penalties import PenaltyG
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import UnfitError, simulate_once
from dfopt.simulate.steps import Channel, Receive, Send, Sleep, Spawn, Yield
from dfopt.simulate.workload import Burst, NewThread
from dfopt.trace.events import Stop
from dfopt.trace.readiness import readiness_of
from dfopt.trace.trace import Trace, TraceHeader
from tests.simulate.run_queue.by_hand import run, user
from tests.simulate.run_queue.hand_made import simulated, thread
from tests.simulate.run_queue.scenarios import small_chat, small_scenarios

SLEEPS, PREEMPTED, ENDS = Stop.SLEEPS, Stop.PREEMPTED, Stop.ENDS


def trace_of(kernel: Kernel) -> Trace:
    return kernel.recorder.trace(
        cpus=kernel.cpus, threads=kernel.threads, fragments=("a", "b"), header=TraceHeader()
    )


def stops(trace: Trace) -> list[tuple[str, int, int, Stop]]:
    assert trace.stop is not None
    return [
        (trace.tasks[task].name, start, end, Stop(stop))
        for task, start, end, stop in zip(
            trace.task.tolist(),
            trace.start.tolist(),
            trace.end.tolist(),
            trace.stop.tolist(),
            strict=True,
        )
    ]


def test_messages_and_timers_wake() -> None:
    channel = Channel("c")
    trace = trace_of(
        run(
            [Receive(channel), user(4), Sleep(20), user(1)],
            [user(10), Send(channel), user(5)],
            machine=Machine(cpus=1),
        )
    )
    assert stops(trace) == [
        ("t1", 0, 15, ENDS),
        ("t0", 15, 19, SLEEPS),
        ("t0", 39, 40, ENDS),
    ]
    wakeups = trace.wakeups
    assert wakeups.time.tolist() == [10, 39]
    assert wakeups.waker.tolist() == [1, -1]
    assert wakeups.woken.tolist() == [0, 0]
    assert trace.first_wakeups.time.tolist() == [0, 0]
    assert trace.first_wakeups.waker.tolist() == [-1, -1]
    assert len(trace.forks.time) == 0


def test_a_thread_that_could_go_on_was_preempted() -> None:
    policy = FirstComeFirstServed(time_slice=10)
    trace = trace_of(run([user(15)], [user(5), Yield(), user(3)], policy=policy))
    assert stops(trace) == [
        ("t0", 0, 10, PREEMPTED),
        ("t1", 10, 15, PREEMPTED),
        ("t0", 15, 20, ENDS),
        ("t1", 20, 23, ENDS),
    ]


def test_a_change_of_fragment_is_no_sleep_and_one_that_ends_in_time_is() -> None:
    trace = trace_of(run([Burst(5, fragment=0), Burst(5, fragment=1), Sleep(5), user(1)]))
    assert [stop for *_, stop in stops(trace)] == [PREEMPTED, SLEEPS, ENDS]
    cut = trace_of(run([user(50)], until=20))
    assert stops(cut) == [("t0", 0, 20, PREEMPTED)]


def test_new_threads_have_parents() -> None:
    child = NewThread(name="child", steps=iter([user(5)]))
    trace = trace_of(run([user(10), Spawn(child), user(10)], machine=Machine(cpus=2)))
    assert trace.first_wakeups.time.tolist() == [0, 10]
    assert trace.first_wakeups.waker.tolist() == [-1, 0]
    assert (trace.forks.time.tolist(), trace.forks.parent.tolist()) == ([10], [0])
    assert trace.forks.child.tolist() == [1]
    assert readiness_of(trace).waker.tolist() == [-1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", small_scenarios(), ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("policy", POLICIES)
def test_it_is_known_when_all_dispatches_were_ready(scenario: Scenario, policy: str) -> None:
    try:
        done = simulate_once(scenario, POLICIES[policy], refuses_unfit=True)
    except UnfitError as error:
        pytest.skip(str(error))
    model = CostModel(penalty=scenario.penalty, cold_start=scenario.cold_start)
    arrivals = movable_dispatches(done.trace, model)
    recorded = arrivals
    assert readiness_of(done.trace).known.all()
    assert arrivals.unknown == 0
    assert arrivals.warnings == ()
    assert (recorded.waits >= 0).all()
    assert (arrivals.latest_starts(0) >= arrivals.start).all()
    assert cost_of(recorded) == sum(done.counters.penalties)


def test_waits_are_among_those_that_were_counted() -> None:
    # Switches take no time, so that a thread runs as soon as it is picked. One that is picked and
    # at once waits for a message leaves no trace.
    free = PenaltyG(fill=0, write_back=0)
    scenario = Scenario(name="chat", workload=small_chat(), machine=Machine(cpus=2), penalty=free)
    done = simulate_once(scenario, FirstComeFirstServed)
    readiness = readiness_of(done.trace)
    start, previous_end = done.trace.start, readiness.previous_end
    waited = int((start - readiness.ready_by.clip(previous_end)).sum())
    assert 0 < waited <= done.counters.waited


def test_kinds_and_weights_of_threads_are_in_the_trace() -> None:
    def make() -> list[NewThread]:
        return [thread("a", Burst(2), kind="web"), thread("b", Burst(3), weight=256)]

    trace = simulated(FirstComeFirstServed, make, cpus=2).trace
    assert trace.comm is not None
    assert (trace.comm.tolist(), trace.comms) == ([0, -1], ("web",))
    assert [task.weight for task in trace.tasks] == [1024, 256]
    plain = simulated(FirstComeFirstServed, lambda: [thread("a", Burst(2), nice=0)]).trace
    assert (plain.comm, plain.tasks[0].weight) == (None, None)
