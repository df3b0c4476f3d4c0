"""Penalties between task types: laws, standard errors, and documents."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from dfopt.errors import DfoptError
from dfopt.files.formats import Format
from dfopt_models.counter_samples import CounterSamples, counted_dispatches
from dfopt_models.counters import COUNTERS, CountersModel, counters_instance, counters_model
from dfopt_models.model import parameter_text
from dfopt_models.plot import plot_counters, plot_warm_up

TEXT = parameter_text("ziemba", Format.COUNTERS_MODEL)


def drawn(seed: int, *, cycles: float = 1.0, time: int = 1) -> CounterSamples:
    generator = np.random.default_rng(seed)
    count = 1_000
    kinds = generator.integers(3, size=count)
    return CounterSamples(
        time=np.cumsum(generator.integers(50, 200, size=count)) * time,
        cpu=np.zeros(count, dtype=np.int64),
        threads=("t",),
        thread=np.zeros(count, dtype=np.int64),
        types=("A", "B", "C"),
        type=kinds,
        instructions=generator.integers(100, 1_000, size=count).astype(float),
        cycles=generator.integers(100, 1_000, size=count) * cycles,
    )


def model_of(samples: CounterSamples) -> CountersModel:
    return counters_model(counted_dispatches(samples), long_ns=1 << 60, name="drawn")


@given(seed=st.integers(0, 1 << 20), factor=st.integers(2, 9))
@settings(max_examples=10, deadline=None)
def test_penalties_are_times(seed: int, factor: int) -> None:
    before = model_of(drawn(seed)).penalties
    slower = model_of(drawn(seed, time=factor)).penalties
    counted = model_of(drawn(seed, cycles=factor)).penalties
    for pair, one, other in zip(before, slower, counted, strict=True):
        assert pair.penalty is not None
        assert pair.penalty >= 0
        assert one.penalty == pytest.approx(factor * pair.penalty)  # the clock is much slower
        assert other.penalty == pytest.approx(pair.penalty)  # the clock is that much faster


def test_standard_errors_agree_with_repeated_draws() -> None:
    models = [model_of(drawn(seed)) for seed in range(60)]
    cells = [model.types[0].after_type("B") for model in models]
    values = [cell.ipc for cell in cells if cell is not None]
    errors = [cell.standard_error for cell in cells if cell is not None]
    assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.25)


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    model = model_of(drawn(1))
    COUNTERS.write(model, tmp_path / "model.toml")
    assert COUNTERS.read(tmp_path / "model.toml") == model


def test_counts_are_shared_out() -> None:
    for tasks in (1, 2, 7, 100, 1_001):
        instance = counters_instance(COUNTERS.read("ziemba"), tasks=tasks, cpus=3)
        assert instance.task_count == tasks


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("best_ipc = 1.105", "best_ipc = 0", "type[0].best_ipc: must be more than 0, not 0"),
        ("best_ipc = 1.105", "best_icp = 1", "type[0].best_icp: unknown key; did you mean"),
        ("ipc = 1.07", "ipc = -1", "type[0].after[0].ipc: must be more than 0, not -1"),
        ("ipc = 1.07", "ipc = '1'", "type[0].after[0].ipc: must be a number, not '1'"),
        ('name = "PHP"', 'name = "HTTP"', "type[1].name: 'HTTP' is there twice; rename one"),
        ('type = "long PHP"', 'type = "PHP"', "type[0].after[2].type: 'PHP' is there twice"),
        ('harmful_type = "long PHP"', 'harmful_type = "x"', "segregation.harmful_type: there is"),
        (
            "time_share = 0.34",
            "time_share = 34",
            "segregation.time_share: must be at most 1, not 34",
        ),
        ('"instantaneous"', '"sudden"', "warm_up[0].reading: must be one of 'instantaneous'"),
        ("begin = 0, end = 1", "begin = 2, end = 1", "warm_up[0].points[0].begin: must be from 0"),
        ("{ begin = 4, ipc", "{ ipc", "warm_up[0].points[1].begin: is missing; give the time"),
    ],
)
def test_wrong_models_are_refused(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(DfoptError) as refused:
        COUNTERS.parse(TEXT.replace(old, new, 1))
    assert problem in str(refused.value)


def test_pictures() -> None:
    model = COUNTERS.read("ziemba")
    axes = plot_counters(model, ax=Figure().add_subplot())
    widths = [bar.get_width() for bar in axes.patches]
    assert widths[:3] == pytest.approx([96.8, 90.5, 40.7], abs=0.05)
    assert [bool(bar.get_hatch()) for bar in axes.patches[:3]] == [False, True, False]
    curve = plot_warm_up(model.warm_up[0], ax=Figure().add_subplot())
    assert curve.lines[0].get_ydata()[0] == pytest.approx(0.19, abs=0.001)
