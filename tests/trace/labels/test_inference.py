import csv
import functools
import math
import operator
import random
from itertools import combinations

import networkx.algorithms.community.louvain
import networkx.algorithms.community.quality
import networkx.classes.graph
import pytest

from dfopt.errors import FileError
from dfopt.trace.labels import Inferred, infer_fragments, keep_only, label, labelled, write_labels
from dfopt.trace.labels.files import save_labels
from tests.trace.labels.made import labels, made
from tests.trace.labels.scores import adjusted_rand_index, each_apart

PARENT = 100
ONE = (101, 102, 103, 104)
OTHER = (105, 106, 107, 108)


def among(*groups, times=5):
    """Return wake-ups between all tasks of each group."""
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    return [(1, *pair) for pair in pairs for _ in range(times)]


def forked(*tids):
    return [(0, PARENT, tid) for tid in tids]


def inferred(wakeups, forks=(), comms=None):
    tids = sorted({tid for _, *pair in [*wakeups, *forks] for tid in pair if tid})
    runs = [((comms or {}).get(tid, "x"), tid, at) for at, tid in enumerate(tids, start=1)]
    trace = made(runs, wakeups=wakeups, forks=forks)
    found = infer_fragments(trace)
    return {task.tid: given for task, given in zip(trace.tasks, found, strict=True)}


def fragments(found, tids):
    return [found[tid].fragment for tid in tids]


def test_tasks_that_wake_each_other_share_a_fragment():
    found = inferred(among(ONE, OTHER))
    assert fragments(found, ONE) == ["g0"] * 4
    assert fragments(found, OTHER) == ["g1"] * 4
    assert min(given.confidence for given in found.values()) > 0.999


def test_a_single_group_is_one_fragment():
    found = inferred(among((*ONE, *OTHER), times=20))
    assert fragments(found, (*ONE, *OTHER)) == ["g0"] * 8


def test_groups_of_many_sizes():
    groups = [range(101, 103), range(103, 106), range(106, 112), range(112, 130)]
    found = inferred(among(*groups, times=20))
    for number, group in enumerate(groups):
        assert fragments(found, group) == [f"g{number}"] * len(group)


def test_the_parent_of_all_joins_nothing():
    everyone = (*ONE, *OTHER)
    wakeups = among(ONE, OTHER) + among(*((PARENT, tid) for tid in everyone), times=50)
    found = inferred(wakeups, forked(*everyone))
    assert found[PARENT].fragment is None
    assert fragments(found, everyone) == ["g0"] * 4 + ["g1"] * 4


def test_without_forks_the_one_that_wakes_all_joins_nothing():
    groups = [range(first, first + 10) for first in (101, 111, 121)]
    wakeups = among(*groups) + among(*((PARENT, tid) for tid in range(101, 131)), times=50)
    found = inferred(wakeups)
    assert found[PARENT].fragment is None
    for number, group in enumerate(groups):
        assert fragments(found, group) == [f"g{number}"] * 10


def test_threads_of_the_kernel_and_interrupts_join_nothing():
    kernel = among(*((90, tid) for tid in (*ONE, *OTHER)), times=50)
    interrupts = [(1, 0, tid) for tid in (*ONE, *OTHER)] * 50
    found = inferred(among(ONE, OTHER) + kernel + interrupts, comms={90: "ksoftirqd/0"})
    assert found[90].fragment is None
    assert fragments(found, (*ONE, *OTHER)) == ["g0"] * 4 + ["g1"] * 4


def test_two_parents_at_once():
    other_parent = 200
    more = (201, 202, 203, 204, 205, 206)
    forks = forked(*ONE, *OTHER) + [(0, other_parent, tid) for tid in more]
    parents = among(*((PARENT, tid) for tid in (*ONE, *OTHER)), times=50)
    parents += among(*((other_parent, tid) for tid in more), times=50)
    found = inferred(among(ONE, OTHER, more[:3], more[3:]) + parents, forks)
    assert fragments(found, (*ONE, *OTHER)) == ["g0"] * 4 + ["g1"] * 4
    assert fragments(found, more) == ["g2"] * 3 + ["g3"] * 3
    assert fragments(found, (PARENT, other_parent)) == [None, None]


def test_a_shell_that_makes_many_idle_tasks_is_no_reason_to_keep_the_parent():
    shell, idle = 300, range(301, 341)
    forks = forked(*ONE, *OTHER) + [(0, shell, tid) for tid in idle]
    ends = [(1, tid, shell) for tid in idle]
    parent = among(*((PARENT, tid) for tid in (*ONE, *OTHER)), times=50)
    found = inferred(among(ONE, OTHER) + ends + parent, forks)
    assert fragments(found, (PARENT, *ONE, *OTHER)) == [None] + ["g0"] * 4 + ["g1"] * 4


def test_a_stranger_joins_only_those_who_wake_it_back():
    forks = forked(*ONE, *OTHER)
    stranger = 90
    one_way = [(1, tid, stranger) for tid in ONE] * 20
    assert inferred(among(ONE, OTHER) + one_way, forks)[stranger].fragment is None
    both_ways = one_way + [(1, stranger, tid) for tid in ONE] * 20
    found = inferred(among(ONE, OTHER) + both_ways, forks)
    assert fragments(found, (stranger, *ONE)) == ["g0"] * 5


def test_confidence_tells_the_torn_from_the_clear():
    torn = 109
    wakeups = among(ONE, OTHER, times=5)
    clear = inferred([*wakeups, *[(1, torn, 101)] * 5])
    assert (clear[torn].fragment, clear[101].fragment) == ("g0", "g0")
    divided = inferred([*wakeups, *[(1, torn, 101)] * 5, *[(1, torn, 105)] * 3])
    assert divided[torn].fragment == "g0"
    assert 0.5 < divided[torn].confidence < 0.9 < clear[torn].confidence
    assert divided[102].confidence > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_who_is_torn_evenly_joins_nobody(seed):
    """Neither the order of wake-ups nor the last bit of a sum says where a task belongs."""
    torn = 109
    wakeups = among(ONE, OTHER) + [(1, torn, 101), (1, torn, 105)] * 5
    random.Random(seed).shuffle(wakeups)
    assert inferred(wakeups)[torn].fragment is None


def test_what_may_as_well_be_two_fragments_is_none_for_all_its_tasks():
    """Different confidences that tasks belong to the whole must not separate them."""
    bridges = [(1, 101, 105), (1, 101, 106)]
    others = (201, 202, 203, 204)
    found = inferred(among(ONE, OTHER, times=4) + bridges + among(others, times=20))
    assert fragments(found, (*ONE, *OTHER)) == [None] * 8
    assert len(set(fragments(found, others))) == 1


def test_how_sums_are_rounded_does_not_matter(monkeypatch):
    """From Python 3.12 on ``sum`` rounds once in the end, and before after each number."""
    draw = random.Random(146)  # a draw of which two cuts are equal but for that
    groups = [range(101 + first, 125, 3) for first in range(3)]
    wakeups = [(1, *draw.sample(draw.choice(groups), 2)) for _ in range(30)]
    wakeups += [(1, *draw.sample(range(101, 125), 2)) for _ in range(12)]
    found = []
    for rounded in (lambda these: functools.reduce(operator.add, these, 0), math.fsum):
        for module in (
            networkx.classes.graph,
            networkx.algorithms.community.louvain,
            networkx.algorithms.community.quality,
        ):
            monkeypatch.setattr(module, "sum", rounded, raising=False)
        found.append(inferred(wakeups))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(20))
def test_nobody_is_assigned_with_confidence_where_there_are_no_groups(seed):
    draw = random.Random(seed)
    tids = range(101, 141)
    found = inferred([(1, *draw.sample(tids, 2)) for _ in range(60)], forked(*tids))
    assert sum(given.confidence > 0.9 for given in found.values()) <= 2


@pytest.mark.parametrize("seed", range(5))
def test_numbers_mean_nothing(seed):
    """Other numbers for the same tasks, made in the same order, give the same fragments."""
    draw = random.Random(seed)
    groups = [range(first, first + 8) for first in (101, 109, 117)]
    everyone = [tid for group in groups for tid in group]
    others = dict(zip(everyone, draw.sample(range(1000, 2000), 24), strict=True))
    wakeups = [(1, *draw.sample(group, 2)) for group in groups for _ in range(60)]
    renamed = [(at, others[waker], others[woken]) for at, waker, woken in wakeups]
    found = inferred(wakeups, forked(*everyone))
    again = inferred(renamed, forked(*others.values()))
    truth = [number for number, group in enumerate(groups) for _ in group]
    for labels_found in (fragments(found, everyone), fragments(again, others.values())):
        assert adjusted_rand_index(each_apart(labels_found), truth) == 1.0


def test_parts_of_a_group_that_lie_between_each_other_in_the_order_stay_together():
    """Two CPUs may tear a group, each with some of its senders and some of its receivers."""
    whole, torn = range(101, 121), range(121, 141)
    parts = ([*torn[:6], *torn[10:16]], [*torn[6:10], *torn[16:]])
    wakeups = [
        (1, waker, woken)
        for part in (whole, *parts)
        for waker in part[len(part) // 2 :]
        for woken in part[: len(part) // 2]
    ]
    wakeups += [(1, torn[10], torn[6]), (1, torn[16], torn[0]), (1, torn[17], torn[1])]
    found = inferred(wakeups, forked(*whole, *torn))
    assert fragments(found, (*whole, *torn)) == ["g0"] * 20 + ["g1"] * 20


def test_fork_order_fills_what_no_wakeup_tells():
    one, other, third = ([*range(first, first + 20)] for first in (101, 121, 141))
    silent = {one[4], other[6], other[7], one[19], other[0], third[19]}
    spoken = [[tid for tid in group if tid not in silent] for group in (one, other, third)]
    found = inferred(among(*spoken), forked(*one, *other, *third))
    assert fragments(found, [*one, *other, *third]) == ["g0"] * 20 + ["g1"] * 20 + ["g2"] * 20
    assert 0.8 < min(found[tid].confidence for tid in silent) < found[one[0]].confidence


def test_two_wakeups_do_not_outweigh_the_order():
    """Both may be an interrupt's; ten are not."""
    one, other = [*range(101, 121)], [*range(121, 141)]
    wakeups = among([tid for tid in one if tid != 111], other)
    forks = forked(*one, *other)
    assert inferred([*wakeups, (1, 111, 121), (1, 111, 125)], forks)[111].fragment == "g0"
    assert inferred(wakeups + [(1, 111, tid) for tid in other[:10]], forks)[111].fragment == "g1"


def test_between_two_groups_a_task_stays_unassigned():
    found = inferred(among(ONE, OTHER), forked(*ONE, 109, 110, *OTHER))
    assert [found[tid] for tid in (109, 110)] == [Inferred(fragment=None, confidence=0.0)] * 2


def test_no_two_tasks_share_anything():
    trace = made([("x", 101, 1), ("x", 102, 2)], wakeups=[(1, 0, 101), (1, 0, 102)])
    assert [given.fragment for given in infer_fragments(trace)] == [None, None]
    with pytest.raises(FileError, match="no managed dispatch with the labels from wakeups"):
        label(trace, "wakeups")


def test_noise_between_groups():
    """Groups like those of a message benchmark: senders wake receivers, and now and then others."""
    draw = random.Random(7)
    groups = [range(first, first + 20) for first in (101, 121, 141, 161)]
    everyone = [tid for group in groups for tid in group]
    wakeups = [
        (1, draw.choice(group[:10]), draw.choice(group[10:]))
        for group in groups
        for _ in range(400)
    ]
    wakeups += [(1, *draw.sample(everyone, 2)) for _ in range(100)]
    draw.shuffle(wakeups)
    forks = forked(*everyone)
    found = inferred(wakeups, forks)
    truth = [number for number, group in enumerate(groups) for _ in group]
    assert adjusted_rand_index(each_apart(fragments(found, everyone)), truth) == 1.0
    # Deterministic: a second time is the same, and so is another order of the same wake-ups.
    draw.shuffle(wakeups)
    assert inferred(wakeups, forks) == found


def test_written_labels_are_a_source(tmp_path):
    runs = [("a,b\n", tid, at) for at, tid in enumerate((*ONE, *OTHER, 109), start=1)]
    trace = made(runs, wakeups=among(ONE, OTHER))
    path = tmp_path / "labels.csv"
    write_labels(path, trace, infer_fragments(trace))
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0] == {"tid": "101", "df": "g0", "confidence": "1.000", "comm": "a,b\n"}
    assert rows[-1] == {"tid": "109", "df": "", "confidence": "0.000", "comm": "a,b\n"}
    read = label(trace, str(path))
    assert labels(read) == labels(label(trace, "wakeups")) == ["g0"] * 4 + ["g1"] * 4 + [None]


def test_tasks_that_are_not_to_be_managed_get_no_label_in_the_table(tmp_path):
    runs = [("x", tid, at) for at, tid in enumerate((*ONE, *OTHER), start=1)]
    found = labelled(made(runs, wakeups=among(ONE, OTHER)), "wakeups")
    trace = keep_only(found.trace, "101,105")
    path = tmp_path / "labels.csv"
    save_labels(path, trace, found.inferred)
    assert labels(label(trace, str(path))) == labels(trace)


def test_without_wakeups():
    with pytest.raises(FileError, match="record sched:sched_waking too"):
        infer_fragments(made([("x", 101, 1)]))
