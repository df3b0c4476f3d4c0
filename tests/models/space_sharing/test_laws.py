"""Laws of every simulation, on random mixes."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt_models.space_sharing import (
    POLICIES,
    Blocks,
    ConservationError,
    JobEntry,
    ParallelJob,
    Stays,
    Structure,
    ThreadGraph,
    TieBreak,
    TimeSteps,
    WaveFront,
    read_mix,
    replicate,
    simulate,
)
from dfopt_models.space_sharing.job import check_conservation
from tests.models.space_sharing.small import COSTLY, application, blocks, graph, mix

SECONDS = st.integers(1, 16).map(lambda eighths: eighths / 8)


class AuditedProgram:
    """A program that notes what it releases and what it is told has ended."""

    def __init__(self, program, predecessors):
        self._program = program
        self._predecessors = predecessors
        self.released, self.ended = Counter(), []
        self.ends = None

    @property
    def work(self):
        return self._program.work

    def begin(self):
        return self._noted(self._program.begin())

    def finish(self, number):
        assert all(before in self.ended for before in self._predecessors.get(number, ()))
        assert self.released[number] == 1
        self.ended.append(number)
        return self._noted(self._program.finish(number))

    def _noted(self, threads):
        self.released.update(number for _, number in threads or ())
        return threads


@dataclass(frozen=True)
class Audited:
    """A structure whose programs note what happens."""

    inner: Structure
    programs: list

    @property
    def most_parallel(self):
        return self.inner.most_parallel

    def program(self, seed):
        before = {}
        if isinstance(self.inner, ThreadGraph):
            number = {name: place for place, name in enumerate(self.inner.graph)}
            before = {
                number[one]: [number[name] for name in self.inner.graph.predecessors(one)]
                for one in self.inner.graph
            }
        self.programs.append(AuditedProgram(self.inner.program(seed), before))
        return self.programs[-1]


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 8))
    names = [f"t{number}" for number in range(count)]
    work = {name: draw(SECONDS) for name in names}
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return graph(work, edges)


structures = st.one_of(
    graphs(),
    st.builds(
        Blocks, work=SECONDS, threads=st.integers(1, 12), variation=st.sampled_from([0.0, 0.5])
    ),
    st.builds(
        TimeSteps,
        work=SECONDS.map(lambda seconds: seconds + 4),
        steps=st.integers(1, 3),
        serial=st.just(0.25),
        phases=st.integers(1, 3),
        threads=st.integers(1, 9),
        variation=st.sampled_from([0.0, 0.3]),
        barrier=st.just(0.125),
    ),
    st.builds(
        WaveFront,
        work=SECONDS,
        rows=st.integers(1, 4),
        columns=st.integers(1, 4),
        variation=st.just(0.0),
    ),
)


@st.composite
def mixes(draw):
    drawn = draw(st.lists(structures, min_size=1, max_size=4))
    return mix(
        *(Audited(structure, []) for structure in drawn),
        processors=draw(st.integers(1, 6)),
        penalties=COSTLY,
        path_length=draw(st.sampled_from([0.0, 0.25])),
        latency=draw(st.sampled_from([0.0, 0.125])),
        arrivals=[draw(SECONDS) for _ in drawn],
        restart=draw(st.booleans()),
        credit_decay=draw(st.sampled_from([0.5, 8.0])),
        credit_per_processor=draw(st.sampled_from([0.5, 4.0])),
        preemption_margin=draw(st.sampled_from([0.5, 2.0])),
        # Longer than a start-up, so that something is done between two preemptions.
        review_interval=draw(st.sampled_from([0.0, 3.0])),
        yield_delay=draw(st.sampled_from([0.125, 1.0])),
        victim=draw(st.sampled_from(TieBreak)),
        worker=draw(st.sampled_from(TieBreak)),
        match=draw(st.booleans()),
    )


class Watching:
    """A policy that looks at the whole machine before and after each of its decisions."""

    def __init__(self, policy):
        self._policy = policy

    def __getattr__(self, name):
        found = getattr(self._policy, name)
        if name not in ("arrived", "ended", "wants", "yields"):
            return found

        def watched(engine, *rest):
            check_machine(engine)
            found(engine, *rest)
            check_machine(engine)

        return watched


def check_machine(engine):
    holders = Counter(processor for job in engine.jobs for processor in job.held)
    assert not holders.keys() & engine.free.keys()
    assert holders.keys() | engine.free.keys() == set(range(engine.machine.processors))
    assert set(holders.values()) <= {1}
    for job in engine.jobs:
        assert all(engine.owner(processor) is job for processor in job.held)
        assert job.idle.keys() <= job.held.keys()
        assert len(job.inactive) == job.most_parallel - job.allocation
        assert all(worker.processor is None for worker in job.inactive)
        assert 0 <= job.starting <= job.allocation - len(job.idle)


@pytest.mark.slow
@given(mixes(), st.sampled_from(sorted(POLICIES)), st.integers(0, 99))
@settings(max_examples=200, deadline=None)
def test_invariants(subject, policy, seed):
    stays = Stays()
    done = replicate(
        subject, lambda given: Watching(POLICIES[policy](given)), seed=seed, stays=stays
    )
    assert {job.application for job in done.jobs} == {
        entry.application.name for entry in subject.jobs
    }
    for entry in subject.jobs:
        first = entry.application.structure.programs[0]
        # All threads that were released have ended, each once; their order was checked above.
        assert first.released == Counter(first.ended)
    for job in done.jobs:
        figures = job
        spent = figures.work + figures.waste + figures.overhead
        assert figures.allocation * figures.response_time == pytest.approx(spent)
        assert figures.response_time == job.end - job.arrival
        assert 0 <= figures.affinity <= 1
        assert 0 < figures.allocation <= subject.machine.processors + 1e-9
        assert min(figures.work, figures.waste, figures.overhead) >= 0
    check_stays(stays, subject.machine.processors)


def check_stays(stays, processors):
    """No processor runs two tasks at once, and no task runs on two."""
    trace = stays.trace(name="", policy="", processors=processors)
    for column in (trace.cpu, trace.task):
        ends = {}
        for key, start, end in zip(
            column.tolist(), trace.start.tolist(), trace.end.tolist(), strict=True
        ):
            assert start >= ends.get(key, 0)
            assert end >= start
            ends[key] = end


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_seed_gives_the_same(policy):
    steps = TimeSteps(
        work=20.0, steps=3, serial=0.5, phases=2, threads=9, variation=0.4, barrier=0.1
    )
    subject = mix(
        steps, Blocks(work=30.0, threads=50, variation=0.2), victim="random", worker="random",
        penalties=COSTLY, path_length=0.01, review_interval=0.5, credit_per_processor=0.2,
        restart=True,
    )  # fmt: skip
    traces = []
    for seed in (3, 3, 4):
        stays = Stays()
        done = replicate(subject, POLICIES[policy], seed=seed, stays=stays)
        trace = stays.trace(name="", policy="", processors=4)
        traces.append((done.jobs, done.events, trace.start.tolist(), trace.task.tolist()))
    assert traces[0] == traces[1]
    assert traces[0] != traces[2]


def test_threads_are_the_same_under_every_policy():
    subject = mix(Blocks(work=30.0, threads=50, variation=0.2), blocks(60))
    works = set()
    for policy in POLICIES.values():
        done = replicate(subject, policy, seed=1)
        (job,) = (job for job in done.jobs if job.application == "A")
        works.add(round(job.work, 9))
    assert len(works) == 1


@pytest.mark.parametrize("account", ["work", "waste", "overhead", "processor_time"])
def test_an_account_that_does_not_balance_is_a_defect(account):
    kind = application("A", blocks(2))
    job = ParallelJob("A#1", 0, kind, kind.structure.program(0), processors=2)
    job.work, job.waste, job.overhead, job.processor_time = 4.0, 2.0, 1.0, 7.0
    check_conservation(job)
    setattr(job, account, getattr(job, account) + 1e-6)
    with pytest.raises(ConservationError, match="A#1"):
        check_conservation(job)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_late_arrival_is_no_defect(policy):
    shaped = Blocks(work=1.0, threads=50, variation=0.4)
    late = mix(shaped, processors=2, penalties=COSTLY, arrivals=[1e9], restart=True, runs=5)
    for job in replicate(late, POLICIES[policy], seed=0).jobs:
        figures = job
        spent = figures.work + figures.waste + figures.overhead
        assert figures.allocation * figures.response_time == pytest.approx(spent, rel=1e-5)


def test_a_job_that_takes_no_time_has_no_figures():
    # Threads that vary so much nearly all have no work at all.
    varied = Blocks(work=3.0, threads=3, variation=1e9)
    with pytest.raises(DfoptError, match=r"A#1 arrives and ends at 2 s, so that it has no figures"):
        replicate(mix(varied, arrivals=[2.0]), POLICIES["dynamic"], seed=0)


@pytest.mark.parametrize("variation", [0.0, 1e-200, 1e-17])
def test_threads_that_hardly_vary_are_equal(variation):
    found = replicate(
        mix(Blocks(work=8.0, threads=4, variation=variation)), POLICIES["dynamic"], seed=0
    )
    assert found.jobs[0].response_time == 2.0


def test_runs_without_affinity_do_not_lower_its_penalty():
    # Of the jobs of mix 1 few have a reallocation with affinity, each at P^A of MVA after MVA.
    (summary,), _ = simulate(read_mix("mix-1"), ["dynamic"], seeds=range(8), processes=1)
    figures = summary.job("MVA").figures
    assert 0 < figures["affinity"].mean < 0.02
    assert figures["affinity_penalty"].mean == pytest.approx(1061e-6)


def test_copies_are_not_called_like_another_application():
    kinds = {name: application(name, blocks(2)) for name in ("A", "A.2")}
    subject = replace(
        mix(blocks(2)),
        jobs=(JobEntry(application=kinds["A"], copies=3), JobEntry(application=kinds["A.2"])),
    )
    stays = Stays()
    replicate(subject, POLICIES["equipartition"], seed=0, stays=stays)
    assert set(stays.trace(name="", policy="", processors=4).fragments) == {
        "A.1#1", "A.3#1", "A.4#1", "A.2#1"
    }  # fmt: skip
    check_stays(stays, 4)


class Forgetful(Blocks):
    """Does not tell of one thread's work."""

    def program(self, seed):
        program = super().program(seed)
        begin = program.begin()
        program.work += 1.0

        class Begun:
            work = program.work
            finish = program.finish

            def begin(self):
                return begin

        return Begun()


def test_work_that_was_not_given_is_a_defect():
    subject = mix(Forgetful(work=4.0, threads=4, variation=0.0))
    with pytest.raises(ConservationError, match=r"work 4\.0 done, 5\.0 given"):
        replicate(subject, POLICIES["dynamic"], seed=0)
