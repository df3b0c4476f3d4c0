"""Batching: the numbers that the paper and its parameters give, and the count of lines."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt_models.batching import (
    BATCHING,
    BatchChoice,
    BatchingModel,
    batching_result,
    flat_next_line,
    pareto,
    share_read,
    simulated_misses,
)

LENGTHS = (1, 2, 4, 16, 128)
GRANULARITIES = (1, 8, 64, 128)


@pytest.fixture(scope="module")
def model():
    return BATCHING.read("debattista")


@pytest.fixture(scope="module")
def slow_lines(model):
    """Where every line takes as long, wherever it lies."""
    return replace(model, next_line=model.miss)


def rounded(values, digits=2):
    return [round(value, digits) for value in values]


def test_gains_by_process_length(model, slow_lines):
    gains = [1.00, 1.19, 1.46, 1.71, 1.84]
    assert rounded(model.gain(1, length) for length in LENGTHS) == gains
    gains = [1.00, 1.20, 1.49, 1.74, 1.88]
    assert rounded(slow_lines.gain(1, length) for length in LENGTHS) == gains


def test_gains_by_granularity(model, slow_lines):
    """They fall with granularity, as published, or rise if successive lines are slow."""
    gains = [1.839, 1.726, 1.348, 1.218]
    assert rounded((model.gain(g, 128) for g in GRANULARITIES), 3) == gains
    gains = [1.877, 1.971, 2.189, 2.242]
    assert rounded((slow_lines.gain(g, 128) for g in GRANULARITIES), 3) == gains


def test_gains_begin_at_two_passes(model, slow_lines):
    for each in (model, slow_lines):
        for granularity in GRANULARITIES:
            assert each.gain(granularity, 1) == 1
            assert each.gain(granularity, 2) > 1


def test_the_limit_of_long_processes(model):
    assert model.limit(1) == pytest.approx(324 / 174)
    assert model.gain(1, 4 * 10**9) == pytest.approx(model.limit(1))


def test_batches_that_do_not_fit_only_cost(model):
    large = replace(model, max_batch_size=8192, batch_switch=5000.0)
    assert large.limit(1) < 1
    assert large.gain(1, 10**9) == pytest.approx(large.limit(1))


def test_where_granularity_changes_nothing(model):
    assert flat_next_line(model) == pytest.approx(160 / 3)
    flat = replace(model, next_line=flat_next_line(model))
    limits = [flat.limit(granularity) for granularity in GRANULARITIES]
    assert limits == pytest.approx([limits[0]] * len(limits))


def test_a_hundred_percent_needs_slower_memory(model):
    """Gain 2 at four passes is m = 2b: 124 ns for a line."""
    assert replace(model, miss=124).limit(1) == pytest.approx(2)
    assert model.limit(1) < 2


def test_the_largest_batch_that_fits(model):
    assert [model.largest_batch(g) for g in GRANULARITIES] == [7710, 5461, 1638, 910]
    lines = [model.max_batch_size * model.footprint(g) for g in GRANULARITIES]
    assert lines == [68, 96, 320, 576]


def test_lines_counted_one_by_one(model):
    """The model is exact at twelve points, and without reuse."""
    rows = batching_result(model, check=True).counted
    assert {(row.granularity, row.length) for row in rows} >= {
        (g, length) for g in GRANULARITIES for length in (2, 4, 16)
    }
    for row in rows:
        assert row.counted == row.model
        assert row.counted_without == row.model_without


def small(**values):
    return BatchingModel(
        name="small",
        **{
            "cache_lines": 40,
            "integers_of_a_line": 8,
            "array_size": 8 * 60,
            "max_batch_size": 4,
            "max_batch_count": 8,
            "own_lines": 1,
            "switch": 100,
            "increment": 1,
            "miss": 50,
            "next_line": 10,
            "creation": 100,
        }
        | values,
    )


@settings(max_examples=80)
@given(
    st.integers(1, 12),
    st.integers(1, 40),
    st.integers(1, 9),
    st.sampled_from([8, 16]),
    st.sampled_from([0, 2, 4, 20]),
)
@example(7, 8, 7, 8, 4)  # the last turns are of one dispatch
def test_any_batches_as_counted(batch, dispatches, length, granularity, too_large):
    """Also where batches do not fit, where all fits, and where turns have no whole passes.

    Without batches, and where all turns are whole, the model is exact. Short last turns leave some
    lines in the cache, so that it is an upper bound. All batches are full.
    """
    threads = 10 * batch
    each = 1 + granularity // 8
    lines = threads * each
    model = small(
        array_size=threads * granularity,
        max_batch_size=batch,
        max_batch_count=dispatches,
        cache_lines=max(1, (lines - 1) // too_large) if too_large else lines,
    )
    counted = simulated_misses(model, granularity, length, batches=True)
    expected = each * model.read_with_batches(granularity, length)
    assert counted <= expected + 1e-9
    if (batch * length) % dispatches == 0 or batch * length <= dispatches:
        assert counted == pytest.approx(expected)
    without = simulated_misses(model, granularity, length, batches=False)
    assert without == pytest.approx(each * model.read_without_batches(granularity, length))


def test_the_share_that_is_read():
    assert share_read(32, 128, 128) == 1 / 4
    assert share_read(32, 128, 2) == 1 / 2
    assert share_read(32, 128, 5) == 2 / 5  # a turn of four passes, and one of a single pass
    assert share_read(32, 16, 8) == 1


def test_misses_against_waiting(model):
    """On the curve less is missed only for a longer wait; only the passes in a turn count."""
    found = batching_result(model, granularity=1).pareto
    curve, own = found.choices, found.own
    assert [each.misses for each in curve] == [2.125 / 2**power for power in range(7)]
    waits = [each.waiting for each in curve]
    assert waits == sorted(waits)
    assert own.misses == 2.125 / 4
    beaten = [each for each in curve if each.misses == own.misses]
    assert own.waiting == pytest.approx(beaten[0].waiting, rel=0.02)
    # 8,192 batches, of which each waits for all others: 128 dispatches of 174 ns.
    assert own.waiting == pytest.approx(8191 * 128 * 174)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_the_front_beats_everything_else(points):
    choices = [
        BatchChoice(batch=1, dispatches=1, misses=float(a), waiting=float(b), cost=0.0)
        for a, b in points
    ]
    front = pareto(choices)
    for each in choices:
        beats = [
            other
            for other in front
            if other.misses <= each.misses and other.waiting <= each.waiting
        ]
        assert beats
    for one in front:
        for other in front:
            assert one is other or one.misses < other.misses or one.waiting < other.waiting
