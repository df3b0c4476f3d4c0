import numpy as np
import pytest

from dfopt.trace.labels.communities import UNASSIGNED
from dfopt.trace.labels.inference import (
    contradicted,
    equal_blocks,
    fill_in_order,
    trust_in_neighbours,
)


def order_of(text):
    """Return the communities that letters stand for; a dot is an unassigned task."""
    return np.array([UNASSIGNED if one == "." else ord(one) - ord("a") for one in text], np.int32)


def filled(text, confidence=1.0):
    """Return what becomes of an order, and the confidences."""
    community = order_of(text)
    sure = np.where(community == UNASSIGNED, 0.0, confidence)
    fill_in_order(community, sure, np.arange(len(text), dtype=np.int32))
    found = "".join("." if one == UNASSIGNED else chr(one + ord("a")) for one in community)
    return found, sure


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Inside a fragment, several together.
        ("aaaaaaaaaa..aaaaaaaabbbbbbbbbbbbbbbb", "a" * 20 + "b" * 16),
        # Between two of four fragments, and at both ends: all are blocks of one length.
        (".aaaaaaaa.bbbbbbbbbb.cccccccccdddddddd..", "a" * 10 + "b" * 10 + "c" * 10 + "d" * 10),
        # One of the boundaries contradicts blocks of one length.
        ("aaaaaaaaabbbbbbbbbbb.ccccccccddddddddddd", None),
        # Two blocks; the boundary may be at many places, and so it proves nothing.
        ("aaaaaaaa....bbbbbbbb", None),
        # Fragments take turns, so that neighbours mean nothing.
        ("abcabcab.abcabcabcabcabcabcabcabc", None),
        ("aaaa.abababababababab.bababababab", None),
        # Too little is known.
        ("a.a", None),
        ("...", None),
        ("", None),
    ],
)
def test_who_joins(before, after):
    found, sure = filled(before)
    assert found == (after or before)
    assert ((sure > 0) == (order_of(found) != UNASSIGNED)).all()


def test_a_whole_fragment_without_a_wakeup_is_not_given_to_its_neighbour():
    before = "a" * 10 + "b" * 10 + "." * 10
    assert filled(before)[0] == before
    assert filled(before[::-1])[0] == before[::-1]


def test_nobody_is_surer_than_whom_he_joins():
    before = "aaaaaaaaaa.aaaaaaaaabbbbbbbbbbbbbb"
    _, sure = filled(before)
    _, less_sure = filled(before, confidence=0.6)
    assert less_sure[10] == pytest.approx(0.6 * sure[10])
    assert 0.9 <= sure[10] < 1


def test_the_weak_amid_others_are_contradicted():
    siblings = np.arange(40, dtype=np.int32)
    order = order_of("a" * 9 + "bb" + "a" * 9 + "b" * 20)
    weak = np.isin(siblings, (3, 9, 10, 30))
    assert contradicted(order, weak, siblings).tolist() == [9, 10]
    assert contradicted(order, ~weak & (siblings > 10), siblings).tolist() == []
    # If fragments take turns, the order contradicts no label.
    in_turns = order_of("ab" * 20)
    assert contradicted(in_turns, siblings == 10, siblings).tolist() == []


def test_trust_in_neighbours_is_how_often_they_are_right():
    order = order_of("aaaabaaaa.aaaa")
    # At the same distances stand places 1 to 12 without 9 and those beside it; of the places
    # whose neighbours agree all are right but the one of b.
    around = [at for at in range(1, 13) if at not in (8, 9, 10) and order[at - 1] == order[at + 1]]
    right = sum(order[at] == order[at - 1] for at in around)
    assert trust_in_neighbours(order, 9, 8, 10) == pytest.approx((right + 1) / (len(around) + 2))
    assert trust_in_neighbours(order_of("a.b"), 1, 0, 2) == 0


def test_trust_in_equal_blocks_is_what_accident_leaves():
    # Three boundaries: one known exactly, one at one of two places, one at one of three.
    blocks, trust = equal_blocks(order_of("aaaaabbbb.cccc..dddd"))
    assert blocks == 4
    assert trust == pytest.approx(1 - 1 / 5 * 2 / 5 * 3 / 5)
    assert equal_blocks(order_of("aaaabbbbaaaacccc")) == (0, 0.0)
    assert equal_blocks(order_of("aaaaaaaa")) == (0, 0.0)
