"""Mixes so small that every figure is known."""

import math

import pytest

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt_models.space_sharing import (
    POLICIES,
    AllocationPolicy,
    Stays,
    TimeSteps,
    WaveFront,
    replicate,
)
from tests.models.space_sharing.small import COSTLY, blocks, graph, mix

ALL = pytest.mark.parametrize("policy", POLICIES)


def figures(subject, policy):
    done = replicate(subject, POLICIES[policy], seed=0)
    return {job.application: job for job in done.jobs}


@ALL
def test_one_job_on_one_processor(policy):
    one = mix(blocks(5, 2.0), processors=1, penalties=COSTLY, path_length=0.5, latency=0.25)
    job = figures(one, policy)["A"]
    assert job.response_time == 11.0
    assert (job.work, job.waste, job.overhead) == (10.0, 0.25, 0.75)
    assert (job.reallocations, job.affinity, job.allocation) == (1, 0.0, 1.0)


def test_two_equal_jobs_share_equally():
    two = mix(blocks(8), blocks(8), penalties=COSTLY, path_length=0.5)
    found = figures(two, "equipartition")
    # Two processors each: 4 s of threads after 0.75 s of reallocation.
    assert [job.response_time for job in found.values()] == [4.75, 4.75]
    assert [job.allocation for job in found.values()] == [2.0, 2.0]
    first = found["A"]  # when it ends, the other gets its processors for no time at all
    assert first.reallocations == 2
    assert (first.work, first.waste, first.overhead) == (8.0, 0.0, 1.5)


@ALL
def test_a_chain_takes_its_length(policy):
    chain = graph({"a": 1.0, "b": 2.0, "c": 4.0}, [("a", "b"), ("b", "c")])
    assert figures(mix(chain), policy)["A"].response_time == 7.0


@ALL
def test_a_diamond_on_two_processors(policy):
    diamond = graph(
        {"top": 1.0, "left": 2.0, "right": 3.0, "bottom": 1.0},
        [("top", "left"), ("top", "right"), ("left", "bottom"), ("right", "bottom")],
    )
    job = figures(mix(diamond, processors=2), policy)["A"]
    assert job.response_time == 5.0
    assert job.work == 7.0


def test_equipartition_holds_what_it_cannot_use():
    # The serial phase takes 1 s, each parallel one 4 s of work on 4 processors, a barrier 0.5 s.
    steps = TimeSteps(
        work=9.5, steps=1, serial=1.0, phases=2, threads=4, variation=0.0, barrier=0.5
    )
    job = figures(mix(steps), "equipartition")["A"]
    assert job.response_time == 1.0 + 1.0 + 0.5 + 1.0
    assert job.waste == pytest.approx(3 * 1.0 + 3 * 0.5)


def test_a_wave_front_of_unit_threads_takes_its_diagonals():
    front = WaveFront(work=12.0, rows=3, columns=4, variation=0.0)
    assert front.most_parallel == 3
    assert figures(mix(front), "equipartition")["A"].response_time == 6.0


def test_a_preempted_thread_goes_on_where_it_was():
    # A alone for 0.25 s; then B takes one of two processors, and A's thread waits for it.
    late = mix(blocks(2), blocks(1), processors=2, arrivals=[0.0, 0.25], victim="lowest")
    found = figures(late, "dynamic")
    assert found["B"].response_time == 1.0
    assert found["A"].response_time == pytest.approx(1.75)
    assert found["A"].work == pytest.approx(2.0)


def test_a_start_up_cut_short_costs_what_it_took():
    late = mix(
        blocks(2), blocks(1), processors=2, arrivals=[0.0, 0.5], victim="lowest",
        latency=0.375, path_length=1.0,
    )  # fmt: skip
    first = figures(late, "dynamic")["A"]
    # One start-up of A ends after 0.375 s of latency and 0.125 s of overhead.
    assert first.waste == pytest.approx(0.375 * first.reallocations)
    assert first.overhead == pytest.approx(1.0 * (first.reallocations - 1) + 0.125)


def test_affinity_and_who_was_there_in_between():
    # At the first review B takes the processor from A, and leaves it when it ends.
    late = mix(
        blocks(1, 12.0), blocks(1), processors=1, arrivals=[0.0, 1.0], penalties=COSTLY,
        review_interval=10.0, credit_per_processor=0.01,
    )  # fmt: skip
    found = figures(late, "dynamic")
    assert (found["A"].reallocations, found["A"].affinity) == (2, 0.5)
    assert found["A"].overhead == pytest.approx(0.25 + 0.125)
    assert found["A"].affinity_penalty == pytest.approx(0.125)


def test_stays_are_a_trace():
    stays = Stays()
    replicate(
        mix(blocks(2), blocks(1), processors=2, arrivals=[0.0, 0.25], victim="lowest"),
        POLICIES["dynamic"],
        seed=0,
        stays=stays,
    )
    trace = stays.trace(name="small", policy="dynamic", processors=2)
    rows = sorted(
        (int(cpu), int(start), int(end), trace.tasks[task].name, trace.fragments[df])
        for cpu, start, end, task, df in zip(
            trace.cpu, trace.start, trace.end, trace.task, trace.fragment, strict=True
        )
    )
    assert rows == [
        (0, 0, 250_000_000, "A#1/0", "A#1"),
        (0, 250_000_000, 1_250_000_000, "B#1/0", "B#1"),
        (1, 0, 1_750_000_000, "A#1/1", "A#1"),
    ]


def test_the_end_of_a_simulation_gives_nobody_work():
    # At 5 s A's second job has an idle processor since 4 s, and a thread on the other one.
    uneven = graph({"long": 3.0, "short": 1.0})
    stays = Stays()
    replicate(
        mix(uneven, blocks(2, 5.0), restart=True), POLICIES["equipartition"], seed=0, stays=stays
    )
    trace = stays.trace(name="small", policy="equipartition", processors=4)
    ends = {
        trace.tasks[task].name: int(end) for task, end in zip(trace.task, trace.end, strict=True)
    }
    assert (ends["A#2/0"], ends["A#2/1"]) == (5 * 10**9, 4 * 10**9)


def test_jobs_restart_until_all_have_run():
    constant = mix(blocks(4, 3.0), blocks(4, 0.9), processors=4, restart=True)
    done = replicate(constant, POLICIES["equipartition"], seed=0)
    ended = [job.application for job in done.jobs]
    assert ended.count("A") == 1
    assert ended.count("B") == 3
    assert done.duration == 6.0


def test_copies_arrive_one_after_another():
    subject = mix(blocks(2))
    (entry,) = subject.jobs
    later = replace(entry, copies=4, arrival=1.5, interarrival=3.0)
    done = replicate(replace(subject, jobs=(later,)), POLICIES["dynamic"], seed=0)
    arrivals = sorted(job.arrival for job in done.jobs)
    assert arrivals[0] == 1.5
    assert len(set(arrivals)) == 4
    other = replicate(replace(subject, jobs=(later,)), POLICIES["equipartition"], seed=0)
    assert sorted(job.arrival for job in other.jobs) == arrivals


class Lavish(AllocationPolicy):
    """Gives a job a processor more than it has workers for."""

    name = "lavish"

    def arrived(self, engine, job):
        for processor in range(job.most_parallel + 1):
            engine.give(processor, job)


def test_a_policy_that_gives_too_much_is_said_so():
    with pytest.raises(DfoptError, match=r"'lavish' gives processor 2 to A#1, which has ended"):
        replicate(mix(blocks(2)), Lavish, seed=0)


class Idle(AllocationPolicy):
    """Gives nothing to anybody."""

    name = "idle"


def test_a_policy_that_starves_jobs_is_said_so():
    with pytest.raises(DfoptError, match=r"the policy 'idle' leaves A#1 without a processor"):
        replicate(mix(blocks(1)), Idle, seed=0)


class Odd(AllocationPolicy):
    """Does something with the engine when the first job arrives."""

    name = "odd"
    what = print

    def arrived(self, engine, job):
        type(self).what(engine, job)

    def worker(self, engine, job, processor):
        return super().worker(engine, job, processor) if processor else None


def gives_one_worker_twice(engine, job):
    worker = next(iter(job.inactive))
    for processor in (1, 2):
        engine.give(processor, job, worker)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda engine, job: engine.give(4, job), "names processor 4, but there are 0 to 3"),
        (lambda engine, job: engine.give(-1, job), "names processor -1, but there are 0 to 3"),
        (lambda engine, job: engine.give(0, job), "activates no inactive worker of A#1 on p.* 0"),
        (gives_one_worker_twice, "activates no inactive worker of A#1 on processor 2"),
        (lambda engine, job: engine.take(0), "takes processor 0, which nobody holds"),
        (lambda engine, job: engine.take(9), "names processor 9, but there are 0 to 3"),
        (lambda engine, job: engine.call_after(-1.0, print), r"in -1\.0 s; make it 0 or more"),
        (lambda engine, job: engine.call_after(math.nan, print), "in nan s; make it 0 or more"),
    ],
)
def test_what_a_policy_cannot_do_is_said_so(what, message, monkeypatch):
    monkeypatch.setattr(Odd, "what", staticmethod(what))
    with pytest.raises(DfoptError, match=f"the policy 'odd' .*{message}"):
        replicate(mix(blocks(4)), Odd, seed=0)


class Bare(AllocationPolicy):
    """Takes no parameters."""

    name = "bare"

    def __init__(self):
        pass


def test_a_policy_that_takes_no_parameters_is_said_so():
    with pytest.raises(DfoptError, match=r"cannot be made of the mix's parameters \(.*__init__"):
        replicate(mix(blocks(1)), Bare, seed=0)


@pytest.mark.parametrize("processors", [1, 2])
def test_start_ups_that_are_always_cut_short_are_said_so(processors):
    # Three jobs preempt each other at every review, and a start-up lasts longer than that.
    thrashing = mix(
        *[blocks(90)] * 3, processors=processors, latency=0.1, review_interval=0.02,
        credit_decay=0.2, credit_per_processor=0.1,
    )  # fmt: skip
    with pytest.raises(DfoptError, match=r"'dynamic' has cut short [12]0,000 start-ups in a row"):
        replicate(thrashing, POLICIES["dynamic"], seed=0)
