"""Hypothesis strategies for results, schedules and certificates of no instance in particular."""

from hypothesis import strategies as st

from dfopt.problem.certificate import (
    ArcCount,
    Certificate,
    CompleteSearch,
    Counting,
    CrossingCount,
    EntryCount,
    EvenShares,
    Exhaustive,
    Fork,
    GroupResource,
    Leaf,
    MeetingCount,
    Over,
    Proof,
    TaskClass,
    UseCount,
    VisitCount,
)
from dfopt.problem.result import InstanceName, Result, SearchStep, Status, StopReason
from dfopt.problem.schedule import CpuSchedule, Schedule
from tests.strategies import any_integer, any_time, leaves, texts


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Draw a result that a file can hold; nothing in it need be true."""
    seconds = st.floats(0, 1e6)
    optional_time = st.none() | any_time
    step = st.builds(SearchStep, time_s=seconds, lower_bound=any_time, objective=optional_time)
    package = texts.filter(lambda name: not name.startswith("x-") and name != "$schema")
    return Result(
        instance=InstanceName(
            name=draw(st.none() | texts), sha256=draw(st.binary(min_size=32, max_size=32)).hex()
        ),
        status=draw(st.sampled_from(Status)),
        stop_reason=draw(st.sampled_from(StopReason)),
        objective=draw(optional_time),
        lower_bound=draw(optional_time),
        gap=draw(st.none() | st.floats(-1e6, 1e6)),
        schedule=draw(st.none() | schedules()),
        certificate=draw(st.none() | certificates()),
        method=draw(st.none() | texts),
        seed=draw(st.none() | any_integer),
        wall_time_s=draw(st.none() | seconds),
        history=tuple(draw(st.lists(step, max_size=3))),
        versions=draw(st.dictionaries(package, texts, max_size=3)),
    )


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Draw a schedule of no instance in particular."""
    cpus = []
    for _ in range(draw(st.integers(0, 3))):
        tasks = draw(st.lists(texts, max_size=3).map(tuple))
        starts = st.tuples(*(any_time for _ in tasks))
        cost = draw(any_time)
        cpus.append(CpuSchedule(tasks=tasks, cost=cost, starts=draw(st.none() | starts)))
    return Schedule(cpus=tuple(cpus))


def certificates() -> st.SearchStrategy[Certificate]:
    """Draw a certificate of any kind that proves nothing."""
    threshold = st.none() | any_integer
    checked = (
        proofs()
        | st.builds(Counting, threshold=threshold, argument=texts)
        | st.builds(Exhaustive, threshold=threshold)
    )
    return (
        checked
        | st.builds(EvenShares, threshold=threshold, total_penalty=any_time, proof=checked)
        | st.builds(CompleteSearch, threshold=threshold, solver=st.none() | texts)
    )


def proofs() -> st.SearchStrategy[Proof]:
    """Draw a proof of the right form that is about nothing in particular."""
    optional, numbers = st.none() | any_time, st.lists(any_time, max_size=3).map(tuple)
    task_class = st.builds(
        TaskClass,
        df=st.none() | texts,
        type=st.none() | texts,
        leaves=st.none() | leaves,
        lines=optional,
        exec=optional,
        size=optional,
        node=st.none() | texts,
        fragment_size=optional,
        least_cost=any_integer,
    )
    counts = (
        st.builds(VisitCount, classes=numbers, tasks=any_time)
        | st.builds(MeetingCount, classes=st.tuples(any_time, any_time))
        | st.builds(EntryCount, classes=numbers)
        | st.builds(ArcCount, before=any_time, after=any_time)
        | st.builds(CrossingCount, within=numbers, last_of=numbers, first_of=numbers)
        | st.builds(UseCount, of=st.sampled_from(GroupResource))
    )
    pairs = st.lists(st.tuples(any_time, any_integer), max_size=3).map(tuple)
    nodes = st.builds(Fork, count=any_time, at_most=any_integer) | st.builds(
        Leaf,
        weights=pairs,
        leaving=pairs,
        prices=pairs,
        scale=any_time,
        bin_weights=st.lists(any_integer, max_size=3).map(tuple),
        beginnings=st.booleans(),
    )
    return st.builds(
        Proof,
        threshold=st.none() | any_integer,
        over=st.sampled_from(Over),
        classes=st.lists(task_class, max_size=3).map(tuple),
        counts=st.lists(counts, max_size=3).map(tuple),
        nodes=st.lists(nodes, max_size=4).map(tuple),
    )


@st.composite
def order_proofs(
    draw: st.DrawFn,
    names: list[str],
    weights: st.SearchStrategy[int],
    prices: st.SearchStrategy[int],
) -> Proof:
    """Draw a proof over orders of some nodes, true or not."""
    numbers = st.lists(st.integers(0, 5), max_size=3).map(tuple)
    cuts = draw(
        st.lists(
            st.builds(CrossingCount, within=numbers, last_of=numbers, first_of=numbers), max_size=2
        )
    )
    arcs = draw(
        st.lists(st.builds(ArcCount, before=st.integers(0, 5), after=st.integers(0, 5)), max_size=2)
    )
    every = st.tuples(*(weights for _ in range(len(names) + 1))).map(
        lambda row: tuple(enumerate(row))
    )
    each = st.tuples(*(prices for _ in cuts)).map(lambda row: tuple(enumerate(row)))
    forks = st.builds(Fork, count=st.integers(0, 3), at_most=st.integers(0, 2))
    nodes = forks | st.builds(Leaf, leaving=every, weights=every, prices=each)
    return Proof(
        over=Over.ORDERS,
        classes=(TaskClass(), *(TaskClass(node=name) for name in names)),
        counts=(*cuts, *arcs),
        nodes=tuple(draw(st.lists(nodes, max_size=3))),
    )
