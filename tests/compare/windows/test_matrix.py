"""Windows under a matrix, against all their schedules."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare.cost_model import TypeCosts
from dfopt.compare.windows.matrix import MatrixSchedule, matrix_problem_of
from dfopt.compare.windows.window import CLEAN, EMPTY, UNKNOWN, Cache, DispatchClass, WindowProblem
from dfopt.compare.windows.window_solver import WindowSolver
from tests.solvers.matrix.problems import assert_real, least_cost


@st.composite
def matrix_windows(draw: st.DrawFn, *, most: int = 6) -> tuple[WindowProblem, TypeCosts]:
    """Draw a window with at most ``most`` dispatches, and what they cost."""
    size = draw(st.integers(1, 4))
    row = st.tuples(*(st.integers(0, 9) for _ in range(size)))
    costs = TypeCosts(
        switch=tuple(draw(row) for _ in range(size)), start=draw(row), finish=draw(row)
    )
    names = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=most))
    counts = sorted(Counter(names).items())
    cpus = draw(st.integers(1, 3))
    states = st.sampled_from([UNKNOWN, EMPTY, *map(Cache, range(size))])
    window = WindowProblem(
        capacity=draw(st.integers(-(-len(names) // cpus), len(names))),
        types=tuple(task_type for task_type, _ in counts),
        fragments=tuple((DispatchClass(0, CLEAN, count),) for _, count in counts),
        states=tuple(draw(states) for _ in range(cpus)),
        final=draw(st.booleans()),
        by_worst=draw(st.booleans()),
    )
    return window, costs


@given(matrix_windows(), st.data())
@settings(max_examples=100, deadline=None)
def test_tiny_windows_are_solved_to_the_optimum(
    drawn: tuple[WindowProblem, TypeCosts], data: st.DataObject
) -> None:
    window, costs = drawn
    paid = data.draw(st.tuples(*(st.integers(0, 9) for _ in window.states)))
    solver = WindowSolver(leaves_differ=False, types=costs, seconds=0, thorough=False)
    solved = solver.solve(window, paid)
    found = solved.schedule
    assert isinstance(found, MatrixSchedule)
    assert sorted(solved.cpus) == list(range(window.cpus))
    states = tuple(window.states[cpu] for cpu in solved.cpus)
    assert states == tuple(sorted(window.states))
    ordered = WindowProblem(
        capacity=window.capacity,
        types=window.types,
        fragments=window.fragments,
        states=states,
        final=window.final,
        by_worst=window.by_worst,
    )
    problem = matrix_problem_of(ordered, costs)
    assert_real(problem, list(found.trails))
    assert found.is_closed
    assert found.cost == least_cost(problem)
    # Of CPUs that begin alike, the one that has paid most pays least.
    for one, other in zip(range(window.cpus), range(1, window.cpus), strict=False):
        if states[one] == states[other]:
            assert paid[solved.cpus[one]] >= paid[solved.cpus[other]]
            assert found.costs[one] <= found.costs[other]
