"""How long after its limit a search ends, and how soon a walk in the background does."""

import time
from collections.abc import Callable

from dfopt import PenaltyF, PenaltyG, TimeLimit, solve
from dfopt.generate import zipf
from dfopt.solvers.local_search import Background, LocalSearch
from dfopt.solvers.search import Search
from tests.benchmarks.report import Table
from tests.benchmarks.timing import timed

F, G = PenaltyF(read_line=1, write_back=20), PenaltyG(fill=4, write_back=2)
COMMAND = "python -m pytest tests/benchmarks/test_deadlines.py"
LARGE = zipf(tasks=2000, cpus=8, fragments=200, seed=1)
MEDIUM = zipf(tasks=300, cpus=20, fragments=60, seed=1)
SEARCHES = {
    "2,000 tasks": (LARGE, "auto", 2.0, 1),
    "configuration, at once": (MEDIUM, "configuration", 0.0, 1),
    "configuration, at once, 2 workers": (MEDIUM, "configuration", 0.0, 2),
    "configuration": (MEDIUM, "configuration", 0.5, 1),
    "configuration, 2 workers": (MEDIUM, "configuration", 0.5, 2),
}
WALKS = {
    "60 tasks": zipf(tasks=60, cpus=5, fragments=15, seed=1, penalty=F),
    "20,000 tasks": zipf(tasks=20_000, cpus=64, fragments=1000, seed=1, penalty=G),
    "2,000 tasks on 4 CPUs": zipf(tasks=2_000, cpus=4, fragments=100, seed=1, penalty=F),
}
LONGEST_WALK_S = 0.1


def allowed(limit_s: float) -> float:
    """Return how late a search may be: 5 % of its limit, and one second."""
    return 0.05 * limit_s + 1


def test_searches_keep_their_limits(report: Callable[[Table], None]) -> None:
    solve(MEDIUM, method="configuration", stop=TimeLimit(1), workers=2)  # loads the kernels
    late = {}
    for name, (instance, method, limit_s, workers) in SEARCHES.items():
        stop = TimeLimit(limit_s)
        seconds, _ = timed(lambda: solve(instance, method=method, stop=stop, workers=workers))  # noqa: B023
        late[name] = seconds - limit_s
    report(
        Table(
            name="deadlines",
            title="How late a search ends",
            command=COMMAND,
            columns=["search", "limit, s", "late, s", "allowed, s"],
            rows=[
                [name, SEARCHES[name][2], late[name], allowed(SEARCHES[name][2])] for name in late
            ],
            notes=[],
        )
    )
    assert all(late[name] < allowed(SEARCHES[name][2]) for name in late), late


def test_a_walk_in_the_background_ends_at_once(report: Callable[[Table], None]) -> None:
    seconds = {}
    for name, instance in WALKS.items():
        local = LocalSearch(Search(instance))
        local.run(None, 1)
        with Background(local, 10**12):
            time.sleep(0.5)
            began = time.perf_counter()
        seconds[name] = time.perf_counter() - began
    report(
        Table(
            name="background",
            title="How long a walk in the background goes on",
            command=COMMAND,
            columns=["instance", "time, s", "allowed, s"],
            rows=[[name, taken, LONGEST_WALK_S] for name, taken in seconds.items()],
            notes=[],
        )
    )
    assert all(taken < LONGEST_WALK_S for taken in seconds.values()), seconds
