"""Caches of lines: hand-computed cases, and a naive model that must agree."""

from collections import Counter, OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import cache_domains
from dfopt.simulate.caches import CacheSizes, LineCaches
from dfopt.simulate.workload import CLEAN, DIRTY, INVALIDATED, UNMANAGED, Burst

MISS, WRITE_BACK, SHARED_HIT, SEQUENTIAL, FAR_HIT = 100, 1000, 10, 40, 60


def caches(  # noqa: PLR0913 - options, all by keyword
    lines: int,
    *,
    cpus: int = 1,
    shared: int = 0,
    fragments: tuple[int, ...] = (4, 4),
    sequential: int | None = None,
    domains: str = "",
    far_hit: int | None = None,
) -> LineCaches:
    sizes = CacheSizes(
        lines=lines,
        miss=MISS,
        write_back=WRITE_BACK,
        shared_lines=shared,
        shared_hit=SHARED_HIT,
        sequential_miss=sequential,
        far_hit=far_hit,
    )
    return LineCaches(sizes, fragments, cpus, cache_domains(domains) if domains else None)


def burst(
    *extents: tuple[int, int], fragment: int = UNMANAGED, lines: int = 0, leaves: int = CLEAN
) -> Burst:
    return Burst(1, fragment, lines=lines, leaves=leaves, extents=extents)


def test_a_fragment_is_read_once_while_it_fits() -> None:
    costs = caches(4)
    first = burst(fragment=0, lines=3)
    assert [costs.of_cpus[0].enter(first) for _ in range(3)] == [3 * MISS, 0, 0]
    assert (costs.counts().misses, costs.counts().touched) == ((3,), (9,))


def test_fragments_follow_each_other_in_memory() -> None:
    costs = caches(8)
    costs.of_cpus[0].enter(burst(fragment=1, lines=2))
    assert costs.of_cpus[0].enter(burst((4, 2))) == 0
    assert costs.of_cpus[0].enter(burst((3, 2))) == MISS


def test_lines_that_are_read_in_a_row_cost_less() -> None:
    costs = caches(8, sequential=SEQUENTIAL)
    # The first line of each stretch, and the rest in a row; then line 1 is there already.
    assert costs.of_cpus[0].enter(burst((1, 1), (4, 3))) == MISS + MISS + 2 * SEQUENTIAL
    assert costs.of_cpus[0].enter(burst((0, 4))) == MISS + MISS + SEQUENTIAL


def test_the_line_used_least_recently_makes_room() -> None:
    costs = caches(2)
    for line in (0, 1, 0, 2):
        costs.of_cpus[0].enter(burst((line, 1)))
    assert costs.of_cpus[0].enter(burst((0, 1))) == 0
    assert costs.of_cpus[0].enter(burst((1, 1))) == MISS


def test_a_burst_larger_than_the_cache_finds_nothing_of_itself() -> None:
    costs = caches(3)
    large = burst((0, 4))
    assert [costs.of_cpus[0].enter(large) for _ in range(2)] == [4 * MISS, 4 * MISS]


def test_a_burst_that_continues_a_dispatch_touches_its_lines_too() -> None:
    costs = caches(8)
    assert costs.of_cpus[0].enter(burst(fragment=0, lines=2)) == 2 * MISS
    assert costs.of_cpus[0].go_on(burst(fragment=0, lines=3)) == MISS


def test_a_written_line_is_written_back_when_it_makes_room() -> None:
    costs = caches(1)
    costs.of_cpus[0].enter(burst((0, 1), leaves=DIRTY))
    assert costs.of_cpus[0].enter(burst((1, 1))) == MISS + WRITE_BACK
    assert costs.of_cpus[0].enter(burst((2, 1))) == MISS
    assert costs.counts().write_backs == (1,)


def test_two_fragments_that_do_not_fit_together() -> None:
    costs = caches(4, fragments=(3, 3))
    write, other, read = (
        burst(fragment=0, lines=3, leaves=DIRTY),
        burst(fragment=1, lines=3),
        burst(fragment=0, lines=3),
    )
    paid = [costs.of_cpus[0].enter(each) for each in (write, other, read, other)]
    # The second pushes two written lines out, the third the last one of them.
    assert paid == [3 * MISS, 3 * MISS + 2 * WRITE_BACK, 3 * MISS + WRITE_BACK, 3 * MISS]


@pytest.mark.parametrize(("shared", "again"), [(0, MISS), (4, SHARED_HIT)])
def test_a_fragment_that_two_cpus_write_moves_between_them(shared: int, again: int) -> None:
    costs = caches(2, cpus=2, shared=shared, fragments=(2,))
    write = burst(fragment=0, lines=2, leaves=DIRTY)
    paid = [costs.of_cpus[cpu].enter(write) for cpu in (0, 1, 1, 0)]
    moved = 2 * (WRITE_BACK + again)
    assert paid == [2 * MISS, moved, 0, moved]


def test_a_write_makes_other_copies_invalid() -> None:
    costs = caches(4, cpus=3)
    for cpu in range(3):
        costs.of_cpus[cpu].enter(burst((0, 2)))
    assert costs.of_cpus[0].enter(burst((0, 1), leaves=DIRTY)) == 0
    assert costs.counts().invalidations == (2, 0, 0)
    assert costs.of_cpus[2].enter(burst((1, 1))) == 0
    assert costs.of_cpus[1].enter(burst((0, 1))) == WRITE_BACK + MISS
    # It is in memory now, and both have it.
    assert costs.of_cpus[2].enter(burst((0, 1))) == MISS
    assert costs.of_cpus[0].enter(burst((0, 1))) == 0
    assert costs.counts().write_backs == (0, 1, 0)


def test_cpus_that_write_the_same_line_take_it_from_each_other() -> None:
    costs = caches(4, cpus=2)
    write = burst((0, 1), leaves=DIRTY)
    paid = [costs.of_cpus[cpu].enter(write) for cpu in (0, 1, 0, 0)]
    assert paid == [MISS, WRITE_BACK + MISS, WRITE_BACK + MISS, 0]


def test_an_invalidated_fragment_is_written_back_whatever_comes_next() -> None:
    costs = caches(4)
    flush = burst(fragment=0, lines=2, leaves=INVALIDATED)
    paid = [costs.of_cpus[0].enter(flush) for _ in range(2)]
    assert paid == [2 * MISS + 2 * WRITE_BACK, 2 * WRITE_BACK]
    assert costs.of_cpus[0].enter(burst(fragment=1, lines=4)) == 4 * MISS


def test_the_second_level_serves_all_cpus() -> None:
    costs = caches(1, cpus=2, shared=3)
    assert costs.of_cpus[0].enter(burst((0, 3))) == 3 * MISS
    assert costs.of_cpus[1].enter(burst((0, 1))) == SHARED_HIT
    # Line 1 was used least recently.
    assert costs.of_cpus[1].enter(burst((3, 1))) == MISS
    assert costs.of_cpus[0].enter(burst((0, 1))) == SHARED_HIT
    assert costs.of_cpus[0].enter(burst((1, 1))) == MISS
    assert costs.counts().shared_hits == (1, 1)


def test_it_says_which_fragment_was_used_last_and_how_it_was_left() -> None:
    costs = caches(4, cpus=2)
    costs.of_cpus[0].enter(burst(fragment=1, lines=1, leaves=DIRTY))
    costs.of_cpus[0].go_on(burst(fragment=1, lines=1))
    costs.of_cpus[0].enter(burst((0, 1)))
    held = [(cache.fragment, cache.leaves) for cache in costs.of_cpus]
    assert held == [(1, DIRTY), (UNMANAGED, CLEAN)]
    costs.of_cpus[0].enter(burst(fragment=1, lines=1))
    assert costs.of_cpus[0].leaves == CLEAN


@pytest.mark.parametrize(
    "wrong",
    [
        burst((7, 2)),
        burst((-1, 1)),
        burst(fragment=0, lines=5),
        burst(fragment=2, lines=1),
    ],
)
def test_lines_that_are_not_there_are_refused(wrong: Burst) -> None:
    with pytest.raises(InstanceError):
        caches(4).of_cpus[0].enter(wrong)


def test_sizes_are_checked() -> None:
    with pytest.raises(InstanceError, match="lines"):
        CacheSizes(lines=0, miss=1)
    with pytest.raises(InstanceError, match="sizes"):
        caches(1, fragments=(2**31,))


def test_what_a_burst_pays_fits_into_64_bits() -> None:
    # Room, and the writing back of what was read: no line pays more.
    fits = CacheSizes(lines=4, miss=2**56, write_back=(2**58 - 2**56) // 3)
    costs = LineCaches(fits, (4, 12), 1)
    costs.of_cpus[0].enter(burst((4, 4), leaves=DIRTY))
    flush = burst((0, 4), leaves=INVALIDATED)
    assert costs.of_cpus[0].enter(flush) == 4 * (fits.miss + 2 * fits.write_back)
    with pytest.raises(InstanceError, match=r"miss: and write_back let a burst pay up to"):
        LineCaches(fits, (4, 13), 1)


def test_more_lines_than_this_computer_has_memory_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("dfopt.simulate.caches.Caches", full)
    with pytest.raises(InstanceError, match="sizes: are 8 lines together, more than fit"):
        caches(4)


def test_each_domain_has_a_second_level() -> None:
    costs = caches(4, cpus=4, shared=8, domains="0,2;1,3")
    line = burst((0, 1))
    assert [costs.of_cpus[cpu].enter(line) for cpu in range(4)] == [
        MISS,
        MISS,
        SHARED_HIT,
        SHARED_HIT,
    ]
    assert costs.counts().shared_hits == (0, 0, 1, 1)
    assert costs.counts().far_hits is None


def test_a_line_from_another_domain_has_a_time_of_its_own() -> None:
    costs = caches(4, cpus=3, shared=8, domains="0-1;2", far_hit=FAR_HIT, sequential=SEQUENTIAL)
    assert costs.of_cpus[0].enter(burst((0, 2))) == MISS + SEQUENTIAL
    # Line 1 comes from the other domain; line 2 does not follow a line from memory.
    assert costs.of_cpus[2].enter(burst((1, 3))) == FAR_HIT + MISS + SEQUENTIAL
    # Now the second level of CPU 2 has it too.
    assert costs.of_cpus[1].enter(burst((1, 2))) == SHARED_HIT + FAR_HIT
    assert (costs.counts().far_hits, costs.counts().shared_hits) == ((0, 1, 1), (0, 1, 0))


def test_a_write_makes_copies_in_other_domains_invalid() -> None:
    costs = caches(1, cpus=3, shared=8, domains="0-1;2", far_hit=FAR_HIT)
    line, other = burst((0, 1)), burst((1, 1))
    assert [costs.of_cpus[cpu].enter(line) for cpu in range(3)] == [MISS, SHARED_HIT, FAR_HIT]
    # The copies of CPU 1, of CPU 2 and of its second level; the writer's own second level stays.
    assert costs.of_cpus[0].enter(burst((0, 1), leaves=DIRTY)) == 0
    assert costs.counts().invalidations == (3, 0, 0)
    # CPU 2 pays for the write-back of CPU 0, and then reads from the second level there.
    assert costs.of_cpus[2].enter(line) == WRITE_BACK + FAR_HIT
    assert costs.of_cpus[2].enter(other) == MISS
    assert costs.of_cpus[2].enter(line) == SHARED_HIT


def test_a_far_hit_needs_a_second_level() -> None:
    with pytest.raises(InstanceError, match="far_hit: needs caches that CPUs share"):
        CacheSizes(lines=1, miss=1, far_hit=1)


class Naive:
    """The same, line by line, with ordered dictionaries: True is written."""

    def __init__(self, lines: int, shared: int, domains: str, far_hit: int | None) -> None:
        self.domain_of = cache_domains(domains).domain_of
        cpus = len(self.domain_of)
        self.own: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(cpus)]
        self.seconds: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(cpus)]
        self.far_hit = far_hit
        self.lines, self.shared = lines, shared
        self.read = -2
        self.counts: list[Counter[str]] = [Counter() for _ in range(cpus)]

    def touch_all(self, cpu: int, first: int, number: int, leaves: int) -> int:
        self.read = -2
        return sum(self.touch(cpu, line, leaves) for line in range(first, first + number))

    def touch(self, cpu: int, line: int, leaves: int) -> int:
        own, counts, time = self.own[cpu], self.counts[cpu], 0
        second = self.seconds[self.domain_of[cpu]]
        others = [cache for cache in self.own if cache is not own]
        far = [cache for cache in self.seconds if cache is not second]
        counts["touched"] += 1
        if line not in own:
            counts["misses"] += 1
            for other in others:
                if other.get(line):
                    other[line] = False
                    counts["write_backs"] += 1
                    time += WRITE_BACK
            if line in second:
                counts["shared_hits"] += 1
                time += SHARED_HIT
            elif self.far_hit is not None and any(line in cache for cache in far):
                counts["far_hits"] += 1
                time += self.far_hit
            else:
                time += SEQUENTIAL if self.read == line - 1 else MISS
                self.read = line
            if self.shared:
                second[line] = False
                second.move_to_end(line)
                if len(second) > self.shared:
                    second.popitem(last=False)
            own[line] = False
            if len(own) > self.lines and own.popitem(last=False)[1]:
                counts["write_backs"] += 1
                time += WRITE_BACK
        own.move_to_end(line)
        if leaves != CLEAN:
            copies = [other for other in others + far if line in other]
            counts["invalidations"] += len(copies)
            for other in copies:
                del other[line]
            own[line] = leaves == DIRTY
            if leaves == INVALIDATED:
                counts["write_backs"] += 1
                time += WRITE_BACK
        return time


MEMORY = 12
stretches = st.integers(0, MEMORY - 1).flatmap(
    lambda first: st.tuples(st.just(first), st.integers(0, MEMORY - first))
)


@pytest.mark.slow
@given(
    lines=st.integers(1, 8),
    shared=st.integers(0, 10),
    domains=st.sampled_from(["0-2", "0;1-2", "0-1;2", "0;2;1"]),
    bursts=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.lists(stretches, min_size=1, max_size=2),
            st.sampled_from([CLEAN, DIRTY, INVALIDATED]),
        ),
        max_size=40,
    ),
)
def test_it_agrees_with_the_naive_model(
    lines: int, shared: int, domains: str, bursts: list[tuple[int, list[tuple[int, int]], int]]
) -> None:
    far_hit = FAR_HIT if shared and len(domains) % 2 else None
    costs = caches(
        lines,
        cpus=3,
        shared=shared,
        fragments=(MEMORY,),
        sequential=SEQUENTIAL,
        domains="" if domains == "0-2" else domains,
        far_hit=far_hit,
    )
    naive = Naive(lines, shared, domains, far_hit)
    for cpu, extents, leaves in bursts:
        expected = sum(naive.touch_all(cpu, *extent, leaves) for extent in extents)
        assert costs.of_cpus[cpu].enter(burst(*extents, leaves=leaves)) == expected
    counts = costs.counts()
    names = ["touched", "misses", "shared_hits", "write_backs", "invalidations"]
    for name in [*names, "far_hits"] if far_hit else names:
        assert getattr(counts, name) == tuple(each[name] for each in naive.counts)


@given(
    lines=st.integers(1, 8),
    touched=st.lists(st.integers(0, MEMORY - 1), max_size=60),
)
def test_a_larger_cache_misses_no_more(lines: int, touched: list[int]) -> None:
    small, large = (caches(size, fragments=(MEMORY,)) for size in (lines, lines + 1))
    for line in touched:
        for costs in (small, large):
            costs.of_cpus[0].enter(burst((line, 1)))
    assert large.counts().misses <= small.counts().misses
