"""The data model: what an instance says about itself, and what it refuses."""

import pytest
from hypothesis import given
from msgspec.structs import asdict

from dfopt import replace
from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptWarning, InstanceError
from dfopt.problem.cache import CacheState, Leaves
from dfopt.problem.instance import LARGEST_CPU_COUNT, LARGEST_TASK_COUNT, Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG, PenaltyMatrix
from tests.strategies import instances

F = PenaltyF(read_line=1, write_back=4)
G = PenaltyG(fill=2, write_back=3)
TABLE = PenaltyMatrix(types=("a", "b"), switch=((0, 1), (2, 3)))


def task(name="t", **fields):
    return Task(**({"id": name, "df": "A", "lines": 1} | fields))


def instance(*tasks, **fields):
    return Instance(**({"cpus": 2, "penalty": F, "tasks": tasks} | fields))


def test_defaults():
    small = Instance(cpus=1, penalty=G)
    assert (small.tasks, small.capacity, small.objective) == ((), "balanced", "max-penalty")
    assert (small.cold_start, small.final_write_back, small.initial) == (False, False, ())
    assert asdict(task()) == {
        "id": "t",
        "df": "A",
        "type": None,
        "lines": 1,
        "leaves": "clean",
        "exec": 0,
        "release": 0,
        "after": (),
        "count": None,
        "size": 1,
    }


def test_words_stand_for_members():
    timed = instance(task(leaves="dirty"), objective="makespan", initial=(None, "unknown"))
    assert timed.objective is Objective.MAKESPAN
    assert timed.tasks[0].leaves is CacheState(df="A", leaves="dirty").leaves is Leaves.DIRTY
    assert timed == instance(
        task(leaves=Leaves.DIRTY), objective=Objective.MAKESPAN, initial=(None, "unknown")
    )


def test_instances_are_values():
    first, second = instance(task()), instance(task())
    assert first == second
    assert hash(first) == hash(second)
    assert first != instance(task(), cpus=3)
    with pytest.raises(AttributeError):
        first.cpus = 3


def test_names_of_copies():
    assert list(task().names) == ["t"]
    assert list(task(count=1).names) == ["t#1"]
    assert list(task(count=3).names) == ["t#1", "t#2", "t#3"]
    entries = (task("t", count=2), task("s"))
    assert instance(*entries).tasks_by_name() == {
        "t#1": entries[0],
        "t#2": entries[0],
        "s": entries[1],
    }


@pytest.mark.parametrize(
    ("capacity", "cpus", "per_cpu", "missing"),
    [
        ("balanced", 2, 4, 0),
        ("balanced", 3, 3, 0),
        ("balanced", 9, 1, 0),
        ("unlimited", 2, 7, 0),
        (3, 2, 3, 1),
        (1, 2, 1, 5),
        (100, 2, 100, 0),
    ],
)
def test_capacity(capacity, cpus, per_cpu, missing):
    seven = instance(task("s", count=5), task("t"), task("u"), cpus=cpus, capacity=capacity)
    assert seven.task_count == 7
    assert seven.tasks_per_cpu == per_cpu
    assert seven.missing_capacity == missing


def test_no_tasks():
    empty = instance()
    assert (empty.task_count, empty.tasks_per_cpu, empty.missing_capacity) == (0, 0, 0)
    assert empty.tasks_by_name() == {}


def test_initial_states():
    state = CacheState(df="A", leaves=Leaves.DIRTY)
    assert instance().initial_states == (None, None)
    assert instance(initial=(None, state)).initial_states == (None, state)
    assert instance(initial=("unknown", state)).initial_states == ("unknown", state)


def test_timed():
    makespan = {"objective": Objective.MAKESPAN}
    assert not instance(task(), **makespan).is_timed
    late = instance(task(release=1), **makespan)
    assert late.is_timed
    assert not late.has_precedence
    chain = instance(task("s"), task("t", after=("s",)), **makespan)
    assert chain.is_timed
    assert chain.has_precedence


@pytest.mark.slow
@given(instances(timed=True))
def test_strategies_draw_names_once(drawn):
    assert len(drawn.tasks_by_name()) == drawn.task_count


@pytest.mark.parametrize(
    ("make", "message"),
    [
        # single values
        (lambda: PenaltyF(read_line=-1, write_back=0), "read_line: must be at least 0, not -1"),
        (lambda: PenaltyF(read_line=1, write_back=0.5), "write_back: must be an integer, not 0.5"),
        (lambda: PenaltyG(fill=True, write_back=0), "fill: must be an integer, not True"),
        (lambda: PenaltyG(fill=1, write_back="0"), "write_back: must be an integer, not '0'"),
        (lambda: CacheState(df=1), "df: must be a string, not 1"),
        (lambda: CacheState(type=1), "type: must be a string, not 1"),
        (lambda: CacheState(leaves="wet"), "leaves: must be one of 'clean', 'dirty', 'invalidat"),
        (lambda: task(None), "id: must be a string, not None"),
        (lambda: task("\udc80"), "id: holds half a surrogate pair, which is no text"),
        (lambda: task(df=("A",)), "df: must be a string, not ('A',)"),
        (lambda: task(type=0), "type: must be a string, not 0"),
        (lambda: task(lines=-1), "lines: must be at least 0, not -1"),
        (lambda: task(lines=LARGEST_TOTAL + 1), f"lines: is {2**62 + 1}, more than 2^62"),
        (lambda: task(exec=1.0), "exec: must be an integer, not 1.0"),
        (lambda: task(release=None), "release: must be an integer, not None"),
        (lambda: task(after=("s", 1)), "after[1]: must be a string, not 1"),
        (lambda: task(count=0), "count: must be at least 1, not 0"),
        (lambda: task(leaves=None), "leaves: must be one of 'clean', 'dirty', 'invalidated', not"),
        (lambda: instance(cpus=0), "cpus: must be at least 1, not 0"),
        (lambda: instance(cpus=2.0), "cpus: must be an integer, not 2.0"),
        (lambda: instance(cpus=-(10**5000)), "cpus: must be at least 1, not a huge integer"),
        (lambda: instance(cpus=LARGEST_CPU_COUNT + 1), "cpus: is 1000001; at most 1000000 are sup"),
        (lambda: instance(capacity=0), "capacity: must be at least 1, not 0"),
        (lambda: instance(capacity="all"), "capacity: must be 'balanced', 'unlimited' or an integ"),
        (lambda: instance(capacity=None), "capacity: must be 'balanced', 'unlimited' or an integ"),
        (lambda: instance(objective="Cmax"), "objective: must be one of 'max-penalty', 'tota"),
        (lambda: instance(cold_start=1), "cold_start: must be true or false"),
        (lambda: instance(final_write_back=None), "final_write_back: must be true or false"),
        (lambda: instance(name=1), "name: must be a string, not 1"),
        (lambda: instance(description=1), "description: must be a string, not 1"),
        (lambda: instance(source=b"x"), "source: must be a string, not b'x'"),
        (lambda: instance(time_unit="\ud800"), "time_unit: holds half a surrogate pair"),
        (lambda: instance(name=["long"] * 99), "name: must be a string, not ['long', 'long', 'lo"),
        # tables
        (lambda: PenaltyMatrix(types=(), switch=()), "types: needs at least one type"),
        (lambda: PenaltyMatrix(types=(1,), switch=((0,),)), "types[0]: must be a string, not 1"),
        (
            lambda: PenaltyMatrix(types=("a", "a"), switch=((0, 0), (0, 0))),
            "types[1]: the type 'a' is there twice",
        ),
        (
            lambda: PenaltyMatrix(types=("a",), switch=((0,), (0,))),
            "switch: has 2 rows but there are 1 types; give one row per type",
        ),
        (
            lambda: PenaltyMatrix(types=("a",), switch=((0, 0),)),
            "switch[0]: has 2 entries but there are 1 types; give one entry per type",
        ),
        (
            lambda: PenaltyMatrix(types=("a",), switch=((0.0,),)),
            "switch[0][0]: must be an integer, not 0.0",
        ),
        (
            lambda: PenaltyMatrix(types=("a",), switch=((0,),), start=()),
            "start: has 0 entries but there are 1 types; give one entry per type",
        ),
        (
            lambda: PenaltyMatrix(types=("a",), switch=((0,),), finish=(-1,)),
            "finish[0]: must be at least 0, not -1",
        ),
        # what each penalty needs
        (lambda: instance(task(df=None)), "tasks[0].df: is missing; name the task's fragment"),
        (lambda: instance(task(), task("s", lines=None)), "tasks[1].lines: is missing; say how ma"),
        (lambda: instance(task(df=None), penalty=G), "tasks[0].df: is missing; name the task's f"),
        (lambda: instance(task(), penalty=TABLE), "tasks[0].type: is missing; name one of penalt"),
        (
            lambda: instance(task(type="c"), penalty=TABLE),
            "tasks[0].type: 'c' is not one of penalty.types",
        ),
        (
            lambda: instance(initial=(None, CacheState())),
            "initial[1].df: is missing; name the fragment in the cache",
        ),
        (
            lambda: instance(initial=(None, "warm")),
            "initial[1]: must be 'unknown' or an object {…}, not 'warm'",
        ),
        (
            lambda: instance(initial=(CacheState(df="A"), None), penalty=TABLE),
            "initial[0].type: is missing; name one of penalty.types",
        ),
        (
            lambda: instance(initial=(CacheState(type="c"), None), penalty=TABLE),
            "initial[0].type: 'c' is not one of penalty.types",
        ),
        (
            lambda: instance(initial=(None,)),
            "initial: has 1 entries but there are 2 CPUs; give one per CPU "
            "(null for an empty cache)",
        ),
        # time without makespan
        (
            lambda: instance(task(release=1)),
            "tasks[0].release: only the objective 'makespan' knows it, and this one is 'max-penal",
        ),
        (
            lambda: instance(task("s"), task(after=("s",)), objective=Objective.TOTAL_PENALTY),
            "tasks[1].after: only the objective 'makespan' knows it, and this one is 'total-penal",
        ),
        # names
        (lambda: instance(task(), task()), "tasks[1].id: the id 't' is also that of tasks[0]"),
        (
            lambda: instance(task("t#2"), task(count=2)),
            "tasks[0].id: the id 't#2' is also a copy's of tasks[1]",
        ),
        (
            lambda: instance(task("t#1"), task(count=1)),
            "tasks[0].id: the id 't#1' is also a copy's of tasks[1]",
        ),
        # precedence
        (
            lambda: instance(task(after=("s",)), objective=Objective.MAKESPAN),
            "tasks[0].after[0]: no task has the id 's'",
        ),
        (
            lambda: instance(
                task(count=2), task("s", after=("t#1",)), objective=Objective.MAKESPAN
            ),
            "tasks[1].after[0]: no task has the id 't#1'",
        ),
        (
            lambda: instance(task(after=("t",)), objective=Objective.MAKESPAN),
            "tasks: the tasks wait for each other in a cycle: 't' → 't'",
        ),
        (
            lambda: instance(
                *(task(str(k), after=(str((k + 1) % 99),)) for k in range(99)),
                objective=Objective.MAKESPAN,
            ),
            "tasks: the tasks wait for each other in a cycle: '0' → '1' → … → '98' → '0'",
        ),
        # sums
        (
            lambda: instance(task(count=LARGEST_TASK_COUNT), task("s")),
            "tasks: stand for 10000001 tasks; at most 10000000 are supported",
        ),
        (
            lambda: instance(task(lines=2**61), task("s", lines=2**61)),
            f"tasks: the costs can add up to {2**62 + 16}, more than 2^62; use a coarser time un",
        ),
    ],
)
def test_refused(make, message):
    with pytest.raises(InstanceError) as caught:
        make()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "name", ["t#0", "t#3", "t#01", "t#x", "t#", "t#²", "t#" + "1" * 5000, "#1"]
)
def test_ids_that_look_like_copies_but_are_none(name):
    assert instance(task(count=2), task(name)).task_count == 3


def test_sums_of_exec_count_under_makespan_alone():
    long = (task("s", exec=2**62), task("t", exec=2**62))
    assert instance(*long).task_count == 2
    with pytest.raises(InstanceError, match=r"the costs can add up to \d+, more than 2\^62"):
        instance(*long, objective=Objective.MAKESPAN)


def test_the_largest_total_is_allowed():
    free = PenaltyF(read_line=1, write_back=0)
    assert instance(task(lines=LARGEST_TOTAL), penalty=free).task_count == 1
    with pytest.raises(InstanceError, match="more than 2\\^62"):
        instance(task(lines=LARGEST_TOTAL), task("s"), penalty=free)


def test_totals_of_a_table():
    half = LARGEST_TOTAL // 2
    wide = PenaltyMatrix(types=("a", "b"), switch=((half, 0), (0, 1)))
    assert instance(task(type="a"), task("s", type="a"), penalty=wide).task_count == 2
    with pytest.raises(InstanceError, match="more than 2\\^62"):
        instance(*(task(name, type="a") for name in "stu"), penalty=wide)


@pytest.mark.parametrize(
    ("costs", "flag"), [("start", "cold_start"), ("finish", "final_write_back")]
)
def test_costs_that_do_not_count_are_warned_of(costs, flag):
    table = replace(TABLE, **{costs: (1, 2)})
    with pytest.warns(DfoptWarning, match=f"penalty.{costs} is given but .* '{flag}'"):
        instance(penalty=table)
    assert instance(penalty=table, **{flag: True}).penalty == table


def test_sizes_are_measured_in_their_common_unit():
    sized = instance(task("a", size=4, count=3), task("b", size=6), capacity=13)
    assert (sized.size_unit, sized.has_sizes, sized.sizes) == (2, True, (2, 3))
    assert (sized.total_size, sized.room, sized.tasks_per_cpu) == (9, 6, 3)
    assert sized.missing_capacity == 0
    assert replace(sized, capacity=7).missing_capacity == 6
    assert replace(sized, capacity=5).missing_capacity == 6 + 4
    assert replace(sized, cpus=1, capacity=16).missing_capacity == 2


def test_equal_sizes_are_counted():
    equal = instance(task("a", size=4, count=3), task("b", size=4), capacity=11)
    assert (equal.has_sizes, equal.room, equal.tasks_per_cpu) == (False, 2, 2)
    assert equal.missing_capacity == 0
    assert replace(equal, capacity=7).missing_capacity == 2
    assert replace(equal, capacity=3).missing_capacity == 4


def test_a_balanced_capacity_holds_the_largest_task():
    assert instance(task("a", size=4, count=3), task("b", size=6)).room == 5
    assert instance(task("a", size=2), task("b", size=10), cpus=4).room == 5
    assert instance(task("a", size=3), task("b", size=3), task("c", size=3)).room == 2


def test_sizes_are_refused_where_they_are_none():
    for size in (0, -1, 1.5, True):
        with pytest.raises(InstanceError, match="size"):
            task(size=size)
    with pytest.raises(InstanceError, match="2\\^62"):
        instance(task(size=2**62, count=2))
