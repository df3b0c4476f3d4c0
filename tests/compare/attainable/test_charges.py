"""Schedules cost what the caches of their CPUs charge, one use of data after the other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt.compare import CostModel
from dfopt.compare.attainable.beam_search import BeamSettings
from dfopt.compare.attainable.check import WaitingLimit, checked_cost
from dfopt.compare.attainable.patience import run_patiently
from dfopt.compare.attainable.schedule_within import schedule_within
from dfopt.compare.dispatches import TRANSPARENT, Dispatches, movable_dispatches
from dfopt.compare.paid import cost_of
from dfopt.problem.cache import UNKNOWN, Cache, DataUse
from dfopt.trace import Trace
from tests.charges import use_of
from tests.compare.attainable.test_beam_search import searched
from tests.compare.drawn import matrix_models, models
from tests.compare.naive import counted
from tests.trace.woken import FRAGMENTS, woken_traces

MODELS = models(lines=3) | matrix_models(FRAGMENTS)


def charged(trace: Trace, model: CostModel, schedule: Dispatches) -> int:
    """Return what caches charge for a schedule of a trace."""
    uses = {one.row: use_of(model.penalty, one.task) for one in counted(trace, model)}
    every = schedule.with_fixed
    total = 0
    for cpu in range(every.cpus):
        cache = Cache(
            model.penalty, cold_start=model.cold_start, final_write_back=model.final_write_back
        )
        cuts = sorted(every.cuts.time[every.cuts.cpu == cpu].tolist())
        own = [
            (start, length, row)
            for start, length, row, on, fragment in zip(
                every.start, every.length, every.row, every.cpu, every.fragment, strict=True
            )
            if on == cpu and fragment != TRANSPARENT
        ]
        for start, _, row in sorted(own):
            while cuts and cuts[0] <= start:
                del cuts[0]
                cache.hold(DataUse(UNKNOWN))
            total += cache.enter(uses[row])
        total += 0 if cuts else cache.finish()
    return total


def dispatches_in_any_case(trace: Trace, model: CostModel) -> Dispatches:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dfopt.compare.dispatches._check_known", lambda *_: None)
        return movable_dispatches(trace, model)


@settings(deadline=None)
@given(woken_traces(), MODELS, st.integers(0, 20))
def test_recorded_and_patient_schedules(trace: Trace, model: CostModel, patience: int) -> None:
    recorded = dispatches_in_any_case(trace, model)
    for schedule in (recorded, run_patiently(recorded, patience)):
        assert cost_of(schedule) == checked_cost(schedule) == charged(trace, model, schedule)


@settings(deadline=None, max_examples=50)
@given(woken_traces(), MODELS, st.integers(0, 10))
def test_schedules_that_searches_find(trace: Trace, model: CostModel, wait: int) -> None:
    recorded = dispatches_in_any_case(trace, model)
    schedule = schedule_within(recorded, WaitingLimit(each=wait), effort=0.1)
    assert cost_of(schedule) == checked_cost(schedule) == charged(trace, model, schedule)


@settings(deadline=None)
@given(woken_traces(plain=True), MODELS, st.integers(0, 10), st.integers(1, 6))
def test_the_core_charges_changes_of_a_section_alike(
    trace: Trace, model: CostModel, wait: int, dispatches: int
) -> None:
    recorded = dispatches_in_any_case(trace, model)
    schedule, change, *_ = searched(recorded, wait, dispatches, BeamSettings(width=3, safe=1))
    assert charged(trace, model, schedule) == charged(trace, model, recorded) + change
