"""The pairs of a trace, and the least pairs of its windows."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import CostModel, compare_trace
from dfopt.compare.dispatches import dispatches_of
from dfopt.compare.domains import DomainComparison, FragmentShare, domain_comparison
from dfopt.compare.written_times import Window, parse_window, window_starts
from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import CacheDomains, cache_domains
from dfopt.problem.penalties import PenaltyF
from dfopt.simulate.policies.simple import RandomChoice
from dfopt.simulate.workload import Burst, NewThread
from dfopt.trace import Trace, read_trace, write_trace
from dfopt.trace.service import service_of
from tests.compare.drawn import labelled_traces, models, windows
from tests.simulate.run_queue.hand_made import simulated, thread
from tests.trace.traces import trace_from_rows


def in_domains(
    trace: Trace, domains: CacheDomains, *lengths: Window, model: CostModel | None = None
) -> DomainComparison:
    dispatches = dispatches_of(trace, model or CostModel())
    starts = {length.label: window_starts(dispatches, length) for length in lengths}
    return domain_comparison(dispatches, domains, starts, trace)


def ten_each(*dispatches: tuple[int, int, str]) -> Trace:
    """Return dispatches (CPU, start, fragment) of 10 on four CPUs."""
    rows = [(cpu, start, start + 10, f"t{cpu}", df, None, None) for cpu, start, df in dispatches]
    return trace_from_rows(rows, cpus=4)


TWO_ROUNDS = ten_each(
    *((0, 0, "A"), (1, 0, "B"), (2, 0, "A"), (3, 0, "B")),
    *((0, 10, "A"), (1, 10, "A"), (2, 10, "B"), (3, 10, "C")),
)
"""Two domains of two CPUs that are busy all the time.

In the first round both fragments run in both domains: 4 pairs, where 2 are enough. In the second
one A fills the first domain, and B and C the other: 3 pairs. As a whole A and B run for 40 and 30
of 80, and C for 10: A fits into one domain, B and C into the other, so 3 of 5 pairs are enough.

A arrives at both domains in the first round, and at the first one again in the second. B does too,
but last in the second domain, where it stays. C arrives once: 3 + 2 + 1.
"""
HALVES = cache_domains("0-1;2-3")


def test_two_rounds_by_hand() -> None:
    found = in_domains(TWO_ROUNDS, HALVES, parse_window("4"), parse_window("whole"))
    assert found.domains == ((0, 1), (2, 3))
    assert found.arrivals == 6
    # Each CPU has a thread of its own.
    assert found.far_migrations == 0
    rounds, whole = found.windows
    assert (rounds.count, rounds.fragments, rounds.pairs) == (2, 5, 7)
    assert (rounds.bound, rounds.least, rounds.proven) == (5, 5, 2)
    assert rounds.allotment is None
    assert (whole.count, whole.fragments, whole.pairs) == (1, 3, 5)
    assert (whole.bound, whole.least, whole.arrivals_bound) == (3, 3, 3)
    assert whole.ratio == pytest.approx(5 / 3)
    assert whole.allotment is not None
    of_a = [share.domain for share in whole.allotment if share.df == "A"]
    assert whole.allotment[0] == FragmentShare(df="A", domain=of_a[0], run_time=40)
    assert {share.domain for share in whole.allotment if share.df != "A"} == {1 - of_a[0]}


def test_what_must_be_divided_arrives_again_and_again() -> None:
    # In each window A takes three CPUs of four, so it is in both domains: two pairs, and B one.
    trace = ten_each(
        *((cpu, start, "AAAB"[cpu]) for start in (0, 10, 20) for cpu in range(4)),
    )
    (found,) = in_domains(trace, HALVES, parse_window("4")).windows
    assert (found.count, found.fragments, found.pairs, found.bound) == (3, 6, 9, 9)
    # A and B come once, and in each of three windows A goes to the other domain once more.
    assert found.arrivals_bound == 2 + 3


def test_a_window_lasts_until_its_last_dispatch_ends() -> None:
    # From 0 to 10 each domain has 10; the later dispatch is a window of its own.
    rows = [(0, 0, 10, "t", "A", None, None), (1, 0, 10, "u", "B", None, None)]
    trace = trace_from_rows([*rows, (1, 50, 60, "u", "A", None, None)], cpus=2)
    (apart,) = in_domains(trace, cache_domains("0;1"), parse_window("2")).windows
    (whole,) = in_domains(trace, cache_domains("0;1"), parse_window("whole")).windows
    assert (apart.pairs, apart.bound) == (3, 3)
    assert (whole.pairs, whole.bound) == (3, 2)  # one CPU has 60 for 30


def test_far_migrations_come_from_another_domain() -> None:
    # t goes to CPU 1, which is near, to CPU 2, to CPU 0 without a fragment, and from there back.
    cpus = (0, 1, 2, 0, 2)
    rows = [
        (cpu, 10 * turn, 10 * turn + 10, "t", None if turn == 3 else "A", None, None)
        for turn, cpu in enumerate(cpus)
    ]
    trace = trace_from_rows(rows, cpus=3)
    assert in_domains(trace, cache_domains("0-1;2")).far_migrations == 2
    assert in_domains(trace, cache_domains("0;1;2")).far_migrations == service_of(trace).migrations
    assert in_domains(trace, cache_domains("0-2")).far_migrations == 0


@pytest.mark.parametrize("domains", ["0-1;2-3", "0,3;1;2"])
def test_far_migrations_are_those_that_the_simulator_counts(domains: str, tmp_path: Path) -> None:
    def make() -> list[NewThread]:
        return [
            thread(f"t{number}", *(Burst(5 + number, fragment=number % 3, lines=1),) * 20)
            for number in range(7)
        ]

    done = simulated(
        RandomChoice, make, cpus=4, domains=domains, penalty=PenaltyF(read_line=1, write_back=0),
        time_slice=2,
    )  # fmt: skip
    write_trace(done.trace, tmp_path / "trace.jsonl")
    trace = read_trace(tmp_path / "trace.jsonl")
    found = compare_trace(
        trace,
        CostModel(),
        windows=[parse_window("whole")],
        domains=cache_domains(domains),
        waits=None,
    )
    assert found.domains is not None
    assert found.domains.far_migrations == done.counters.far_migrations
    assert 0 < found.domains.far_migrations < done.counters.migrations


def test_cpus_of_domains_that_the_trace_lacks_do_not_count() -> None:
    found = in_domains(TWO_ROUNDS, cache_domains("0-1;2-5;6-7"), parse_window("4"))
    assert found == in_domains(TWO_ROUNDS, HALVES, parse_window("4"))


def test_a_cpu_without_a_domain_is_refused() -> None:
    with pytest.raises(InstanceError, match="hold only CPUs 0-2, but the trace has CPU 3, too"):
        in_domains(TWO_ROUNDS, cache_domains("0-1;2"), parse_window("4"))


ANY_MODEL = models(lines=1)


@st.composite
def domains_of_three(draw: st.DrawFn) -> CacheDomains:
    """Draw domains of three CPUs."""
    owner = draw(st.lists(st.integers(0, 2), min_size=3, max_size=3))
    members = ([cpu for cpu in range(3) if owner[cpu] == number] for number in range(3))
    return CacheDomains(tuple(tuple(own) for own in members if own))


@given(labelled_traces(), domains_of_three(), ANY_MODEL, windows)
def test_no_trace_has_fewer_pairs_than_the_least(trace, domains, model, window) -> None:
    found = in_domains(trace, domains, window, model=model)
    (only,) = found.windows
    assert only.fragments <= only.bound <= only.least <= only.pairs
    assert only.arrivals_bound <= found.arrivals
    assert (only.proven == only.count) == (only.bound == only.least)


@given(labelled_traces(), domains_of_three(), windows, st.randoms(use_true_random=False))
def test_numbers_of_cpus_within_a_domain_do_not_matter(trace, domains, window, source) -> None:
    new = np.arange(3)
    for own in domains.members:
        own_here = [cpu for cpu in own if cpu < trace.cpus]
        new[own_here] = source.sample(own_here, len(own_here))
    cpu = new.astype(np.int32)
    moved = replace(trace, cpu=cpu[trace.cpu], gaps=replace(trace.gaps, cpu=cpu[trace.gaps.cpu]))
    assert in_domains(moved, domains, window) == in_domains(trace, domains, window)


@given(labelled_traces(), windows)
def test_in_a_single_domain_every_fragment_makes_one_pair(trace, window) -> None:
    found = in_domains(trace, cache_domains("0-2"), window)
    (only,) = found.windows
    assert only.pairs == only.bound == only.least == only.fragments
    assert (
        found.arrivals == only.arrivals_bound == len(np.unique(trace.fragment[trace.fragment >= 0]))
    )
