"""Mean response times of queues: what no policy falls below, and what the best one reaches.

Jobs arrive at random (Poisson) and have exponential service times of mean S. A job that comes to
another CPU than the last time reloads its data, which takes C. The *load* is the share of the time
for which N CPUs would be busy without any reloads.

The functions are plain arithmetic; with symbols in place of numbers they give the formulas that
``dfopt model queueing --formula`` prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dfopt_models.errors import ModelError

STEPS = 100
"""Loads at which a curve is looked at before its ends are found by bisection."""

BISECTIONS = 60

ROUNDING = 1e-12
"""Curves that are nearer to each other than this touch, and do not cross."""

MOST_RELOAD = 2.0
"""A global queue with reloads of twice the service time never beats partitions."""


def partition(service: Any, load: Any) -> Any:
    """Return the mean response time where each CPU has its own jobs: M/M/1."""
    return service / (1 - load)


def waiting_probability(cpus: int, load: Any) -> Any:
    """Return the probability that a job waits where all CPUs share a queue: Erlang's C."""
    work = cpus * load
    blocked = 1
    for servers in range(1, cpus + 1):
        blocked = work * blocked / (servers + work * blocked)
    return blocked / (1 - load * (1 - blocked))


def ideal(service: Any, cpus: int, load: Any) -> Any:
    """Return the mean response time of a queue for all CPUs without reloads: M/M/N."""
    return service * (1 + waiting_probability(cpus, load) / (cpus * (1 - load)))


def moving_service(service: Any, reload: Any, cpus: Any) -> Any:
    """Return the mean service time where each job runs on any CPU with the same probability."""
    return service + reload * (1 - 1 / cpus)


def global_queue(service: float, reload: float, cpus: int, load: float) -> float:
    """Return the mean response time of a queue for all CPUs with reloads, as a model.

    The service time with its reload is taken for exponential. It is infinite where the reloads
    leave too little of the CPUs for the work.
    """
    longer = moving_service(service, reload, cpus)
    inflated = load * longer / service
    return float(ideal(longer, cpus, inflated)) if inflated < 1 else math.inf


def two_cpu_crossings(service: Any, reload: Any, root: Callable[[Any], Any] = math.sqrt) -> Any:
    """Return the two loads between which a global queue of two CPUs beats partitions.

    At these loads σ²ρ² − σρ + σ − 1 = 0, where σ = 1 + C/2S.
    """
    ratio = moving_service(service, reload, 2) / service
    spread = root(1 - 4 * (ratio - 1))
    return (1 - spread) / (2 * ratio), (1 + spread) / (2 * ratio)


def crossings(service: float, reload: float, cpus: int) -> tuple[float, float] | None:
    """Return the loads between which the global queue beats partitions; None if it never does.

    Raises
    ------
    ModelError
        When a parameter is impossible.
    """
    check(service=service, cpus=cpus)
    if reload < 0:
        raise ModelError("must be at least 0", place="reload")
    if cpus == 1 or not reload:
        return None

    def excess(load: float) -> float:
        shared = global_queue(service, reload, cpus, load)
        return float(shared / partition(service, load) - 1)

    saturated = service / moving_service(service, reload, cpus)
    loads = [saturated * step / STEPS for step in range(STEPS)]
    best = min(range(STEPS), key=lambda step: excess(loads[step]))
    low, high = loads[max(0, best - 1)], loads[min(STEPS - 1, best + 1)]
    for _ in range(BISECTIONS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if excess(left) < excess(right) else (left, high)
    if excess(low) > -ROUNDING:
        return None
    return _root(excess, low, 0.0), _root(excess, low, saturated)


def _root(excess: Callable[[float], float], below: float, above: float) -> float:
    """Return where the excess is 0, between a load where it is negative and one where it is not."""
    for _ in range(BISECTIONS):
        middle = (below + above) / 2
        below, above = (middle, above) if excess(middle) < 0 else (below, middle)
    return below


def largest_reload(cpus: int) -> float:
    """Return the C/S below which a global queue beats partitions at some load."""
    low, high = 0.0, MOST_RELOAD
    for _ in range(BISECTIONS // 2):
        middle = (low + high) / 2
        low, high = (low, middle) if crossings(1.0, middle, cpus) is None else (middle, high)
    return low


def check(**numbers: float) -> None:
    """Refuse numbers that are not positive."""
    for name, number in numbers.items():
        if not number > 0:
            raise ModelError("must be positive", place=name)
