"""Tasks under a matrix: drawn ones, and what they cost by definition."""

from collections import Counter
from itertools import pairwise, permutations

from hypothesis import strategies as st

from dfopt.solvers.matrix.problem import MatrixProblem


@st.composite
def problems(draw: st.DrawFn, *, most: int = 6) -> MatrixProblem:
    """Draw at most ``most`` tasks, and what they cost."""
    size = draw(st.integers(1, 4))
    largest = draw(st.sampled_from((1, 9)))
    row = st.tuples(*(st.integers(0, largest) for _ in range(size)))
    names = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=most))
    counts = Counter(names)
    cpus = draw(st.integers(1, 3))
    starts = draw(st.integers(1, 3))
    final = draw(st.booleans())
    return MatrixProblem(
        capacity=draw(st.integers(-(-len(names) // cpus), len(names))),
        sizes=tuple(counts[task_type] for task_type in range(size)),
        starts=tuple(sorted(draw(st.integers(0, starts - 1)) for _ in range(cpus))),
        switch=tuple(draw(row) for _ in range(size)),
        start=tuple(draw(row) for _ in range(starts)),
        finish=draw(row) if final else (0,) * size,
        idle=tuple(draw(st.integers(0, 9)) if final else 0 for _ in range(starts)),
    )


def order_cost(problem: MatrixProblem, start: int, order: tuple[int, ...]) -> int:
    """Return what a CPU pays that runs types in an order."""
    if not order:
        return problem.idle[start]
    cost = problem.start[start][order[0]] + problem.finish[order[-1]]
    return cost + sum(problem.switch[one][other] for one, other in pairwise(order))


def least_cost(problem: MatrixProblem) -> int:
    """Return what all CPUs pay together in the best schedule, by trying all of them."""
    tasks = [task_type for task_type, size in enumerate(problem.sizes) for _ in range(size)]
    least = {0: 0}
    for start in problem.starts:
        found: dict[int, int] = {}
        for chosen in range(1 << len(tasks)):
            own = [task for place, task in enumerate(tasks) if chosen >> place & 1]
            if len(own) > problem.capacity:
                continue
            cost = min(order_cost(problem, start, one) for one in set(permutations(own)))
            for before, paid in least.items():
                if not before & chosen:
                    both = paid + cost
                    found[before | chosen] = min(both, found.get(before | chosen, both))
        least = found
    return least[(1 << len(tasks)) - 1]
