"""What four papers published and the page on run queues claims to reproduce, in short runs."""

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from dfopt import replace
from dfopt_models.batching import BATCHING

SCRIPTS = Path(__file__).parents[3] / "docs" / "reproduction" / "run_queue"


@pytest.fixture
def script(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script of the page that a test names."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module(request.param)


@cache
def chat_time(script: ModuleType, policy: str, messages: int, spawn_time: int) -> float:
    """Return how long the shortened chat of ten rooms takes."""
    return script.run_of((policy, 10, messages, script.SHORTENED, spawn_time))


@pytest.mark.slow
@pytest.mark.parametrize("script", ["pinter_chat"], indirect=True)
def test_data_affinity_gains_more_with_more_messages(script: ModuleType) -> None:
    gains = []
    for messages in (500, 1500):
        old, new = (
            chat_time(script, policy, messages, script.SPAWN_TIMES[0])
            for policy in (script.VANILLA, script.NEW)
        )
        gains.append(1 - new / old)
    assert gains[1] > gains[0] + script.MORE


@pytest.mark.slow
@pytest.mark.parametrize("script", ["pinter_chat"], indirect=True)
def test_runs_differ_less_under_data_affinity(script: ModuleType) -> None:
    apart = []
    for policy in (script.VANILLA, script.NEW):
        times = [chat_time(script, policy, 500, spawn_time) for spawn_time in script.SPAWN_TIMES]
        apart.append(max(times) - min(times))
    assert apart[1] < apart[0] / 2


@pytest.mark.slow
@pytest.mark.parametrize("script", ["sohn_runs"], indirect=True)
def test_a_lock_for_each_cpu_is_missed_as_rarely_as_published(script: ModuleType) -> None:
    (one_lock,), (own_locks,) = (
        script.measured(script.mix(10), policy, 10, seeds=range(1), cpu_seconds=20)
        for policy in (script.ORIGINAL, script.TWO)
    )
    assert own_locks.miss_ratio == pytest.approx(0.12, abs=0.05)
    assert one_lock.miss_ratio > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("script", ["batching"], indirect=True)
def test_batches_on_four_processors(script: ModuleType) -> None:
    for length in (1, 4, 16):
        times = {
            scheduler: script.outcome(scheduler, 8, length, scale=script.SCALES[8])
            for scheduler in (script.UNI, *script.ON_SMP)
        }
        batched = max(times[scheduler] for scheduler in script.WITH_BATCHES)
        assert times[script.SHARED] > batched
        if length == 16:
            assert times[script.UNI] > 4 * batched


@pytest.mark.slow
@pytest.mark.parametrize("script", ["batching"], indirect=True)
def test_batches_gain_on_one_processor_what_the_formula_says(script: ModuleType) -> None:
    model = replace(BATCHING.read("debattista"), next_line=script.NEXT_LINE)
    for length in (1, 2, 4, 16):
        alone, batched = (
            script.outcome(scheduler, 8, length, scale=script.SCALES[8])
            for scheduler in (script.UNI, script.UNIBATCH)
        )
        assert alone / batched == pytest.approx(model.gain(8, length), rel=0.1)


@pytest.mark.parametrize("script", ["rows"], indirect=True)
def test_what_a_null_model_meets_is_refused(script: ModuleType) -> None:
    texts = dict.fromkeys(("shape", "published", "simulated", "criterion"), "x")
    row = script.evidence(**texts, passes=lambda gain: gain > 0, found=0.2, without=[0.0])
    assert row.holds
    with pytest.raises(ValueError, match="what shows nothing"):
        script.evidence(**texts, passes=lambda gain: gain >= 0, found=0.2, without=[0.0])


@pytest.mark.parametrize("script", ["pinter_chat"], indirect=True)
def test_a_step_that_chance_hides_has_no_verdict(script: ModuleType) -> None:
    sharp = [[0.10, 0.11, 0.12], [0.30, 0.31, 0.32]]
    assert script.growth("sharp", [0.1, 0.3], sharp).holds
    assert not script.growth("sharp", [0.1, 0.3], sharp[::-1]).holds
    blurred = [[0.0, 0.1, 0.2], [0.6, 0.1, 0.2]]
    assert script.growth("blurred", [0.1, 0.3], blurred) == "blurred"
