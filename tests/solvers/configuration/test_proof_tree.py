"""Trees that branch and price refutes become certificates that the checker follows."""

import contextlib
import random
from collections import Counter

import pytest

from dfopt import replace
from dfopt.generate import zipf
from dfopt.problem.certificate import CompleteSearch, Fork, Leaf, Proof, TaskClass, VisitCount
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.solvers.configuration import branch_and_price, proof_tree
from dfopt.solvers.configuration.configuration_search import ConfigurationSearch
from dfopt.solvers.configuration.contents import RULES
from dfopt.solvers.configuration.diving import Diving
from dfopt.solvers.configuration.master import LpSolution
from dfopt.solvers.configuration.remaining_problem import RemainingProblem
from dfopt.solvers.search import Search, SearchOver
from dfopt.verify import Verification
from tests.proofs import is_tree, only_leaf
from tests.solvers.configuration.proofs import checked
from tests.solvers.configuration.test_branch_and_price import (
    Branch,
    Rule,
    branch_in_order,
    branch_only,
    untimed,
)
from tests.solvers.optimum import badly_started, optimum, run
from tests.verify.test_bound import certified

SMALL = [
    zipf(tasks=9, cpus=3, fragments=5, seed=seed, objective=objective, exec=4)
    for seed in range(18)
    for objective in (Objective.MAX_PENALTY, Objective.TOTAL_PENALTY)
]


def branched(instance: Instance) -> Search | None:
    """Close a search by branching alone; None where nothing was left to do."""
    search = badly_started(instance)
    if search.is_closed:
        return None
    run(branch_only, search)
    return search


@pytest.mark.slow
@pytest.mark.parametrize("first", RULES, ids=lambda rule: rule.__name__)
def test_trees_of_every_rule_are_checked(first: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = (first, *(rule for rule in RULES if rule is not first))

    def branch(node: RemainingProblem, solution: LpSolution) -> Branch | None:
        return branch_in_order(solution, rules)

    monkeypatch.setattr(branch_and_price, "_branch", branch)
    monkeypatch.setattr(Diving, "dive", lambda *_: None)
    trees = 0
    for instance in (*untimed(30, seed=51, most_tasks=8), *SMALL):
        search = branched(instance)
        if search is None:
            continue
        found = checked(instance, search)
        assert found.ok, (instance, found.problems)
        if not isinstance(search.certificate, CompleteSearch) and search.certificate is not None:
            assert found.bound_checked, (instance, found.unchecked)
        trees += is_tree(search.certificate)
    assert trees >= 4


def altered(source: random.Random, tree: Proof) -> Proof:
    """Return a tree with one number or node that differs."""
    nodes = list(tree.nodes)
    position = source.randrange(len(nodes))
    node = nodes[position]
    if isinstance(node, Fork):
        change = source.choice((-1, 1))
        nodes[position] = replace(node, at_most=node.at_most + change)
    elif source.random() < 0.2:
        nodes.pop(position)
    else:
        pairs = "prices" if node.prices and source.random() < 0.5 else "weights"
        rows = list(getattr(node, pairs))
        if rows:
            row = source.randrange(len(rows))
            number, value = rows[row]
            rows[row] = (number, source.choice((0, value // 2, 2 * value, -value, value + 1)))
        nodes[position] = replace(node, **{pairs: tuple(rows)})  # type: ignore[arg-type]
    return replace(tree, nodes=tuple(nodes))


def verified(instance: Instance, tree: Proof, bound: int) -> Verification:
    return certified(instance, replace(tree, threshold=bound - 1), bound)


@pytest.mark.slow
def test_altered_trees_prove_nothing_that_is_false(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Diving, "dive", lambda *_: None)
    source = random.Random(4)
    refused = Counter[bool]()
    for instance in SMALL:
        search = branched(instance)
        if search is None or not is_tree(search.certificate):
            continue
        tree, least = search.certificate, search.lower_bound
        assert isinstance(tree, Proof)
        assert least == optimum(instance)
        assert verified(instance, tree, least).bound_checked
        assert not verified(instance, tree, least + 1).bound_checked
        for _ in range(25):
            other = altered(source, tree)
            assert not verified(instance, other, least + 1).bound_checked
            refused[not verified(instance, other, least).bound_checked] += 1
    assert refused[True] >= 50


@pytest.mark.slow
def test_a_tree_that_is_too_large_is_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Diving, "dive", lambda *_: None)
    monkeypatch.setattr(proof_tree, "MOST_LEAVES", 0)
    claims = 0
    for instance in SMALL:
        search = branched(instance)
        if search is None:
            continue
        with contextlib.suppress(AttributeError):
            claims += search.certificate.solver == "branch and price"  # type: ignore[union-attr]
        assert not is_tree(search.certificate)
        assert checked(instance, search).ok
    assert claims >= 2


def test_each_fork_has_two_cases() -> None:
    for instance in SMALL:
        search = branched(instance)
        if search is not None and is_tree(search.certificate):
            assert isinstance(search.certificate, Proof)
            leaves = sum(isinstance(node, Leaf) for node in search.certificate.nodes)
            forks = sum(isinstance(node, Fork) for node in search.certificate.nodes)
            assert leaves == forks + 1
            return
    raise AssertionError("no tree")


def test_whole_visits_count_from_the_start() -> None:
    """Five tasks of A on CPUs of two: three visits, where the LP alone counts two and a half."""
    instance = Instance(
        cpus=4,
        objective=Objective.TOTAL_PENALTY,
        penalty=PenaltyF(read_line=1, write_back=0),
        cold_start=True,
        tasks=(
            Task(id="a", df="A", lines=10, count=5),
            Task(id="b", df="B", lines=1, count=3),
        ),
    )
    search = badly_started(instance)
    configurations = ConfigurationSearch(search)
    with contextlib.suppress(SearchOver):
        configurations._find_bound()
    assert search.lower_bound == optimum(instance) == 32
    proof = search.certificate
    assert isinstance(proof, Proof)
    count = VisitCount(classes=(proof.classes.index(TaskClass(df="A")),))
    assert dict(only_leaf(proof).prices)[proof.counts.index(count)] > 0
    assert checked(instance, search).bound_checked
