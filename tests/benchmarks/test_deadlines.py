"""Delays: the end of a search after its limit or Ctrl-C, and of a walk in the background.

``DFOPT_BENCH_SEEDS=100,101`` takes other hard instances.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random

from dfopt import MethodError, PenaltyF, PenaltyG, TimeLimit, solve
from dfopt.generate import zipf
from dfopt.solvers.heuristics.local_search import Background, LocalSearch
from dfopt.solvers.search import Search
from tests.benchmarks.hard_instances import hard_instance
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
HARD = 100
METHODS = ("auto", "auto", "configuration", "cp-sat", "dp")
LIMITS_S = (0.5, 1.0, 2.0, 10.0)


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


@contextmanager
def interrupted_after(seconds: float) -> Iterator[list[float]]:
    """Send this process the signal of Ctrl-C, unless the block ends before; yield when it did."""
    moments: list[float] = []
    over = threading.Event()

    def interrupt() -> None:
        if not over.wait(seconds):
            moments.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        with suppress(KeyboardInterrupt):  # it may hit just after the search has ended
            yield moments
        over.set()
        with suppress(KeyboardInterrupt):
            thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


def lateness(seed: int) -> list[object]:
    """Solve a hard instance; return a row of what it was and how late the search ended."""
    source = Random(seed)
    instance = hard_instance(source)
    method, limit_s = source.choice(METHODS), source.choice(LIMITS_S)
    workers = source.choice((1, 2))
    patience_s = source.uniform(0, limit_s) if source.random() < 0.4 else 1e6
    began = time.perf_counter()
    with interrupted_after(patience_s) as moments, suppress(MethodError):
        solve(instance, method=method, stop=TimeLimit(limit_s), seed=seed, workers=workers)
    ended = time.perf_counter()
    due = moments[0] if moments else began + limit_s
    kind = f"{type(instance.penalty).__name__}, {instance.objective}"
    size = f"n = {instance.task_count:,}, m = {instance.cpus}"
    return [seed, kind, size, method, bool(moments), limit_s, ended - due, allowed(limit_s)]


def test_hard_instances_end_in_time(report: Callable[[Table], None]) -> None:
    solve(MEDIUM, method="configuration", stop=TimeLimit(1), workers=2)  # loads the kernels
    named = os.environ.get("DFOPT_BENCH_SEEDS")
    seeds = [int(seed) for seed in named.split(",")] if named else range(HARD)
    rows = [lateness(seed) for seed in seeds]
    report(
        Table(
            name="hard-deadlines",
            title="How late a search of a hard instance ends",
            command=f"{COMMAND} -k hard",
            columns=[
                "seed", "instance", "size", "method", "interrupted", "limit, s", "late, s",
                "allowed, s",
            ],
            rows=rows,
            notes=["a search that ends before its limit is less than 0 s late"],
        )
    )  # fmt: skip
    assert not [row for row in rows if float(str(row[-2])) > float(str(row[-1]))]


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
