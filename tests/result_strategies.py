"""Hypothesis strategies for results, schedules and certificates of no instance in particular."""

from hypothesis import strategies as st

from dfopt.problem.certificate import (
    ArcFork,
    ArcWeights,
    Branching,
    Certificate,
    CompleteSearch,
    Counting,
    DualWeights,
    EntryCount,
    EvenShares,
    Exhaustive,
    Fork,
    FullGroups,
    HoldingCount,
    MeetingCount,
    OrderCut,
    Refutation,
    SetWeight,
    Supports,
    SupportSplit,
    SupportWeights,
    TaskClass,
    Tour,
    TypeWeight,
    VisitCount,
    VisitPrice,
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


@st.composite
def certificates(draw: st.DrawFn) -> Certificate:  # noqa: PLR0911 - one for each kind
    """Draw a certificate of any kind that proves nothing."""
    bound = draw(any_integer)
    kind = draw(
        st.sampled_from(
            (
                DualWeights,
                Branching,
                Supports,
                Tour,
                FullGroups,
                Counting,
                Exhaustive,
                EvenShares,
                CompleteSearch,
            )
        )
    )
    threshold = draw(st.none() | st.just(bound))
    if kind is EvenShares:
        proof = draw(st.builds(Counting, threshold=st.none() | any_integer, argument=texts))
        return EvenShares(threshold=threshold, total_penalty=draw(any_time), proof=proof)
    if kind is Exhaustive:
        return Exhaustive(threshold=threshold)
    if kind is Counting:
        return Counting(threshold=threshold, argument=draw(texts))
    if kind is CompleteSearch:
        return CompleteSearch(threshold=threshold, solver=draw(st.none() | texts))
    if kind is Supports:
        weights = st.lists(st.builds(TypeWeight, type=texts, weight=any_integer), max_size=2)
        set_weight = st.builds(
            SetWeight, types=st.lists(texts, max_size=2).map(tuple), weight=any_integer
        )
        proof = st.builds(
            SupportWeights,
            bin_weights=st.lists(any_integer, max_size=2).map(tuple),
            sets=st.lists(set_weight, max_size=2).map(tuple),
            tasks=weights.map(tuple),
            unit=any_time,
            counted=weights.map(tuple),
        )
        split = st.builds(
            SupportSplit,
            types=st.lists(texts, max_size=2).map(tuple),
            most=any_time,
            below=proof,
            above=proof,
        )
        return Supports(threshold=threshold, proof=draw(proof | split))
    pairs = st.lists(st.tuples(any_time, any_integer), max_size=3).map(tuple)
    if kind is Tour:
        return draw(tour_certificates(threshold=threshold))
    if kind is FullGroups:
        room, longer, plain = (draw(any_time) for _ in range(3))
        sizes = draw(pairs)
        return FullGroups(threshold=threshold, sizes=sizes, room=room, longer=longer, plain=plain)
    task_class = st.builds(
        TaskClass,
        df=texts,
        leaves=st.none() | leaves,
        lines=st.none() | any_time,
        exec=st.none() | any_time,
    )
    if kind is Branching:
        classes = tuple(draw(st.lists(task_class, min_size=1, max_size=3, unique=True)))
        named = st.lists(st.integers(0, len(classes) - 1), max_size=3).map(tuple)
        counts = (
            st.builds(VisitCount, df=texts)
            | st.builds(MeetingCount, df=texts, other=texts)
            | st.builds(EntryCount, classes=named)
            | st.builds(HoldingCount, classes=named, tasks=any_time)
        )
        nodes = st.builds(Fork, count=any_time, at_most=any_integer) | st.builds(
            Refutation, weights=pairs, prices=pairs, scale=any_time
        )
        return Branching(
            threshold=threshold,
            classes=classes,
            counts=tuple(draw(st.lists(counts, max_size=3))),
            nodes=tuple(draw(st.lists(nodes, max_size=4))),
        )
    total = draw(st.booleans())
    return DualWeights(
        threshold=None if total else bound,
        lower_bound=bound if total else None,
        bin_weights=tuple(draw(st.lists(any_time, max_size=3))),
        weights=tuple(
            draw(st.lists(st.builds(TaskClass.weighing, task_class, any_integer), max_size=3))
        ),
        entry_charges=tuple(
            draw(st.lists(st.builds(TaskClass.charged, task_class, any_time), max_size=3))
        ),
        visit_prices=tuple(
            draw(st.lists(st.builds(VisitPrice, df=texts, price=any_integer), max_size=3))
        ),
        scale=draw(any_time),
    )


@st.composite
def tour_certificates(draw: st.DrawFn, *, threshold: int | None) -> Tour:
    """Draw a certificate of the right form, true or not."""
    numbers = st.lists(st.integers(0, 5), max_size=3).map(tuple)
    cuts = st.builds(OrderCut, within=numbers, last_of=numbers, first_of=numbers)
    forks = st.builds(
        ArcFork, before=st.integers(0, 5), after=st.integers(0, 5), at_most=st.integers(0, 2)
    )
    weights = st.lists(any_integer, max_size=5).map(tuple)
    cut_weights = st.lists(st.tuples(st.integers(0, 3), any_integer), max_size=2).map(tuple)
    leaves_of_tree = st.builds(
        ArcWeights,
        leaving=weights,
        entering=weights,
        cuts=cut_weights,
        scale=any_time,
        beginnings=st.booleans(),
    )
    return Tour(
        threshold=threshold,
        nodes=tuple(draw(st.lists(texts, max_size=3))),
        cuts=tuple(draw(st.lists(cuts, max_size=2))),
        tree=tuple(draw(st.lists(forks | leaves_of_tree, max_size=3))),
    )
