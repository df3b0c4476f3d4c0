"""Whatever ``auto`` calls optimal has a certificate that the checker follows."""

from collections import Counter

import pytest

from dfopt import replace
from dfopt.generate import matrix, tight, zipf
from dfopt.problem.certificate import CompleteSearch, Proof, kind_of
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.problem.result import Result
from dfopt.solvers import auto, solve
from dfopt.verify import verify
from tests.solvers.drawn import drawn_instances
from tests.solvers.optimum import optimum

G = PenaltyG(fill=40, write_back=20)


def check(instance: Instance, result: Result) -> str:
    """Check a proof, and that it proves no more than it says; return its kind."""
    assert result.objective == result.lower_bound
    found = verify(instance, result, require_certificate=True)
    assert found.ok, (instance, found.problems)
    certificate, bound = result.certificate, result.lower_bound
    if certificate is None or bound is None:
        return "none"
    raised = replace(certificate, threshold=bound)
    more = verify(instance, replace(result, lower_bound=bound + 1, certificate=raised))
    assert not more.ok
    assert not more.bound_checked, instance
    return certificate.over if isinstance(certificate, Proof) else kind_of(certificate)


@pytest.mark.slow
@pytest.mark.parametrize("tiny", [auto.TINY, 0])
def test_all_kinds_of_small_instances(tiny: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "TINY", tiny)
    kinds = Counter[str]()
    for instance in drawn_instances(300, seed=61 + tiny, most_tasks=8):
        result = solve(instance, workers=1)
        assert result.objective == optimum(instance)
        kinds[check(instance, result)] += 1
    assert kinds["contents"] >= 60
    assert kinds["counting"] >= 10
    assert kinds["exhaustive"] >= 30
    assert "search" not in kinds


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    [
        zipf(tasks=40, cpus=4, fragments=10, objective=Objective.TOTAL_PENALTY, seed=1),
        zipf(tasks=20, cpus=3, fragments=6, seed=1),
        zipf(tasks=20, cpus=3, fragments=6, seed=2),
        zipf(tasks=100, cpus=8, fragments=20, penalty=G, objective=Objective.TOTAL_PENALTY),
        tight(cpus=5, per_cpu=10, fragments=8, seed=1),
        tight(cpus=5, per_cpu=10, fragments=8, seed=1, objective=Objective.TOTAL_PENALTY),
        matrix(tasks=16, cpus=3, types=5, seed=1),
    ],
    ids=lambda instance: f"{instance.name} {instance.objective}",
)
def test_instances_that_weights_alone_do_not_close(instance: Instance) -> None:
    result = solve(instance, workers=1)
    assert not isinstance(result.certificate, CompleteSearch)
    check(instance, result)


@pytest.mark.parametrize("objective", Objective)
def test_the_best_order_of_one_cpu(objective: Objective) -> None:
    instance = zipf(
        tasks=14,
        cpus=1,
        fragments=5,
        penalty=PenaltyF(read_line=1, write_back=3),
        objective=objective,
        exec=2,
        seed=4,
    )
    assert check(instance, solve(instance, workers=1)) == "contents"
