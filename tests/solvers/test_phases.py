"""What `auto` does first, for every form of instance, and how its phases share the time."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

import pytest

from dfopt import Instance, solve
from dfopt.problem.cache import CacheState
from dfopt.problem.instance import Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.problem.result import (
    FirstOf,
    GapLimit,
    Progress,
    Status,
    StopReason,
    TimeLimit,
    time_limit,
)
from dfopt.solvers import auto, facade
from dfopt.solvers import search as search_module
from dfopt.solvers.exhaustive import solve_exhaustively
from dfopt.solvers.heuristics.best_insertion import insert_all
from dfopt.solvers.search import Search
from dfopt.solvers.timed import solve as layers

TASKS, CPUS = 60, 5


def form(penalty: str, objective: Objective, extra: str = "") -> Instance:
    """Return a small instance of a form."""
    source = random.Random(f"{penalty} {objective} {extra}")
    types = {"few": 6, "some": 30, "many": TASKS}.get(penalty, 1)
    table = tuple(
        tuple(0 if one == other else source.randint(1, 100) for other in range(types))
        for one in range(types)
    )
    penalties = {
        "f": PenaltyF(read_line=1, write_back=20),
        "g": PenaltyG(fill=30, write_back=10),
    }
    tasks = tuple(
        Task(
            id=f"t{number}",
            df=f"D{source.randrange(12)}",
            type=f"{number % types}",
            lines=source.randint(0, 40),
            exec=source.randint(1, 100),
            release=source.randint(0, 300) if extra == "releases" else 0,
            after=(f"t{number - 7}",) if extra == "precedence" and number >= 7 else (),
            size=source.randint(1, 5) if extra == "sizes" else 1,
        )
        for number in range(TASKS)
    )
    return Instance(
        cpus=CPUS,
        penalty=penalties.get(penalty)
        or PenaltyMatrix(types=tuple(map(str, range(types))), switch=table),
        objective=objective,
        tasks=tasks,
        capacity=sum(task.size for task in tasks) // CPUS + 6,
        initial=(CacheState(df="D0"),) * CPUS if extra == "warm" else (),
    )


FORMS = [
    *((penalty, objective, "") for penalty in ("f", "g", "few", "some", "many")
      for objective in Objective),
    *((penalty, Objective.MAKESPAN, extra) for penalty in ("f", "g", "many")
      for extra in ("releases", "precedence", "sizes")),
    ("f", Objective.MAX_PENALTY, "warm"),
    ("g", Objective.TOTAL_PENALTY, "warm"),
]  # fmt: skip


@pytest.mark.parametrize(("penalty", "objective", "extra"), FORMS)
def test_construction_comes_first(penalty: str, objective: Objective, extra: str) -> None:
    """A schedule is there before anything is loaded, and local search follows."""
    search = Search(form(penalty, objective, extra))
    listed = auto.phases(search)
    _, build = next(listed)
    build(search)
    assert search.schedule is not None
    if search.is_closed:
        return
    names = [
        getattr(phase, "__name__", "") for _, (_, phase) in zip(range(4), listed, strict=False)
    ]
    local = {"_search_locally", "_walk_shortly", "_prove_best_order", "<lambda>"}
    first = next(place for place, name in enumerate(names) if name in local)
    # What comes before it takes moments.
    assert set(names[:first]) <= {"pack", "_refill_and_cut", "choose_supports"}


def test_makespan_under_a_matrix_with_a_type_per_task_is_never_above_best_insertion() -> None:
    """The first walks improve it before anything that can take long."""
    instance = form("many", Objective.MAKESPAN)
    known = Search(instance)
    orders = insert_all(known)
    assert orders is not None
    known.found(orders)
    assert known.objective is not None

    def stop(progress: Progress) -> StopReason | None:
        return StopReason.INTERRUPT if progress.phase.startswith("contents") else None

    result = solve(instance, stop=stop, workers=1)
    assert result.objective is not None
    assert result.objective <= known.objective


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """Let a second pass whenever the clock is looked at."""
    seconds = count()

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return float(next(seconds))

    monkeypatch.setattr(search_module, "time", Clock)
    return Clock.monotonic


def test_no_phase_takes_more_than_its_share(ticking: Callable[[], float]) -> None:
    search = Search(form("f", Objective.MAKESPAN), stop=TimeLimit(1_000))

    def work_for_ever() -> None:
        while True:
            search.check()

    begin = ticking()
    with search.share(0.1):
        work_for_ever()
    assert ticking() - begin < 0.1 * 1_000 + 10
    with search.share(0.5):
        with search.share(0.5):  # of the half
            work_for_ever()
        assert ticking() - begin < (0.1 + 0.9 * 0.25) * 1_000 + 20
        work_for_ever()
    assert ticking() - begin < (0.1 + 0.9 * 0.5) * 1_000 + 30
    with pytest.raises(search_module.SearchOver), search.share(1.0):
        work_for_ever()


def test_without_a_limit_a_phase_runs_to_its_end() -> None:
    search = Search(form("f", Objective.MAKESPAN))
    with search.share(0.01):
        search.check()
    assert search.time_left == float("inf")


@pytest.mark.parametrize(
    ("penalty", "objective", "name"),
    [
        ("few", Objective.TOTAL_PENALTY, "choose_supports"),
        ("some", Objective.MAX_PENALTY, "choose_supports"),
        ("some", Objective.TOTAL_PENALTY, "choose_supports"),
        ("some", Objective.MAKESPAN, "choose_supports"),
        ("f", Objective.MAX_PENALTY, "_solve_by_configurations"),
    ],
)
def test_what_proves_gets_all_that_is_left(penalty: str, objective: Objective, name: str) -> None:
    listed = auto.phases(Search(form(penalty, objective)))
    assert auto.ALL in [share for share, phase in listed if getattr(phase, "__name__", "") == name]


@pytest.mark.parametrize(("tasks", "after", "is_tiny"), [(9, (), True), (8, ("t0",), False)])
def test_all_orders_of_tasks_that_wait_for_each_other_would_take_long(
    tasks: int, after: tuple[str, ...], is_tiny: bool
) -> None:
    listed = auto.phases(
        Search(
            Instance(
                cpus=3,
                penalty=PenaltyG(fill=3, write_back=1),
                objective=Objective.MAKESPAN,
                tasks=(
                    *(Task(id=f"t{number}", df="X", exec=1) for number in range(tasks - 1)),
                    Task(id="last", df="Y", exec=1, release=2, after=after),
                ),
            )
        )
    )
    assert (solve_exhaustively in [phase for _, phase in listed]) == is_tiny


def test_without_a_limit_no_local_search_goes_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where instances are too large for layers and circuits, CP-SAT comes in the end."""
    monkeypatch.setattr(layers, "MOST_TASKS", 5)
    monkeypatch.setattr(layers, "MOVES_PER_TASK", 10)
    monkeypatch.setattr(auto, "TINY", 0)
    monkeypatch.setattr(auto, "LARGEST_CIRCUITS", 0)
    tasks = tuple(Task(id=f"t{number}", df=f"D{number % 2}", lines=9, exec=7 - number % 5,
                       release=number) for number in range(7))  # fmt: skip
    penalty = PenaltyF(read_line=1, write_back=1)
    instance = Instance(cpus=2, penalty=penalty, objective=Objective.MAKESPAN, tasks=tasks)
    phases: list[str] = []
    result = solve(instance, on_progress=lambda progress: phases.append(progress.phase), workers=1)
    assert result.status is Status.OPTIMAL
    assert phases[-1] == "CP-SAT"


def test_what_ends_the_search_ends_it_in_a_share_too() -> None:
    search = Search(form("f", Objective.MAKESPAN), stop=lambda progress: StopReason.INTERRUPT)
    with pytest.raises(search_module.SearchOver), search.share(0.5):
        search.check()


def test_criteria_say_when_time_is_over() -> None:
    assert time_limit(TimeLimit(3)) == 3
    assert time_limit(FirstOf(GapLimit(0.1), FirstOf(TimeLimit(5), TimeLimit(4)))) == 4
    assert time_limit(lambda progress: None) == float("inf")


def test_solve_tells_its_search_of_the_time_limit() -> None:
    """Without that no phase would have a share of it."""
    limits = []

    class Seen(Search):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)  # type: ignore[arg-type]
            limits.append(self.time_left)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facade, "Search", Seen)
        for options in ({"time_limit": 60}, {"stop": TimeLimit(60)}, {"stop": GapLimit(1)}):
            solve(form("g", Objective.TOTAL_PENALTY), workers=1, **options)
    assert [limit <= 60 for limit in limits] == [True, True, False]
