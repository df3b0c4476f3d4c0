"""Applications alone on a machine: levels of parallelism against graphs done by hand."""

from __future__ import annotations

import pytest

from dfopt_models.plot import plot_parallelism
from dfopt_models.space_sharing import profiles, read_mix, simulate
from tests.models.space_sharing.small import graph, mix

# a, then b, c and d, then e. On 2 processors: a for 1 s; b and c for 2 s; c and d for 1 s; d for
# 1 s; e for 1 s. On 3: a for 1 s; b, c and d for 2 s; c for 1 s; e for 1 s.
FORK = graph(
    {"a": 1.0, "b": 2.0, "c": 3.0, "d": 2.0, "e": 1.0},
    [("a", "b"), ("a", "c"), ("a", "d"), ("b", "e"), ("c", "e"), ("d", "e")],
)


@pytest.mark.parametrize(
    ("processors", "seconds"),
    [(1, (9.0,)), (2, (3.0, 3.0)), (3, (3.0, 0.0, 2.0)), (4, (3.0, 0.0, 2.0, 0.0))],
)
def test_a_fork_by_hand(processors: int, seconds: tuple[float, ...]) -> None:
    (found,) = profiles(mix(FORK, processors=processors))
    assert found.application == "A"
    assert found.elapsed == pytest.approx(sum(seconds))
    assert found.shares == pytest.approx([second / sum(seconds) for second in seconds])
    assert found.demand == pytest.approx(9.0 / found.elapsed)


def test_the_simulation_takes_as_long_if_reallocations_are_free() -> None:
    alone = read_mix("mix-6")
    for profile, entry in zip(profiles(alone), alone.jobs, strict=True):
        structure = entry.application.structure
        # The simulation draws other threads, but they have the same mean work.
        (summary,), _ = simulate(mix(structure, processors=16), ["equipartition"], seeds=range(1))
        simulated = summary.jobs[0].figures["response_time"].mean
        assert profile.elapsed == pytest.approx(simulated, rel=0.03)


def test_what_the_paper_says_of_its_applications() -> None:
    mva, matrix, gravity = profiles(read_mix("mix-6"), seeds=range(3))
    # MVA: "parallelism that first slowly grows and then slowly decreases".
    assert max(mva.shares) < 0.15
    assert min(mva.shares[:10]) > 0.05
    # MATRIX: "massive" and constant parallelism.
    assert matrix.shares[-1] > 0.99
    # GRAVITY: a sequential phase and three barriers in each of 51 steps.
    assert gravity.shares[0] * gravity.elapsed == pytest.approx(51 * (0.1 + 3 * 0.0006), rel=0.05)
    assert gravity.shares[-1] > 0.75
    assert all(sum(one.shares) == pytest.approx(1.0) for one in (mva, matrix, gravity))


def test_the_picture_has_the_shares() -> None:
    figure = plot_parallelism(profiles(mix(FORK, FORK, processors=2)))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "A: 6.0 s, 1.5 processors",
        "B: 6.0 s, 1.5 processors",
    ]
    for axes in figure.axes:
        assert [bar.get_height() for bar in axes.patches] == pytest.approx([50.0, 50.0])
        assert axes.lines[0].get_xdata()[0] == pytest.approx(1.5)
