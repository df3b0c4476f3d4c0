import csv
import random
from itertools import combinations

import pytest

from dfopt.errors import FileError
from dfopt.trace.labels import infer_fragments, keep_only, label, labelled, write_labels
from dfopt.trace.labels.listing import save_labels
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
    assert {given.confidence for given in found.values()} == {1.0}


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


def test_confidence_is_the_share_of_wakeups_inside():
    found = inferred(among(ONE, OTHER, times=5) + [(1, 101, 105)] * 3)
    assert found[101].fragment == "g0"
    assert found[101].confidence == pytest.approx(15 / 18)
    assert found[102].confidence == 1.0


def test_fork_order_fills_what_no_wakeup_tells():
    order = (101, 109, 102, 103, 104, 105, 106, 107, 108, 110)
    found = inferred(among(ONE, OTHER), forked(*order))
    # Within a group the neighbours agree; at the end there is one neighbour.
    assert (found[109].fragment, found[109].confidence) == ("g0", 0.0)
    assert (found[110].fragment, found[110].confidence) == ("g1", 0.0)


def test_between_two_groups_a_task_stays_unassigned():
    found = inferred(among(ONE, OTHER), forked(*ONE, 109, 110, *OTHER))
    assert fragments(found, (109, 110)) == [None, None]


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
