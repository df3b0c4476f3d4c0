"""Lines of programs that share a cache: the sums, a simulation, and the published penalties."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt_models.queueing import SetCache

SYMMETRY = SetCache(sets=2048, ways=2, line_time=0.75e-6)

PENALTIES = {"MAT": 1679, "MVA": 2330, "GRAV": 2349}
AFFINITY = {
    "MAT": (737, 1166, 815),
    "MVA": (627, 1061, 1103),
    "GRAV": (1793, 2080, 1719),
}
"""Published, in µs, at 400 ms: P^NA, and P^A after MAT, MVA and GRAV."""


def simulated(cache: SetCache, lines: int, others: int, random: Random) -> tuple[int, int]:
    """Return lines held, and lines lost to another program, for lines in random sets."""
    mine, theirs = [0] * cache.sets, [0] * cache.sets
    for count, column in ((lines, mine), (others, theirs)):
        for _ in range(count):
            column[random.randrange(cache.sets)] += 1
    held = lost = 0
    for own, other in zip(mine, theirs, strict=True):
        held += min(own, cache.ways)
        lost += max(0, min(own, cache.ways) + min(other, cache.ways) - cache.ways)
    return held, lost


@pytest.mark.parametrize(
    ("ways", "lines", "others"), [(1, 300, 500), (2, 600, 300), (4, 900, 1200)]
)
def test_sums_agree_with_a_simulation(ways: int, lines: int, others: int) -> None:
    cache = SetCache(sets=256, ways=ways, line_time=1.0)
    random = Random(0)
    runs = [simulated(cache, lines, others, random) for _ in range(40)]
    held, lost = (sum(column) / len(runs) for column in zip(*runs, strict=True))
    assert cache.held(lines) == pytest.approx(held, rel=0.02)
    assert cache.lost(lines, others) == pytest.approx(lost, rel=0.05)


@given(st.integers(1, 64), st.integers(1, 8), st.integers(0, 500), st.integers(0, 500))
def test_laws(sets: int, ways: int, lines: int, others: int) -> None:
    cache = SetCache(sets=sets, ways=ways, line_time=1.0)
    held, lost = cache.held(lines), cache.lost(lines, others)
    assert held <= min(lines, sets * ways) + 1e-6
    assert -1e-9 <= lost <= min(held, cache.held(others)) + 1e-6
    assert held + cache.held(others) - lost <= sets * ways + 1e-6
    assert lost == pytest.approx(cache.lost(others, lines), abs=1e-6)
    assert held <= cache.held(lines + 1) + 1e-9


@given(st.integers(1, 500))
def test_a_footprint_is_found_again(lines: int) -> None:
    cache = SetCache(sets=64, ways=4, line_time=2.0)
    found = cache.footprint(cache.penalty_no_affinity(lines))
    if found is not None:  # where the cache is nearly full, rounding hides the difference
        assert cache.penalty_no_affinity(found) == pytest.approx(cache.penalty_no_affinity(lines))
    assert cache.footprint(2.0 * 256) is None


def test_one_set_holds_what_it_can() -> None:
    cache = SetCache(sets=1, ways=3, line_time=1.0)
    assert [cache.held(lines) for lines in (0, 2, 3, 9)] == [0, 2, 3, 3]
    assert cache.lost(2, 2) == 1


def test_the_published_penalties_after_400_ms() -> None:
    lines = {name: SYMMETRY.footprint(time * 1e-6) for name, time in PENALTIES.items()}
    assert lines == {"MAT": 2_638, "MVA": 4_405, "GRAV": 4_475}
    ratios = {
        (name, other): SYMMETRY.penalty_affinity(lines[name] or 0, lines[other] or 0) * 1e6 / time
        for name, times in AFFINITY.items()
        for other, time in zip(AFFINITY, times, strict=True)
    }
    assert ratios["MAT", "MAT"] == pytest.approx(1.11, abs=0.005)
    assert ratios["MVA", "MAT"] == max(ratios.values()) == pytest.approx(1.92, abs=0.005)
    assert ratios["GRAV", "MAT"] == min(ratios.values()) == pytest.approx(0.68, abs=0.005)
    assert sum(abs(ratio - 1) < 0.2 for ratio in ratios.values()) == 4
