"""OrderPrices of groups prove nothing that is false, and enough of what the solver finds."""

import contextlib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pytest

import dfopt.verify.groups as groups_module
from dfopt import replace
from dfopt.errors import MethodError
from dfopt.generate import tight
from dfopt.problem.cache import CacheState
from dfopt.problem.certificate import GroupResource, Leaf, Over, Proof, TaskClass, UseCount
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.solvers.parts import pack, prove
from dfopt.solvers.search import Search, SearchOver
from dfopt.verify.groups import GroupArgument
from dfopt.verify.tree import flaws
from tests.solvers.configuration.proofs import checked
from tests.solvers.optimum import badly_started, optimum
from tests.verify.test_bound import certified

STATES = (None, "unknown", CacheState(df="D0"), CacheState(df="D1"), CacheState(df="elsewhere"))


def drawn_packings(number: int, seed: int) -> Iterator[Instance]:
    """Yield instances under g with few tasks, in which a visit costs 1."""
    source = random.Random(seed)
    for _ in range(number):
        cpus = source.randint(1, 4)
        sizes = [source.randint(1, 4) for _ in range(source.randint(1, 6))]
        while sum(sizes) > 9:
            sizes.remove(max(sizes))
        is_warm = source.random() < 0.4
        yield Instance(
            cpus=cpus,
            penalty=PenaltyG(fill=1, write_back=0),
            tasks=tuple(Task(id=f"t{n}", df=f"D{n}", count=size) for n, size in enumerate(sizes)),
            objective=source.choice((Objective.MAX_PENALTY, Objective.TOTAL_PENALTY)),
            cold_start=source.random() < 0.5,
            capacity=-(-sum(sizes) // cpus) + source.choice((0, 0, 0, 1)),
            initial=tuple(source.choice(STATES) for _ in range(cpus)) if is_warm else (),
        )


def groups(
    sizes: Mapping[int, int], machine: Sequence[int] = (0, 0, 0), threshold: int | None = None
) -> Proof:
    """Return a proof with a price for each size of a fragment, and for the machine."""
    leaf = Leaf(weights=tuple(enumerate(sizes.values())), prices=tuple(enumerate(machine)))
    return Proof(
        over=Over.GROUPS,
        threshold=threshold,
        classes=tuple(TaskClass(fragment_size=size) for size in sizes),
        counts=tuple(UseCount(of=of) for of in GroupResource),
        nodes=(leaf,),
    )


def false_groups(instance: Instance, proof: Proof, bound: int) -> list[str]:
    return flaws(GroupArgument(instance, proof, bound, lambda: None))


def solved(instance: Instance) -> Search:
    search = badly_started(instance)
    with contextlib.suppress(SearchOver):
        pack(search)
        prove(search)
    return search


@pytest.mark.slow
def test_prices_prove_nothing_that_is_false_and_the_solvers_prove_the_optimum() -> None:
    source = random.Random(3)
    proven = Counter[str]()
    for instance in drawn_packings(250, seed=2):
        least = optimum(instance)
        sizes = sorted({task.count or 0 for task in instance.tasks})
        for bound in range(1, least + 3):
            prices = groups(
                {size: source.choice((size, 0, 1, 4)) for size in sizes},
                [source.choice((0, 1, 2)), source.choice((0, 1, 2)), source.choice((0, 1))],
            )
            if not false_groups(instance, prices, bound):
                assert bound <= least, instance
                proven["drawn prices"] += bound == least
        search = solved(instance)
        found = checked(instance, search)
        assert found.ok, found.problems
        if search.is_closed and least:
            proven["solver"] += found.bound_checked
            proven["closed"] += 1
    assert proven["solver"] == proven["closed"] >= 150
    assert proven["drawn prices"] >= 100


def test_where_prices_allow_the_groups_all_choices_are_tried() -> None:
    """The certificate needs the choice, and says so without room to make it."""
    seeds = (seed for seed in range(40))
    for seed in seeds:
        instance = tight(cpus=5, per_cpu=10, fragments=8, seed=seed)
        search = solved(instance)
        certificate = search.certificate
        if isinstance(certificate, Proof) and certificate.classes:
            break
    assert search.is_closed
    bound = search.lower_bound
    assert certified(instance, certificate, bound).bound_checked
    (leaf,) = certificate.nodes
    assert isinstance(leaf, Leaf)
    (size, _), *others = leaf.weights
    for weights in (others, [(size, -1), *others]):
        wrong = replace(leaf, weights=tuple(weights))
        assert not certified(instance, replace(certificate, nodes=(wrong,)), bound).ok
    more = replace(certificate, threshold=bound + 59)
    assert not certified(instance, more, bound + 60).ok


def test_too_many_groups_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = tight(cpus=5, per_cpu=10, fragments=8, seed=1)
    sizes = Counter(task.df for task in instance.tasks).values()
    prices = groups({size: size for size in sorted(set(sizes))}, threshold=119)
    monkeypatch.setattr(groups_module, "LARGEST_TABLE", 10)
    found = certified(instance, prices, 120)
    assert found.ok
    assert not found.bound_checked
    assert "too many" in found.unchecked[0]


def test_groups_are_for_the_penalty_g_without_execution_times() -> None:
    tasks = (Task(id="a", df="A", lines=1, count=2),)
    f = Instance(cpus=1, penalty=PenaltyF(read_line=1, write_back=0), tasks=tasks)
    free = Instance(cpus=1, penalty=PenaltyG(fill=0, write_back=0), tasks=tasks)
    long = replace(free, penalty=PenaltyG(fill=1, write_back=0), objective=Objective.MAKESPAN)
    for instance in (f, free, long):
        assert not certified(instance, groups({}, threshold=0), 1).ok


def test_groups_do_not_vanish_because_they_are_expensive() -> None:
    instance = Instance(
        cpus=2,
        penalty=PenaltyG(fill=3, write_back=1),
        tasks=tuple(
            Task(id=df, df=df, count=count) for df, count in (("A", 3), ("B", 3), ("C", 2))
        ),
        cold_start=True,
    )
    assert optimum(instance) == 8
    for price in (1, 2**50, 2**60, 2**61, 2**80):
        prices = groups({3: 0, 2: 0}, [price, 0, price])
        with contextlib.suppress(MethodError):
            assert false_groups(instance, prices, 9)
