"""Random instances: valid, seeded, with the numbers that were asked for."""

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import InstanceError
from dfopt.files import fingerprint, instance_from_document, instance_to_document
from dfopt.generate import matrix, tight, uniform, zipf
from dfopt.generate.families import Draws
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix

seeds = st.integers(0, 2**40)
sizes = st.tuples(st.integers(1, 40), st.integers(1, 40)).map(sorted)
penalties = st.sampled_from((PenaltyF(read_line=2, write_back=7), PenaltyG(fill=3, write_back=4)))


def fragment_sizes(instance: Instance) -> Counter[str | None]:
    return Counter(task.df for task in instance.tasks)


@given(sizes, st.integers(1, 5), st.floats(0, 3), seeds, penalties)
def test_zipf_holds_what_was_asked_for(
    numbers: list[int], cpus: int, skew: float, seed: int, penalty: PenaltyF | PenaltyG
) -> None:
    fragments, tasks = numbers
    instance = zipf(
        tasks=tasks, cpus=cpus, fragments=fragments, skew=skew, seed=seed, penalty=penalty, lines=9
    )
    assert instance.cpus == cpus
    assert instance.penalty == penalty
    assert instance.task_count == tasks
    assert set(fragment_sizes(instance)) == {f"DF{number + 1}" for number in range(fragments)}
    assert [task.id for task in instance.tasks] == [f"t{number}" for number in range(tasks)]
    if isinstance(penalty, PenaltyF):
        assert all(1 <= (task.lines or 0) <= 9 for task in instance.tasks)
    else:
        assert all(task.lines is None for task in instance.tasks)


@given(sizes, st.integers(1, 5), seeds)
def test_uniform_uses_every_fragment(numbers: list[int], cpus: int, seed: int) -> None:
    fragments, tasks = numbers
    instance = uniform(tasks=tasks, cpus=cpus, fragments=fragments, seed=seed)
    assert (instance.cpus, instance.task_count) == (cpus, tasks)
    assert len(fragment_sizes(instance)) == fragments


@given(st.data(), st.integers(1, 6), st.integers(1, 8), seeds)
def test_tight_fills_every_cpu(data: st.DataObject, cpus: int, per_cpu: int, seed: int) -> None:
    fragments = data.draw(st.integers(1, cpus * per_cpu))
    instance = tight(cpus=cpus, per_cpu=per_cpu, fragments=fragments, seed=seed)
    assert instance.tasks_per_cpu == per_cpu
    assert instance.task_count == cpus * per_cpu
    assert len(fragment_sizes(instance)) == fragments
    assert isinstance(instance.penalty, PenaltyG)


def test_tight_finds_every_cut_equally_often() -> None:
    cuts = Counter(
        tuple(fragment_sizes(tight(cpus=2, per_cpu=2, fragments=3, seed=seed)).values())
        for seed in range(600)
    )
    assert set(cuts) == {(1, 1, 2), (1, 2, 1), (2, 1, 1)}
    assert min(cuts.values()) > 150


@given(
    st.integers(1, 20),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 50),
    st.booleans(),
    st.booleans(),
    seeds,
)
def test_matrix_draws_costs_within_their_limits(  # noqa: PLR0913, PLR0917
    tasks: int, cpus: int, types: int, largest: int, triangle: bool, ends: bool, seed: int
) -> None:
    instance = matrix(
        tasks=tasks,
        cpus=cpus,
        types=types,
        largest=largest,
        triangle=triangle,
        seed=seed,
        cold_start=ends,
        final_write_back=ends,
    )
    penalty = instance.penalty
    assert isinstance(penalty, PenaltyMatrix)
    assert instance.task_count == tasks
    assert len(penalty.types) == types
    for a, b in product(range(types), repeat=2):
        assert 0 <= penalty.switch[a][b] <= largest
        if a == b:
            assert penalty.switch[a][a] <= -(-largest // 10)
        elif not triangle:
            assert penalty.switch[a][b] >= 1
    assert (penalty.start is not None) == (penalty.finish is not None) == ends


@given(st.integers(1, 6), seeds)
def test_triangle_inequality_holds_when_asked_for(types: int, seed: int) -> None:
    instance = matrix(
        tasks=1,
        cpus=1,
        types=types,
        triangle=True,
        seed=seed,
        cold_start=True,
        final_write_back=True,
    )
    penalty = instance.penalty
    assert isinstance(penalty, PenaltyMatrix)
    switch, start, finish = penalty.switch, penalty.start, penalty.finish
    assert start is not None
    assert finish is not None
    for a, b, c in product(range(types), repeat=3):
        assert switch[a][c] <= switch[a][b] + switch[b][c]
        assert start[b] <= start[a] + switch[a][b]
        assert finish[a] <= switch[a][b] + finish[b]


def test_triangle_inequality_does_not_hold_by_itself() -> None:
    penalty = matrix(tasks=1, cpus=1, types=6).penalty
    assert isinstance(penalty, PenaltyMatrix)
    switch = penalty.switch
    assert any(
        switch[a][c] > switch[a][b] + switch[b][c] for a, b, c in product(range(6), repeat=3)
    )


def test_skew_makes_the_first_fragments_large() -> None:
    counts = fragment_sizes(zipf(tasks=20_000, cpus=4, fragments=4, skew=1))
    shares = [counts[f"DF{rank}"] / 20_000 for rank in (1, 2, 3, 4)]
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    assert shares == pytest.approx([1 / rank / harmonic for rank in (1, 2, 3, 4)], abs=0.02)


@pytest.mark.parametrize("skew", [0.0, 1e300])
def test_extreme_skews(skew: float) -> None:
    counts = fragment_sizes(zipf(tasks=4_000, cpus=4, fragments=4, skew=skew))
    assert counts["DF1"] == (pytest.approx(1_000, rel=0.1) if skew == 0 else 3_997)


def test_leaves_come_with_their_probabilities() -> None:
    instance = uniform(tasks=20_000, cpus=4, fragments=4, leaves=(0.1, 0.7, 0.2))
    counts = Counter(task.leaves for task in instance.tasks)
    shares = [counts[state] / 20_000 for state in Leaves]
    assert shares == pytest.approx([0.1, 0.7, 0.2], abs=0.02)


def test_exec_is_drawn_on_request_only() -> None:
    without = zipf(tasks=50, cpus=2, fragments=3)
    drawn = zipf(tasks=50, cpus=2, fragments=3, exec=3, objective=Objective.MAKESPAN)
    assert {task.exec for task in without.tasks} == {0}
    assert {task.exec for task in drawn.tasks} == {1, 2, 3}
    assert drawn.objective is Objective.MAKESPAN


GOLDEN: dict[str, Callable[[int], Instance]] = {
    "zipf": lambda seed: zipf(tasks=40, cpus=4, fragments=10, seed=seed),
    "skew": lambda seed: zipf(tasks=40, cpus=4, fragments=10, skew=0.7, seed=seed),
    "uniform": lambda seed: uniform(tasks=30, cpus=3, fragments=7, seed=seed, exec=9),
    "tight": lambda seed: tight(cpus=4, per_cpu=10, fragments=9, seed=seed),
    "matrix": lambda seed: matrix(tasks=20, cpus=3, types=5, triangle=True, seed=seed),
}


@pytest.mark.parametrize("family", GOLDEN)
def test_same_seed_same_document(family: str) -> None:
    build = GOLDEN[family]
    assert fingerprint(build(3)) == fingerprint(build(3))
    assert fingerprint(build(3)) != fingerprint(build(4))


@pytest.mark.parametrize(
    ("family", "digest"),
    [
        ("zipf", "011e5e446c7f70d008d6dfe42ce63df50a16a22ff2fe80a3e424358be82c96a8"),
        ("skew", "cfe848a8c218fe247497291879f5b90c62c738978fe05502d82568bd6ea359dd"),
        ("uniform", "5ddf1ab0d8a1d0d9305bc9ba1f71501c108ff03dfa07c4b3d196f0c6a75cf15e"),
        ("tight", "8bd6baae8b74a37e6b9924171d71daedf095d994e512971c6549fdfed16efe8a"),
        ("matrix", "f972575b16ec5ee9f31a31328d428a27ec490e262337262cdb469182e8f8ba0b"),
    ],
)
def test_documents_never_change(family: str, digest: str) -> None:
    """A seed that a paper names must give the same instance after an upgrade of Python."""
    assert fingerprint(GOLDEN[family](0)) == digest


def test_draws_take_nothing_but_the_bits_of_random() -> None:
    """random.Random(0).random() begins 0.8444, 0.7579, 0.4205, 0.2589, as it always has."""
    draws = Draws(0)
    assert [draws.below(10_000) for _ in range(4)] == [8444, 7579, 4205, 2589]


@pytest.mark.parametrize("family", GOLDEN)
def test_documents_can_be_read_back(family: str) -> None:
    instance = GOLDEN[family](1)
    assert instance_from_document(instance_to_document(instance)) == instance
    assert instance.description is not None
    assert f"family {family.replace('skew', 'zipf')}, seed 1: " in instance.description


@pytest.mark.parametrize(
    ("place", "build"),
    [
        ("fragments", lambda: zipf(tasks=3, cpus=1, fragments=4)),
        ("fragments", lambda: tight(cpus=1, per_cpu=3, fragments=4)),
        ("fragments", lambda: uniform(tasks=3, cpus=1, fragments=0)),
        ("tasks", lambda: zipf(tasks=0, cpus=1, fragments=1)),
        ("tasks", lambda: uniform(tasks=10**9, cpus=1, fragments=1)),
        ("cpus", lambda: zipf(tasks=3, cpus=0, fragments=1)),
        ("cpus", lambda: tight(cpus=0, per_cpu=3, fragments=1)),
        ("per_cpu", lambda: tight(cpus=2, per_cpu=0, fragments=1)),
        ("per_cpu", lambda: tight(cpus=2, per_cpu=10**7, fragments=1)),
        ("skew", lambda: zipf(tasks=3, cpus=1, fragments=1, skew=-1)),
        ("skew", lambda: zipf(tasks=3, cpus=1, fragments=1, skew=float("nan"))),
        ("lines", lambda: zipf(tasks=3, cpus=1, fragments=1, lines=0)),
        ("leaves", lambda: zipf(tasks=3, cpus=1, fragments=1, leaves=(0.5, 0.5, 0.5))),
        ("leaves", lambda: zipf(tasks=3, cpus=1, fragments=1, leaves=(1.5, -0.5, 0))),
        ("leaves", lambda: zipf(tasks=3, cpus=1, fragments=1, leaves=(float("nan"), 0, 1))),
        ("exec", lambda: zipf(tasks=3, cpus=1, fragments=1, exec=-1)),
        ("seed", lambda: zipf(tasks=3, cpus=1, fragments=1, seed=-1)),
        ("capacity", lambda: zipf(tasks=3, cpus=1, fragments=1, capacity=0)),
        ("types", lambda: matrix(tasks=3, cpus=1, types=0)),
        ("largest", lambda: matrix(tasks=3, cpus=1, types=1, largest=0)),
        ("exec", lambda: matrix(tasks=3, cpus=1, types=1, exec=-1)),
    ],
)
def test_impossible_parameters_are_named(place: str, build: Callable[[], Instance]) -> None:
    with pytest.raises(InstanceError) as caught:
        build()
    assert caught.value.place == place
