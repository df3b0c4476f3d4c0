"""Hypothesis strategies: small instances with small numbers, so that ties and odd cases occur."""

from collections.abc import Sequence

from hypothesis import strategies as st

from dfopt.checks import LARGEST_TOTAL
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt_models.response_time import (
    POLICY_NUMBERS,
    Case,
    JobParameters,
    PolicyComparison,
    PolicyParameters,
    ResponseModel,
)

FRAGMENTS = ("A", "B", "C")
KINDS = ("f", "g", "matrix")

times = st.integers(0, 4)
leaves = st.sampled_from(Leaves)
any_time = st.integers(0, LARGEST_TOTAL)
any_integer = st.integers(-LARGEST_TOTAL, LARGEST_TOTAL)
# Half surrogate pairs are no text and have a test of their own.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | any_integer
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def instances(  # noqa: PLR0913 -- each is a property that some test needs
    draw: st.DrawFn,
    *,
    min_tasks: int = 0,
    max_tasks: int = 6,
    max_cpus: int = 3,
    kinds: Sequence[str] = KINDS,
    objectives: Sequence[Objective] = tuple(Objective),
    timed: bool = False,
    initial: bool = True,
    counts: bool = True,
    feasible: bool = True,
    adorned: bool = False,
) -> Instance:
    """Draw an instance.

    Parameters
    ----------
    min_tasks, max_tasks
        Limits on the number of tasks, copies included.
    max_cpus
        Limit on the number of CPUs.
    kinds
        Penalties to draw from: ``f``, ``g``, ``matrix``.
    objectives
        Objectives to draw from.
    timed
        Whether tasks may have releases and predecessors; the objective is then the makespan.
    initial
        Whether caches may hold something at the start.
    counts
        Whether an entry may stand for several tasks.
    feasible
        Whether the capacity suffices for all tasks; otherwise it may or may not.
    adorned
        Whether there are also labels, strange names, and keys that do not matter.
    """
    penalty = draw(penalties(kinds))
    total = draw(st.integers(min_tasks, max_tasks))
    tasks: list[Task] = []
    left = total
    while left:
        count = draw(st.none() | st.integers(1, left)) if counts else None
        earlier = [task.id for task in tasks]
        task = Task(
            id=f"t{len(tasks)}{draw(texts) if adorned else ''}",
            exec=draw(times),
            release=draw(st.just(0) | st.integers(0, 8)) if timed else 0,
            after=draw(predecessors(earlier)) if timed else (),
            count=count,
            **draw(_contents(penalty, adorned=adorned)),
        )
        tasks.append(task)
        left -= task.multiplicity
    if timed:  # predecessors need not stand before their successors
        tasks = draw(st.permutations(tasks))
    cpus = draw(st.integers(1, max_cpus))
    least = max(1, -(-total // cpus)) if feasible else 1
    states = st.none() | st.just("unknown") | _states(penalty, adorned=adorned)
    all_states = st.lists(states, min_size=cpus, max_size=cpus).map(tuple)
    cold_start, final_write_back = draw(st.booleans()), draw(st.booleans())
    if isinstance(penalty, PenaltyMatrix):
        penalty = draw(_with_ends(penalty, start=cold_start, finish=final_write_back))
    return Instance(
        cpus=cpus,
        penalty=penalty,
        tasks=tuple(tasks),
        capacity=draw(
            st.sampled_from(("balanced", "unlimited")) | st.integers(least, max(least, total))
        ),
        objective=Objective.MAKESPAN if timed else draw(st.sampled_from(objectives)),
        initial=draw(st.just(()) | all_states) if initial else (),
        cold_start=cold_start,
        final_write_back=final_write_back,
        name=draw(st.none() | texts) if adorned else None,
        description=draw(st.none() | texts) if adorned else None,
        source=draw(st.none() | texts) if adorned else None,
        time_unit=draw(st.none() | texts) if adorned else None,
    )


@st.composite
def penalties(draw: st.DrawFn, kinds: Sequence[str] = KINDS) -> Penalty:
    """Draw a penalty; a table has no costs at the ends yet."""
    match draw(st.sampled_from(kinds)):
        case "f":
            return PenaltyF(read_line=draw(st.integers(0, 2)), write_back=draw(st.integers(0, 5)))
        case "g":
            return PenaltyG(fill=draw(st.integers(0, 3)), write_back=draw(st.integers(0, 3)))
    types = FRAGMENTS[: draw(st.integers(1, len(FRAGMENTS)))]
    return PenaltyMatrix(types=types, switch=tuple(draw(_row(types)) for _ in types))


def _row(types: Sequence[str]) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(0, 6) for _ in types))


@st.composite
def _with_ends(
    draw: st.DrawFn, penalty: PenaltyMatrix, *, start: bool, finish: bool
) -> PenaltyMatrix:
    """Give a table costs at the ends, only where they count: otherwise there is a warning."""
    rows = st.none() | _row(penalty.types)
    return PenaltyMatrix(
        types=penalty.types,
        switch=penalty.switch,
        start=draw(rows) if start else None,
        finish=draw(rows) if finish else None,
    )


@st.composite
def _states(draw: st.DrawFn, penalty: Penalty, *, adorned: bool) -> CacheState:
    fields = draw(_contents(penalty, adorned=adorned))
    return CacheState(**{key: value for key, value in fields.items() if key != "lines"})


@st.composite
def _contents(draw: st.DrawFn, penalty: Penalty, *, adorned: bool) -> dict[str, object]:
    """Draw what a task does to the cache: the keys that matter under ``penalty``, or all."""
    fields: dict[str, object] = {}
    in_table = isinstance(penalty, PenaltyMatrix)
    types = penalty.types if isinstance(penalty, PenaltyMatrix) else FRAGMENTS
    if in_table or (adorned and draw(st.booleans())):
        fields["type"] = draw(st.sampled_from(types))
    if not in_table or (adorned and draw(st.booleans())):
        fields["df"] = draw(texts) if adorned else draw(st.sampled_from(FRAGMENTS))
    if isinstance(penalty, PenaltyF) or (adorned and draw(st.booleans())):
        fields["lines"] = draw(times)
        fields["leaves"] = draw(leaves)
    return fields


def predecessors(names: Sequence[str]) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw none, one or two of ``names``."""
    if not names:
        return st.just(())
    return st.lists(st.sampled_from(names), max_size=2, unique=True).map(tuple)


@st.composite
def orders(draw: st.DrawFn, instance: Instance) -> list[list[str]]:
    """Draw an order of task names per CPU, within the capacity of a feasible instance.

    Tasks on different CPUs never wait for each other for ever.
    """
    waiting = instance.tasks_by_name()
    cpus: list[list[str]] = [[] for _ in range(instance.cpus)]
    while waiting:
        unfinished = {task.id for task in waiting.values()}
        ready = [name for name, task in waiting.items() if unfinished.isdisjoint(task.after)]
        name = draw(st.sampled_from(ready))
        room = [cpu for cpu in cpus if len(cpu) < instance.tasks_per_cpu]
        draw(st.sampled_from(room)).append(name)
        del waiting[name]
    return cpus


# Round numbers, so that ties and zeros occur, and any others.
seconds = st.sampled_from([0.0, 1e-3, 2e-3, 0.5, 1.0]) | st.floats(0.0, 2.0, allow_subnormal=False)
counts_of_reallocations = st.sampled_from([0.0, 1.0, 10.0, 1000.0]) | st.floats(
    0.0, 5000.0, allow_subnormal=False
)
fractions = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0.0, 1.0, allow_subnormal=False)
works = st.sampled_from([1.0, 700.0]) | st.floats(0.5, 1000.0)
wastes = st.sampled_from([0.0, 1.0, 40.0]) | st.floats(0.0, 100.0, allow_subnormal=False)
allocations = st.sampled_from([1.0, 8.0]) | st.floats(0.5, 16.0)


@st.composite
def policy_parameters(draw: st.DrawFn, *, ranged: bool = False) -> PolicyParameters:
    """Draw what a policy does to a job; ``ranged``: perhaps with ranges."""
    values = {
        "work": draw(works),
        "waste": draw(wastes),
        "reallocations": draw(counts_of_reallocations),
        "affinity": draw(fractions),
        "allocation": draw(allocations),
    }
    ranges = draw(ranges_of(values)) if ranged else {}
    return PolicyParameters(**values, ranges=ranges)


def with_numbers(model: ResponseModel, job: str, policy: str, **numbers: float) -> PolicyParameters:
    """Return a policy with numbers in the place of measurements, some of them others."""
    case = model.case(job, policy)
    own = {name: getattr(case, name) for name in POLICY_NUMBERS}
    return PolicyParameters(**own | numbers, sources=model.job(job).policies[policy].sources)


@st.composite
def ranges_of(draw: st.DrawFn, values: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Draw ranges of some parameters that hold their values."""
    names = draw(st.lists(st.sampled_from(sorted(values)), unique=True, max_size=3))
    ranges = {}
    for name in names:
        value = values[name]
        most = 1.0 if name == "affinity" else 2 * value + 1
        ranges[name] = (value * draw(st.floats(0.1, 1.0)), draw(st.floats(value, most)))
    return ranges


@st.composite
def response_models(draw: st.DrawFn, *, jobs: int = 1, ranged: bool = False) -> ResponseModel:
    """Draw a model with the baseline ``still`` and the policy ``moving``."""
    drawn = []
    for number in range(jobs):
        penalties = {
            "penalty_affinity": draw(seconds),
            "penalty_no_affinity": draw(seconds),
        }
        drawn.append(
            JobParameters(
                name=f"job {number}",
                policies={
                    name: draw(policy_parameters(ranged=ranged)) for name in ("still", "moving")
                },
                ranges=draw(ranges_of(penalties)) if ranged else {},
                **penalties,
            )
        )
    return ResponseModel(
        name="drawn", baseline="still", reallocation_time=draw(seconds), jobs=tuple(drawn)
    )


def comparisons(*, ranged: bool = False) -> st.SearchStrategy[PolicyComparison]:
    """Draw a policy and a baseline."""
    return response_models(ranged=ranged).map(lambda model: model.comparison("job 0", "moving"))


def cases() -> st.SearchStrategy[Case]:
    """Draw a job under a policy."""
    return comparisons().map(lambda comparison: comparison.case)
