"""Estimates of a machine's costs, on a simulated cache whose costs are known."""

import tomllib
from collections import OrderedDict

import pytest
import tomli_w
from jsonschema import Draft202012Validator

from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt_models.measure.machine import (
    MACHINES,
    MOVED,
    WRITTEN,
    AccessOrder,
    FlushLevel,
    MachineRun,
    MeasurementError,
    TimedPass,
    levels_left,
    machine_document,
    measure_run,
    verify_flush,
)

LINES, PASSES = 64, 5
SIZES = (16, 64, 128)


class SimulatedMemory:
    """Two CPUs whose caches drop the line least recently used; every access takes a known time.

    A hit takes 1 ns, a line from memory or from the other CPU ``miss`` more, or a tenth of it in
    sequential order; a dirty line that is dropped takes ``write_back`` more.
    """

    has_other_cpu = True

    def __init__(
        self,
        *,
        miss: float = 80.0,
        write_back: float = 3.0,
        resists: bool = False,
        interrupted: int = 0,
    ) -> None:
        self.cache_lines = 128
        self.levels = (FlushLevel(name="memory", sweep=1024, set_size=512),)
        self._miss, self._write_back, self._resists = miss, write_back, resists
        self._interrupted, self._passes = interrupted, 0
        self._caches: tuple[OrderedDict[tuple[str, int], bool], ...] = (
            OrderedDict(),
            OrderedDict(),
        )
        self._at = self._reached = 0

    def read(self, lines: int, order: AccessOrder) -> TimedPass:
        share = 1.0 if order is AccessOrder.RANDOM else 0.1
        return self._pass("victim", lines, share=share)

    def write(self, lines: int) -> TimedPass:
        return self._pass("victim", lines, dirty=True)

    def sweep(self, lines: int) -> TimedPass:
        return self._pass("other", lines // 16 if self._resists else lines, share=0.1)

    def chase(self, set_size: int, lines: int) -> TimedPass:
        first = self._reached
        self._reached = (first + lines) % set_size
        return self._pass("set", lines, first=first, size=set_size)

    def move(self) -> TimedPass:
        self._at = 1 - self._at
        return self._timed(100.0)

    def _pass(  # noqa: PLR0913 - all but two are options
        self,
        whose: str,
        lines: int,
        *,
        share: float = 1.0,
        dirty: bool = False,
        first: int = 0,
        size: int = 2**30,
    ) -> TimedPass:
        cache, other = self._caches[self._at], self._caches[1 - self._at]
        spent = 0.0
        for number in range(lines):
            line = whose, (first + number) % size
            spent += 1.0
            if line not in cache:
                spent += self._miss * share
                # Changed lines leave the other cache; clean ones may stay in both.
                if other.get(line) or dirty:
                    other.pop(line, None)
                cache[line] = False
                if len(cache) > self.cache_lines:
                    spent += self._write_back * cache.popitem(last=False)[1]
            elif dirty:
                other.pop(line, None)
            cache[line] = cache[line] or dirty
            cache.move_to_end(line)
        return self._timed(spent)

    def _timed(self, nanoseconds: float) -> TimedPass:
        self._passes += 1
        is_interrupted = self._interrupted > 0 and self._passes % self._interrupted == 0
        return TimedPass(nanoseconds, is_interrupted)


def measured(memory: SimulatedMemory) -> MachineRun:
    return measure_run(memory, lines=LINES, passes=PASSES, sizes=SIZES)


@pytest.mark.parametrize("miss", [10.0, 143.0])
def test_known_costs_come_out(miss: float) -> None:
    run = measured(SimulatedMemory(miss=miss, write_back=3.0))
    expected = {AccessOrder.RANDOM: miss, AccessOrder.SEQUENTIAL: miss / 10}
    levels = {estimate.level for estimate in run.reads}
    assert levels == {"memory", MOVED, WRITTEN}
    assert len(run.reads) == 6
    for estimate in run.reads:
        assert estimate.median == pytest.approx(expected[estimate.order], rel=0.01)
        assert (estimate.passes, estimate.rejected) == (PASSES, 0)
    assert run.write_back == pytest.approx(3.0, rel=0.01)
    assert run.rejected == 0


def test_filling_takes_as_long_as_there_are_lines() -> None:
    run = measured(SimulatedMemory(miss=80.0))
    assert [estimate.lines for estimate in run.fills] == list(SIZES)
    for estimate in run.fills:
        assert estimate.median * estimate.lines == pytest.approx(80.0 * estimate.lines, rel=0.01)


def test_a_cache_that_resists_the_flush_is_found_out() -> None:
    memory = SimulatedMemory(resists=True)
    with pytest.raises(MeasurementError, match=r"flush to memory is not verified: only 0\.0%"):
        measured(memory)
    level = FlushLevel(name="memory", sweep=16 * 1024, set_size=512)
    assert verify_flush(memory, level, lines=LINES, passes=PASSES) == pytest.approx(1.0)


def test_a_flush_in_random_order_is_not_resisted() -> None:
    memory = SimulatedMemory(resists=True)
    level = FlushLevel(name="far", sweep=1024, set_size=512, has_random_flush=True)
    memory.levels = (level, *memory.levels)
    assert verify_flush(memory, level, lines=LINES, passes=PASSES) == pytest.approx(1.0)


def test_levels_may_be_left_out() -> None:
    said: list[str] = []
    run = measure_run(
        SimulatedMemory(),
        lines=LINES,
        passes=PASSES,
        sizes=SIZES,
        leave_out=["memory", WRITTEN],
        progress=said.append,
    )
    assert {estimate.level for estimate in run.reads} == {MOVED}
    assert said == [MOVED, "moved, by the number of lines", "write-back"]
    with pytest.raises(MeasurementError, match="no level 'L9'; known are 'memory', 'moved'"):
        levels_left(SimulatedMemory(), ["L9"])
    with pytest.raises(MeasurementError, match="no level is left to measure"):
        levels_left(SimulatedMemory(), ["memory", MOVED, WRITTEN])


def test_levels_that_are_alike_are_found_out() -> None:
    with pytest.raises(MeasurementError, match="memory cannot be told from the cache"):
        measured(SimulatedMemory(miss=0.1))


def test_a_cache_that_others_fill_is_found_out() -> None:
    # What is called a nearer level takes as long as memory.
    memory = SimulatedMemory()
    memory.levels = (FlushLevel(name="near", sweep=1024, set_size=512), *memory.levels)
    with pytest.raises(MeasurementError, match=r"near cannot be told from memory: 80\.0 ns a line"):
        measured(memory)


def test_runs_that_differ_too_much_are_an_error() -> None:
    runs = [measured(SimulatedMemory(miss=miss)) for miss in (50.0, 60.0, 100.0)]
    with pytest.raises(MeasurementError, match=r"moved, random: the runs give 50.00, 60"):
        machine_document(runs, lines=128)


def test_interrupted_passes_are_rejected() -> None:
    # Every 50th step: some passes are lost, in the preparation too.
    run = measured(SimulatedMemory(interrupted=50))
    assert 0 < run.rejected < 0.5
    assert all(estimate.passes == PASSES for estimate in run.reads)
    assert {estimate.median for estimate in run.reads} == {80.0, 8.0}


def test_too_many_rejected_passes_are_an_error() -> None:
    with pytest.raises(MeasurementError, match="more than half; measure when") as caught:
        measured(SimulatedMemory(interrupted=2))
    assert "\n" not in str(caught.value)


def test_the_document() -> None:
    runs = [measured(SimulatedMemory(miss=miss)) for miss in (80.0, 84.0, 100.0)]
    document = machine_document(runs, lines=128, conditions={"cpu": "simulated", "load": 0.5})
    text = tomli_w.dumps(document)
    assert tomllib.loads(text) == document
    Draft202012Validator(schema("machine")).validate(document)
    costs = MACHINES.from_toml(text)
    assert (costs.read_line, costs.write_back, costs.lines) == (84_000, 3000 * 128, 128)
    assert costs.in_nanoseconds() == (84, 384, 84 * 128)
    assert document["x-conditions"] == {
        "cpu": "simulated",
        "load": 0.5,
        "rejected": 0.0,
        "runs": 3,
    }
    assert document["x-read"][0]["medians_of_runs"] == [80_000, 84_000, 100_000]
    assert document["x-read"][0]["spread_of_runs"] == pytest.approx(20 / 84, abs=1e-4)
    sequential = machine_document(runs, lines=128, level="memory", order=AccessOrder.SEQUENTIAL)
    assert sequential["read_line"] == 8400
    with pytest.raises(MeasurementError, match="no measured level 'L9'; known are 'memory'"):
        machine_document(runs, lines=128, level="L9")


TEXT = 'format = "dfopt-machine/1"\ntime_unit = "ps"\nread_line = 6900\nwrite_back = 0\nlines = 9\n'


def test_costs_in_whole_nanoseconds() -> None:
    assert MACHINES.from_toml(TEXT).in_nanoseconds() == (7, 0, 62)
    assert MACHINES.from_toml(TEXT.replace('"ps"', '"ns"')).in_nanoseconds()[0] == 6900
    with pytest.raises(DfoptError, match=r"read_line: is 0.26 ns, which is no whole number"):
        MACHINES.from_toml(TEXT.replace("6900", "260")).in_nanoseconds()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('format = "dfopt-machine/1"\n', "", "format: is missing"),
        ("machine/1", "mix/1", "the file holds a mix of jobs"),
        ('"ps"', '"s"', "time_unit: must be one of 'ns', 'ps'"),
        ("time_unit", "unit", "unit: unknown key; did you mean 'time_unit'"),
        ("lines = 9", "", "lines: is missing"),
        ("6900", "-1", "read_line: "),
        ("6900", "6.9", "read_line: "),
        ("6900", '"x"', "read_line: "),
        ("write_back = 0", "write_back = true", "write_back: "),
        ("lines = 9", "lines =", "line 5"),
    ],
)
def test_wrong_files(old: str, new: str, problem: str) -> None:
    with pytest.raises(DfoptError, match=problem) as caught:
        MACHINES.from_toml(TEXT.replace(old, new))
    assert "\n" not in str(caught.value)
