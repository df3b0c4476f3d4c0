from math import log

import numpy as np
import pytest

from dfopt.trace.labels.communities import Judge, WakeupGraph, find_communities


def graph_of(edges, *, tasks, siblings=(), managed=None):
    first, second, weight = zip(*edges, strict=True)
    is_managed = np.ones(tasks, bool)
    if managed is not None:
        is_managed[:] = np.isin(np.arange(tasks), managed)
    return WakeupGraph(
        first=np.array(first, np.int32),
        second=np.array(second, np.int32),
        weight=np.array(weight, float),
        siblings=tuple(np.array(order, np.int32) for order in siblings),
        is_managed=is_managed,
    )


PAIRS = [(0, 1, 6), (2, 3, 6), (1, 2, 1)]
IN_TWO = np.array([0, 0, 1, 1], np.int32)


def test_a_cut_gains_what_lies_inside_and_not_by_chance():
    gain, _ = Judge(graph_of(PAIRS, tasks=4)).judged(IN_TWO)
    assert gain == pytest.approx(12 * log(12 / 13 / 0.5) + log(1 / 13 / 0.5))
    # Less inside than by chance is no gain.
    assert Judge(graph_of(PAIRS, tasks=4)).judged(np.array([0, 1, 0, 1]))[0] == 0


def test_labels_are_as_long_as_the_shorter_of_two_descriptions():
    without_order = Judge(graph_of(PAIRS, tasks=4))
    assert without_order.judged(IN_TWO)[1] == pytest.approx(4 * log(2))
    one = np.zeros(4, np.int32)
    assert without_order.judged(one) == (0, 0)
    # One change in three steps, as if half a step more had been seen on either side.
    in_order = Judge(graph_of(PAIRS, tasks=4, siblings=[(0, 1, 2, 3)]))
    assert in_order.judged(IN_TWO)[1] == pytest.approx(-log(1.5 / 4) - 2 * log(2.5 / 4))
    out_of_order = Judge(graph_of(PAIRS, tasks=4, siblings=[(0, 2, 1, 3)]))
    assert out_of_order.judged(IN_TWO)[1] == pytest.approx(-3 * log(3.5 / 4))


def test_strangers_do_not_judge():
    """That two others work together says nothing about whether four tasks are one group or two."""
    all_together = [(0, 1, 9), (0, 2, 9), (0, 3, 9), (1, 2, 9), (1, 3, 9), (2, 3, 9)]
    graph = graph_of([*all_together, (4, 5, 900)], tasks=6, managed=(0, 1, 2, 3))
    alone = graph_of(all_together, tasks=4)
    cut = np.array([0, 0, 0, 0, 1, 1], np.int32)
    assert Judge(graph).judged(cut) == Judge(alone).judged(cut[:4]) == (0, 0)


def test_a_unit_of_weight_is_worth_less_where_many_lead_out():
    clear = Judge(graph_of([(0, 1, 60), (2, 3, 60)], tasks=4))
    torn = Judge(graph_of([(0, 1, 60), (2, 3, 60), (1, 2, 30)], tasks=4))
    assert clear.evidence(IN_TWO) > torn.evidence(IN_TWO) > 0
    assert torn.evidence(np.zeros(4, np.int32)) == 0


def test_what_is_found_is_the_best_of_what_is_proposed():
    found = find_communities(graph_of(PAIRS, tasks=5), seed=0)
    assert (found.best == found.rival).all()
    assert found.number == 2
    assert found.best[0] == found.best[1] != found.best[2] == found.best[3]
    assert found.best[4] == -1
