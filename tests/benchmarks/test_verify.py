"""Checking a certificate of 200 tasks on 16 CPUs takes seconds."""

from collections.abc import Callable, Sequence

from dfopt import Instance, InstanceName, Result, Status, StopReason, replace
from dfopt.costs.cheap_bounds import cheap_bound
from dfopt.costs.task_types import task_types
from dfopt.files import fingerprint
from dfopt.generate import uniform
from dfopt.problem.certificate import DualWeights, TaskClass
from dfopt.verify import verify
from dfopt.verify.exact_contents import largest_values
from dfopt.verify.relaxed_contents import OrderPrices
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

LIMIT_S = 10
SCALE = 10_000


def cheap_certificate(instance: Instance) -> DualWeights:
    """Return the certificate of the cheap bound."""
    certificate = cheap_bound(instance, task_types(instance)).certificate
    assert isinstance(certificate, DualWeights)
    return certificate


def detailed_certificate(instance: Instance, cheap: DualWeights) -> DualWeights:
    """Return one for the same bound in which task types have weights and charges of their own.

    A solver's dual values look like that.
    """
    weights: dict[TaskClass, int] = {}
    charges: dict[TaskClass, int] = {}
    own = [TaskClass(df=t.df or "", leaves=t.leaves, lines=t.lines) for t in instance.tasks]
    for row, task in zip(own, instance.tasks, strict=True):
        lines = task.lines or 0
        given = (row.weight for row in cheap.weights if row.holds(task))
        # Small beside the scale, so that the proof keeps its slack.
        weights[row] = SCALE * next(given, 0) + lines
        charges[row] = lines % 7
    visits = tuple(replace(row, price=SCALE * row.price) for row in cheap.visit_prices)
    prices = OrderPrices(
        weights=[weights[row] for row in own],
        charges=[charges[row] for row in own],
        visits={row.df: row.price for row in visits},
    )
    return replace(
        cheap,
        bin_weights=tuple(largest_values(instance, prices, cheap.threshold)),
        weights=tuple(row.weighing(weight) for row, weight in weights.items()),
        entry_charges=tuple(row.charged(charge) for row, charge in charges.items() if charge),
        visit_prices=visits,
    )


def claim(instance: Instance, certificate: DualWeights) -> Result:
    assert certificate.threshold is not None
    return Result(
        instance=InstanceName(name=instance.name, sha256=fingerprint(instance)),
        status=Status.UNKNOWN,
        stop_reason=StopReason.GIVEN,
        lower_bound=certificate.threshold + 1,
        certificate=certificate,
    )


def test_certificate(report: Callable[[Table], None]) -> None:
    rows: list[Sequence[object]] = []
    slowest = 0.0
    for seed in range(3):
        instance = uniform(tasks=200, cpus=16, fragments=40, seed=seed)
        bounding_s, cheap = timed(lambda: cheap_certificate(instance))  # noqa: B023
        for name, certificate in (
            ("of the cheap bound", cheap),
            ("weights and charges a task type", detailed_certificate(instance, cheap)),
        ):
            seconds, found = timed(lambda: verify(instance, claim(instance, certificate)))  # noqa: B023
            assert found.ok, found.problems
            assert found.bound_checked
            slowest = max(slowest, seconds)
            rows.append(
                [
                    seed,
                    name,
                    len(certificate.weights),
                    len(certificate.entry_charges),
                    seconds,
                    seconds / bounding_s,
                ]
            )
    report(
        Table(
            name="verify",
            title="Checking certificates: uniform under f, n = 200, m = 16, d = 40",
            command="python -m pytest tests/benchmarks/test_verify.py",
            columns=["seed", "certificate", "weights", "charges", "time, s", "× finding the bound"],
            rows=rows,
            notes=[f"target {LIMIT_S} s; slowest {slowest:.2f} s"],
        )
    )
    assert slowest < LIMIT_S
