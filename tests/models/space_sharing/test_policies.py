"""Every rule of every policy, in the smallest scene that shows it."""

import pytest

from dfopt_models.space_sharing import AllocationParameters, DynAffNoPri, Dynamic, TieBreak, Worker
from dfopt_models.space_sharing.engine import chosen_worker
from dfopt_models.space_sharing.job import ParallelJob
from dfopt_models.space_sharing.policies import allocation_numbers
from tests.models.space_sharing.small import application, blocks, graph, jobs_at, mix, stopped

DYNAMIC = pytest.mark.parametrize("policy", ["dynamic", "dyn-aff", "dyn-aff-delay"])
AFFINITY = pytest.mark.parametrize("policy", ["dyn-aff", "dyn-aff-nopri", "dyn-aff-delay"])

WIDE_THEN_NARROW = graph(
    {"a": 1.0, "b": 3.0, "c": 8.0, "d": 8.0}, [("a", "c"), ("b", "c"), ("a", "d"), ("b", "d")]
)
"""Two threads; the processor of a is idle from 1 s to 3 s; then two more threads."""


def jobs_that_can_use(*numbers):
    one = [application("A", blocks(number)) for number in numbers]
    return [ParallelJob("A", 0, kind, kind.structure.program(0), processors=16) for kind in one]


@pytest.mark.parametrize(
    ("able", "expected"),
    [
        ((16, 16), (8, 8)),
        ((2, 16), (2, 14)),
        ((16, 16, 16), (6, 5, 5)),
        ((1, 3, 16), (1, 3, 12)),
        ((2, 3), (2, 3)),
    ],
)
def test_equipartition_raises_numbers_in_turn(able, expected):
    assert tuple(allocation_numbers(jobs_that_can_use(*able), 16).values()) == expected


@pytest.mark.parametrize("order", [("a", "c"), ("c", "a")])
def test_threads_that_end_together_run_with_none_of_those_that_follow(order):
    followers = [f"x{number}" for number in range(3)]
    work = dict.fromkeys([*order, *followers], 1.0)
    assert graph(work, [("a", follower) for follower in followers]).most_parallel == 3


def test_equipartition_moves_processors_on_arrivals_and_ends_alone():
    subject = mix(blocks(40), blocks(4), arrivals=[0.0, 2.5])
    (first,) = jobs_at(subject, "equipartition", 2.25)
    assert first.allocation == 4
    first, second = jobs_at(subject, "equipartition", 2.75)
    assert (first.allocation, second.allocation) == (2, 2)
    first, second = jobs_at(subject, "equipartition", 4.75)
    assert second.end == 4.5
    assert first.allocation == 4


def test_equipartition_leaves_idle_processors_where_they_are():
    first, second = jobs_at(mix(WIDE_THEN_NARROW, blocks(40)), "equipartition", 2.0)
    assert (first.allocation, len(first.idle), second.allocation) == (2, 1, 2)


@DYNAMIC
def test_d1_unallocated_processors_come_first(policy):
    subject = mix(blocks(2, 9.0), blocks(2), arrivals=[0.0, 1.0])
    engine, (first, second) = stopped(subject, policy, 1.5)
    assert (first.allocation, second.allocation) == (2, 2)
    assert first.reallocations == 2
    assert not engine.free


def test_d2_idle_processors_go_to_who_requests():
    first, second = jobs_at(mix(WIDE_THEN_NARROW, blocks(40)), "dynamic", 2.0)
    assert (first.allocation, second.allocation) == (1, 3)
    assert second.reallocations == 3


def test_d2_serves_a_job_that_arrives_later():
    # From 1 s on A holds an idle processor that nobody wants, until B arrives.
    subject = mix(WIDE_THEN_NARROW, blocks(2), processors=2, arrivals=[0.0, 1.5])
    (first,) = jobs_at(subject, "dynamic", 1.25)
    assert (first.allocation, len(first.idle)) == (2, 1)
    first, second = jobs_at(subject, "dynamic", 1.75)
    assert (first.allocation, second.allocation) == (1, 1)


@DYNAMIC
def test_d3_takes_from_the_largest_until_shares_are_equal(policy):
    subject = mix(blocks(90), blocks(90), blocks(90), processors=12, arrivals=[0.0, 1.25, 1.75])
    jobs = jobs_at(subject, policy, 1.5)
    assert [job.allocation for job in jobs] == [6, 6]
    jobs = jobs_at(subject, policy, 2.0)
    assert [job.allocation for job in jobs] == [4, 4, 4]


def test_d3_keeps_a_margin():
    subject = mix(blocks(90), blocks(90), arrivals=[0.0, 1.25], preemption_margin=2.5)
    first, second = jobs_at(subject, "dynamic", 1.5)
    assert (first.allocation, second.allocation) == (3, 1)


@pytest.mark.parametrize(
    ("victim", "lost"), [("lowest", {0, 1}), ("earliest", {0, 1}), ("latest", {2, 3})]
)
def test_d3_chooses_its_victim(victim, lost):
    subject = mix(blocks(90), blocks(90), arrivals=[0.0, 1.25], victim=victim)
    _, second = jobs_at(subject, "dynamic", 1.5)
    assert set(second.held) == lost


def test_nopri_preempts_nobody():
    subject = mix(blocks(90), blocks(90), arrivals=[0.0, 1.25])
    first, second = jobs_at(subject, "dyn-aff-nopri", 1.5)
    assert (first.allocation, second.allocation) == (4, 0)


def test_yield_delay_keeps_an_idle_processor_for_a_moment():
    subject = mix(WIDE_THEN_NARROW, blocks(40), yield_delay=0.5)
    first, second = jobs_at(subject, "dyn-aff-delay", 1.25)
    assert (first.allocation, len(first.idle)) == (2, 1)
    first, second = jobs_at(subject, "dyn-aff-delay", 1.75)
    assert (first.allocation, second.allocation) == (1, 3)
    patient = mix(WIDE_THEN_NARROW, blocks(40), yield_delay=2.5)
    first, second = jobs_at(patient, "dyn-aff-delay", 3.5)
    assert (first.allocation, first.reallocations) == (2, 2)
    assert first.waste == 2.0


def test_a_processor_may_be_taken_from_the_moment_its_delay_is_over():
    # That of A's processor is over at 1.2 s, and just after that B wants one; 1.2 - 1 < 0.2.
    work = {"v": 1.1, "x": 1.2 - 1.1, "y": 9.0, "z": 9.0}
    second = graph(work, [("v", "x"), ("x", "y"), ("x", "z")])
    subject = mix(WIDE_THEN_NARROW, second, processors=3, yield_delay=0.2, preemption_margin=1.0)
    first, second = jobs_at(subject, "dyn-aff-delay", 1.25)
    assert (first.allocation, second.allocation) == (1, 2)


@pytest.mark.parametrize(("policy", "got", "affine"), [("dynamic", 1, 0), ("dyn-aff", 0, 1)])
def test_a2_a_requester_names_the_processor_where_its_task_ran(policy, got, affine):
    # A's first task leaves processor 0 to B at 2 s. B ends at 3 s, and 1 and 0 are free in this
    # order when A wants one of them at 4 s.
    first = graph({"a": 1.0, "b": 4.0, "c": 8.0, "d": 8.0}, [("b", "c"), ("b", "d")])
    second = graph({"e": 2.0, "f": 1.0, "g": 1.0}, [("e", "f"), ("e", "g")])
    first_job, second_job = jobs_at(mix(first, second, processors=3), policy, 4.5)
    assert second_job.end == 3.0
    assert set(first_job.held) == {2, got}
    assert first_job.affine == affine


def yielding(policy, processors, seconds):
    """A has all processors; B takes two of them and yields 0 at 2.25 s; C takes one."""
    subject = mix(
        blocks(90), graph({"e": 1.0, "h": 9.0}), blocks(90),
        processors=processors, arrivals=[0.0, 1.25, 1.5], victim="lowest", worker="latest",
        match=False,
        preemption_margin=0.25,
    )  # fmt: skip
    return stopped(subject, policy, seconds)


@pytest.mark.parametrize(("policy", "affine"), [("dynamic", 0), ("dyn-aff", 1)])
def test_a1_the_last_task_gets_its_processor_back(policy, affine):
    engine, (first, second, third) = yielding(policy, 4, 2.5)
    assert [job.allocation for job in (first, second, third)] == [2, 1, 1]
    assert engine.owner(0) is first
    assert first.affine == affine


def test_a1_but_not_against_priority():
    engine, (first, second, third) = yielding("dyn-aff", 5, 2.5)
    assert [job.allocation for job in (first, second, third)] == [2, 1, 2]
    assert engine.owner(0) is third


def test_a1_of_nopri_knows_no_priority():
    engine, (first, *_) = yielding("dyn-aff", 5, 2.0)
    policy = DynAffNoPri(engine.policy.parameters)
    policy.available(engine, 0)
    assert engine.owner(0) is first
    assert first.affine == 1


@AFFINITY
def test_match_activates_the_worker_that_ran_there(policy):
    subject = mix(blocks(90), processors=4, match=True)
    engine, (job,) = stopped(subject, policy, 1.25)
    engine.take(2)
    engine.take(1)
    assert job.allocation == 2
    for processor in (2, 1):
        engine.give(processor, job)
    assert job.affine == 2


def test_a_start_up_cut_short_leaves_nothing_in_the_cache():
    subject = mix(blocks(90), processors=2, path_length=1.0)
    engine, (job,) = stopped(subject, "dynamic", 0.5)
    engine.take(1)
    (worker,) = job.inactive
    assert worker.last_processor is None
    assert engine.last[1] is None
    engine, (job,) = stopped(subject, "dynamic", 1.5)
    engine.take(1)
    (worker,) = job.inactive
    assert worker.last_processor == 1
    assert engine.last[1] is worker


def test_dynamic_does_not_match():
    subject = mix(blocks(90), processors=4, match=True, worker="lowest")
    engine, (job,) = stopped(subject, "dynamic", 1.25)
    engine.take(2)
    engine.take(1)
    for processor in (2, 1):
        engine.give(processor, job)
    assert job.affine == 0


@pytest.mark.parametrize(("worker", "number"), [("latest", 2), ("earliest", 1), ("lowest", 1)])
def test_a_job_chooses_its_worker(worker, number):
    engine, (job,) = stopped(mix(blocks(90), worker=worker), "dynamic", 1.25)
    engine.take(1)
    engine.take(2)
    engine.give(2, job)
    (left,) = job.inactive
    assert {1, 2} - {left.number} == {number}


def test_the_latest_worker_is_one_that_has_run():
    engine, (job,) = stopped(mix(blocks(90)), "dynamic", 1.25)
    workers = [Worker(job, number) for number in range(3)]
    assert chosen_worker(engine, workers, TieBreak.LATEST) is workers[0]
    workers[0].last_processor = workers[1].last_processor = 0
    # The last one was stopped during its first start-up.
    assert chosen_worker(engine, workers, TieBreak.LATEST) is workers[1]


class Clock:
    """As much of an engine as credit needs."""

    def __init__(self, jobs, processors):
        self.now = 0.0
        self.jobs = dict.fromkeys(jobs)
        self.free = {}
        self.machine = mix(blocks(1), processors=processors).machine


def test_credit_grows_with_what_is_not_used_and_decays():
    job, other = jobs_that_can_use(16, 16)
    clock = Clock([job, other], 16)
    policy = Dynamic(
        AllocationParameters(credit_decay=2.0, credit_per_processor=4.0, review_interval=0.0)
    )
    policy.arrived(clock, job)
    assert policy.priority(job) == 8.0  # its fair share
    clock.now = 1e3
    policy.settle(clock)
    # dc/dt = 8 − 0 − c/2 comes to rest at 16 processor-seconds, which buy 4 processors.
    assert policy.priority(job) == pytest.approx(12.0)
    job.held = dict.fromkeys(range(8))
    clock.now += 2.0
    policy.settle(clock)
    assert policy.priority(job) == pytest.approx(4 / 2.718281828)


def test_credit_buys_more_than_the_fair_share():
    # A saves credit while it runs one thread, and then wants four.
    saver = graph(
        {"a": 4.0, **{f"w{i}": 9.0 for i in range(4)}}, [("a", f"w{i}") for i in range(4)]
    )
    subject = mix(saver, blocks(90, 9.0), credit_per_processor=1.0, credit_decay=1e9)
    first, second = jobs_at(subject, "dynamic", 4.5)
    assert (first.allocation, second.allocation) == (4, 0)
