"""One model of CP-SAT alone, from the cheap bound and a plain first schedule."""

from __future__ import annotations

from contextlib import suppress

from dfopt import Instance, TimeLimit
from dfopt.costs.cheap_bounds import cheap_bound
from dfopt.solvers.cp_sat.circuit_model import CircuitModel
from dfopt.solvers.cp_sat.count_model import CountModel
from dfopt.solvers.cp_sat.runner import minimise
from dfopt.solvers.search import Search, SearchOver


def start_of(instance: Instance, limit_s: float, workers: int) -> Search:
    """Return a search with the cheap bound and a plain first schedule: the tasks cut in a row."""
    search = Search(instance, stop=TimeLimit(limit_s), workers=workers)
    bound = cheap_bound(instance, search.types)
    if bound.certificate is not None:
        search.proved(bound.value, bound.certificate)
    form = search.form
    kinds = [kind for kind, one in enumerate(search.types) for _ in one.names]
    size = instance.tasks_per_cpu
    contents = [kinds[cpu * size : (cpu + 1) * size] for cpu in range(instance.cpus)]
    search.found(
        [
            form.order(cpu, {kind: content.count(kind) for kind in content})
            for cpu, content in enumerate(contents)
        ]
    )
    return search


def solved_by(
    model: type[CircuitModel] | type[CountModel], instance: Instance, limit_s: float, workers: int
) -> Search:
    """Return the search after the model has solved the instance or run out of time."""
    search = start_of(instance, limit_s, workers)
    with suppress(SearchOver):
        minimise(search, lambda bounds: model(search, bounds))
    return search
