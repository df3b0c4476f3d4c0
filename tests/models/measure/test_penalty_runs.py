"""Penalties of slices, on simulated caches and programs whose penalties are known."""

import tomllib
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import tomli_w
from jsonschema import Draft202012Validator

from dfopt.files import schema
from dfopt_models.measure import PENALTIES
from dfopt_models.measure.machine import MOVED, STATIONARY, MeasurementError, TimedPass, TimedSlice
from dfopt_models.measure.penalty_runs import (
    PenaltyOfRun,
    PenaltyPlan,
    kernel_penalties,
    measured_document,
    penalties_of_run,
    program_penalties,
    switch_time,
    verify_flush_of,
    warm_up_time,
)
from dfopt_models.measure.programs import ProgramRun
from tests.models.measure.test_machine import SimulatedMemory

MISS = 80.0
CACHE = 128
FOOTPRINTS = {"small": 32, "large": 100, "huge": 4 * CACHE, "light": 40}
"""Lines that kernels read in a round; a unit is sixteen of them."""

UNIT = 16
SLICES = 5
BOTH = (MOVED, "after large")


class SimulatedProcessor(SimulatedMemory):
    """The simulated caches with kernels that change their lines in turn."""

    def __init__(self, **options: float | bool) -> None:
        super().__init__(miss=MISS, write_back=0.0, **options)  # type: ignore[arg-type]
        self._next = dict.fromkeys(FOOTPRINTS, 0)

    def work(self, kernel: str, units: int) -> TimedSlice:
        passes = [self._unit(kernel) for _ in range(units)]
        return TimedSlice(
            [timed.nanoseconds for timed in passes],
            any(timed.is_interrupted for timed in passes),
        )

    def switch(self, times: int) -> TimedPass:
        return self._timed(2000.0 * times)

    def _unit(self, kernel: str) -> TimedPass:
        size = FOOTPRINTS[kernel]
        first = self._next[kernel]
        self._next[kernel] = (first + UNIT) % size
        return self._pass(kernel, UNIT, dirty=True, first=first, size=size)


def penalties(
    processor: SimulatedProcessor, job: str, between: tuple[str, ...], units: int = 80
) -> dict[str, PenaltyOfRun]:
    found = kernel_penalties(
        processor,
        job,
        quantum=units * UNIT * 1e-9,
        between=between,
        slices=SLICES,
    )
    return {one.preparation: one for one in found}


@pytest.mark.parametrize(("job", "lines"), [("small", 32), ("large", 100)])
@pytest.mark.parametrize("without", [MOVED, "memory"])
def test_without_affinity_all_lines_are_lost(job: str, lines: int, without: str) -> None:
    found = penalties(SimulatedProcessor(), job, (without,))
    assert found[without].penalty == pytest.approx(lines * MISS * 1e-9, rel=1e-9)
    assert not found[without].is_whole


@pytest.mark.parametrize(
    ("job", "other", "units", "lost"),
    [
        # 32 lines and 100 lines do not fit into 128 together; least recently used, a cyclic
        # job that has lost some of its lines then loses the rest before it comes to them.
        ("small", "large", 96, 32),
        ("large", "small", 96, 100),
        # 32 and 40 fit.
        ("small", "light", 96, 0),
        ("small", "huge", 1300, 32),
        # What never fits is never warm.
        ("huge", "small", 1300, 0),
    ],
)
def test_with_affinity_what_the_other_job_evicts_is_lost(
    job: str, other: str, units: int, lost: int
) -> None:
    found = penalties(SimulatedProcessor(), job, (MOVED, f"after {other}"), units)
    assert found[f"after {other}"].penalty == pytest.approx(lost * MISS * 1e-9, abs=1e-12)


def test_a_warm_up_that_takes_the_whole_slice() -> None:
    # Seven lines in eight units: the whole slice is warm-up, and whole slices are compared.
    found = penalties(SimulatedProcessor(), "large", (MOVED,), 8)
    assert found[MOVED].is_whole


def test_the_estimator() -> None:
    units = np.arange(64)
    warm_up = 100.0 * 0.5**units
    lost, is_whole = warm_up_time(warm_up)
    assert (lost, is_whole) == (pytest.approx(200.0, rel=1e-6), False)
    # A clock that ticks slower throughout is no penalty.
    assert warm_up_time(warm_up + 3.0)[0] == pytest.approx(200.0, rel=1e-6)
    # A slow warm-up goes on in the second half.
    slow = 100.0 * 0.97**units
    assert warm_up_time(slow) == (pytest.approx(slow.sum()), True)
    assert warm_up_time(np.zeros(64)) == (0.0, False)


def test_an_unverified_flush_is_an_error() -> None:
    processor = SimulatedProcessor(resists=True)
    with pytest.raises(MeasurementError, match="flush to memory is not verified"):
        verify_flush_of(processor, MOVED, passes=SLICES)
    with pytest.raises(MeasurementError, match="no level 'L9'; known are 'moved', 'memory'"):
        verify_flush_of(processor, "L9", passes=SLICES)
    processor.has_other_cpu = False
    with pytest.raises(MeasurementError, match="there is no second CPU"):
        verify_flush_of(processor, MOVED, passes=SLICES)


def test_too_many_interrupted_slices_are_an_error() -> None:
    with pytest.raises(MeasurementError, match=r"of \d+ slices were interrupted by other work"):
        penalties(SimulatedProcessor(interrupted=50), "small", BOTH)
    found = penalties(SimulatedProcessor(interrupted=2000), "small", BOTH)
    assert sum(one.rejected for one in found.values()) > 0
    assert found[MOVED].penalty == pytest.approx(32 * MISS * 1e-9)


def test_units_must_be_short() -> None:
    with pytest.raises(
        MeasurementError, match="has 3 units, and must have 8; take a quantum of at least"
    ):
        kernel_penalties(SimulatedProcessor(), "small", quantum=50e-9, between=BOTH, slices=SLICES)


def test_switches() -> None:
    assert switch_time(SimulatedProcessor(), passes=3) == pytest.approx(2e-6)
    with pytest.raises(MeasurementError, match="switches: "):
        switch_time(SimulatedProcessor(interrupted=1), passes=3)


def whole_run() -> list[PenaltyOfRun]:
    said: list[str] = []
    processor = SimulatedProcessor()
    plan = PenaltyPlan(
        commands={"small": "", "large": ""},
        others=("large",),
        quanta=(1.28e-6, 2.56e-6),
        slices=SLICES,
    )
    measure = partial(kernel_penalties, processor, slices=SLICES)
    found, time = penalties_of_run(processor, plan, measure, said.append)
    assert time == pytest.approx(2e-6)
    assert said == [f"{job}, {ms} ms" for job in ("small", "large") for ms in (0.00128, 0.00256)]
    return found


def test_the_document() -> None:
    runs, times = [whole_run(), whole_run()], [2e-6, 3e-6]
    written = measured_document(
        runs, switch_times=times, conditions={"cpu": "simulated", "load": 0.5}
    )
    text = tomli_w.dumps(written)
    document = tomllib.loads(text)
    Draft202012Validator(schema("penalties")).validate(document)
    read = PENALTIES.from_toml(text)
    assert read.reallocation_time == pytest.approx(2.5e-6)
    assert [entry.quantum for entry in read.of("small")] == [1.28e-6, 2.56e-6]
    assert read.of("small")[0].no_affinity == pytest.approx(32 * MISS * 1e-9)
    assert read.of("large")[1].no_affinity == pytest.approx(100 * MISS * 1e-9)
    assert "affinity is after large, no_affinity is moved" in read.sources["penalties"]
    assert document["x-conditions"] == {
        "cpu": "simulated",
        "load": 0.5,
        "runs": 2,
        "rejected": 0.0,
    }
    assert len(document["x-measured"]) == 8
    assert document["x-measured"][0]["estimate"] == "warm-up"
    assert document["x-measured"][0]["spread_of_runs"] == 0


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ((300e-6, 900e-6), "differ by more than 50% and by more than 0.2% of the interval"),
        ((-300e-6, -310e-6), "a penalty cannot be below 0"),
    ],
)
def test_runs_that_disagree_are_an_error(values: tuple[float, ...], problem: str) -> None:
    with pytest.raises(MeasurementError, match=problem):
        measured_document(
            [[estimate(value)] for value in values], switch_times=[1e-6, 1e-6], conditions={}
        )


def test_what_is_lost_in_the_noise_is_nothing() -> None:
    # 0.2 % of 10 ms is 20 microseconds.
    found = measured_document(
        [[estimate(value), estimate(value, "after b")] for value in (-8e-6, 6e-6, -1e-6)],
        switch_times=[1e-6] * 3,
        conditions={},
    )
    assert found["job"][0]["penalties"] == [{"quantum": 0.01, "affinity": 0, "no_affinity": 0}]
    assert found["x-measured"][0]["penalty"] == -1e-6


def estimate(seconds: float, preparation: str = MOVED) -> PenaltyOfRun:
    return PenaltyOfRun(
        job="a",
        quantum=0.01,
        preparation=preparation,
        penalty=seconds,
        slices=5,
        rejected=0,
        is_whole=False,
    )


class Host:
    """Programs that take ten seconds, and a known time longer for each slice."""

    def __init__(self, slices: int = 400, rejected: Callable[[str], int] = lambda _: 0) -> None:
        self._slices, self._rejected = slices, rejected

    def __call__(self, job: str, quantum: float, preparation: str) -> ProgramRun:
        longer = {STATIONARY: 0.0, MOVED: 700e-6, "after large": 200e-6}[preparation]
        return ProgramRun(
            self._slices * (quantum + longer), self._slices, self._rejected(preparation)
        )


def test_programs() -> None:
    found = program_penalties(Host(), "program", quantum=0.025, between=BOTH)
    assert [one.penalty for one in found] == pytest.approx([700e-6, 200e-6])
    assert all(one.is_whole and one.slices == 400 for one in found)


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        (Host(slices=3), "program ends after 3 slices of 25 ms, and a figure needs 10"),
        (Host(rejected=lambda _: 250), "program, nothing: 250 of 400 slices were interrupted"),
        (Host(rejected=lambda name: 250 * (name == MOVED)), "program, moved: 250 of 400"),
    ],
)
def test_programs_that_cannot_be_measured(host: Host, problem: str) -> None:
    with pytest.raises(MeasurementError, match=problem) as caught:
        program_penalties(host, "program", quantum=0.025, between=BOTH)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("wishes", "problem"),
    [
        ({"kernels": ("chaise",)}, "there is no job 'chaise'.*did you mean 'chase'"),
        ({"others": ("x",), "commands": {"a": "true"}}, "there is no job 'x'; known are 'a'"),
        ({"kernels": ("chase",), "commands": {"a": "true"}}, "one after the other"),
        ({"quanta": (0.0,)}, "a quantum must be more than 0 seconds, not 0"),
    ],
)
def test_plans_that_cannot_be(wishes: dict[str, object], problem: str) -> None:
    with pytest.raises(MeasurementError, match=problem):
        PenaltyPlan(**wishes)  # type: ignore[arg-type]
