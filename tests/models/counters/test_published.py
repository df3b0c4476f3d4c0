"""The published numbers of Ziemba, Upadhyaya and Pai, from samples in which they hold."""

import numpy as np
import pytest

from dfopt import Objective, Status, TimeLimit, solve
from dfopt.verify import verify
from dfopt_models.counter_samples import PerformanceRow, counted_dispatches, counter_figures
from dfopt_models.counters import (
    COUNTERS,
    CURVES,
    CountersModel,
    Mean,
    Reading,
    WarmUpPoint,
    counters_instance,
    counters_model,
    cumulative,
    fit_warm_up,
    long_threshold,
)
from tests.formulas import value_of
from tests.models.counters.synthetic import parsed_samples, published_samples

ZIEMBA = COUNTERS.read("ziemba")
DISPATCHES = counted_dispatches(parsed_samples(published_samples()))
LONG = long_threshold(DISPATCHES)
FIGURES = counter_figures(DISPATCHES, long_ns=LONG)
POINTS = ZIEMBA.warm_up[0].points


def penalty_of(model: CountersModel, before: str, after: str) -> float:
    (found,) = (
        pair.penalty for pair in model.penalties if (pair.before, pair.after) == (before, after)
    )
    assert found is not None
    return found


def row(rows: tuple[PerformanceRow, ...], **group: str) -> PerformanceRow:
    (found,) = [each for each in rows if each.group.items() >= group.items()]
    return found


def test_shares_of_schedules_and_of_time() -> None:
    http = row(FIGURES.by_type, type="HTTP")
    assert http.dispatch_share == pytest.approx(0.86)
    assert http.time_share == pytest.approx(0.34, abs=0.0005)


def test_the_threshold_lies_between_short_and_long_dispatches() -> None:
    assert 500_000 < LONG <= 2_400_000


def test_performance_after_what_ran_before() -> None:
    http = row(FIGURES.by_type, type="HTTP")
    assert http.ipc_of_dispatches == pytest.approx(1, abs=0.001)
    after = {each.group["after"]: each for each in FIGURES.by_predecessor[:-1]}
    series = [each for name, each in after.items() if name.endswith("of its type")]
    count = sum(each.dispatches for each in series)

    def mean(name: str) -> float:
        return sum(getattr(each, name) * each.dispatches for each in series) / count

    assert mean("ipc_of_dispatches") == pytest.approx(1.07, abs=0.001)
    assert http.instruction_misses is not None
    assert http.data_misses is not None
    assert mean("instruction_misses") / http.instruction_misses == pytest.approx(0.925, rel=0.01)
    assert mean("data_misses") / http.data_misses == pytest.approx(0.4, rel=0.01)
    assert after["5 or more of its type"].ipc_of_dispatches == pytest.approx(1.105, abs=0.001)
    assert after["long PHP"].ipc_of_dispatches == pytest.approx(0.45, abs=0.001)
    assert after["long PHP"].dispatch_share == pytest.approx(0.1)


def test_the_total_does_not_agree_with_the_published_mean() -> None:
    # 10 % of equal work at 0.45 of the mean leave at most 1/0.933 for the rest, were it the total.
    http = row(FIGURES.by_type, type="HTTP")
    assert http.ipc == pytest.approx(0.933, abs=0.001)


def test_performance_by_slice_length() -> None:
    lengths = {each.group["length"]: each for each in FIGURES.by_length[1:]}
    assert list(lengths) == ["0–1 ms", "2–4 ms", "4–8 ms", "16–32 ms"]
    measured = [lengths[name].ipc_of_dispatches for name in ("0–1 ms", "4–8 ms", "16–32 ms")]
    assert measured == pytest.approx([0.52, 1.54, 1.76], abs=0.001)
    assert measured[2] / measured[0] == pytest.approx(3.34, rel=0.02)


def test_shares_of_threads_add_up() -> None:
    for metric in ("ipc", "instruction_misses", "data_misses"):
        shares = [each.share for each in FIGURES.deviations if each.metric == metric]
        assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("mean", Mean)
def test_penalties_from_samples(mean: Mean) -> None:
    model = counters_model(DISPATCHES, long_ns=LONG, name="web", mean=mean)
    assert [each.name for each in model.types] == ["HTTP", "PHP", "long PHP"]
    http = model.types[0]
    assert http.best_dispatch == pytest.approx(140_000, rel=1e-4)
    assert penalty_of(model, "long PHP", "HTTP") == pytest.approx(203_800, rel=1e-3)
    if mean is Mean.DISPATCHES:
        assert penalty_of(model, "HTTP", "HTTP") == pytest.approx(4_600, abs=50)
    # Two dispatches of PHP never follow each other: these penalties are not known.
    unknown = [(pair.before, pair.after) for pair in model.penalties if pair.penalty is None]
    assert ("PHP", "long PHP") in unknown
    with pytest.raises(Exception, match=r"4 of 9 penalties are unknown, such as that of 'PHP'"):
        counters_instance(model, tasks=100, cpus=4)


def test_derived_numbers() -> None:
    figures = ZIEMBA.segregation_figures()
    assert figures is not None
    assert figures.relative_speed == pytest.approx(0.4072, abs=0.0001)
    assert 1 / figures.relative_speed == pytest.approx(2.456, abs=0.001)
    assert 1 - figures.idle == pytest.approx(0.7208)
    assert figures.idle == pytest.approx(0.279, abs=0.0005)
    assert figures.drain == pytest.approx(6.72e6)
    assert figures.wasted_of_type == pytest.approx(0.122, abs=0.0005)
    assert figures.wasted_of_all == pytest.approx(0.042, abs=0.0005)  # 10 % in the paper


def test_warm_up() -> None:
    curve = fit_warm_up(POINTS, Reading.INSTANTANEOUS)
    assert curve.error < 1e-6
    assert curve.time_constant == pytest.approx(2.036, abs=0.001)
    assert curve.initial == pytest.approx(0.19, abs=0.001)
    assert curve.lost == pytest.approx(1.82, abs=0.01)


def test_the_cumulative_reading_has_no_solution() -> None:
    curve = fit_warm_up(POINTS, Reading.CUMULATIVE)
    assert curve.initial == pytest.approx(0, abs=1e-6)  # as cold as a curve can be
    assert curve.error > 0.02
    # Through the other two points, with no IPC below 0, slices below 1 ms come to 0.605 or more if
    # their IPC is averaged, and to 0.765 if their instructions are divided by their cycles.
    times = (np.arange(1_000) + 0.5) / 1_000
    nearest = [9.0, 9.0]
    for time_constant in np.geomspace(0.01, 0.6, 400):
        deficit = 0.22 / (1.76 - cumulative(np.array(4.0), 1.76, 1.0, time_constant))
        if deficit <= 1.76:
            ipc = cumulative(times, 1.76, deficit, time_constant)
            means = (ipc.mean(), np.average(ipc, weights=times))
            nearest = [min(pair) for pair in zip(nearest, means, strict=True)]
    assert nearest == pytest.approx([0.605, 0.765], abs=0.005)


@pytest.mark.parametrize(
    ("objective", "optimum"), [(Objective.TOTAL_PENALTY, 377_200), (Objective.MAX_PENALTY, 96_600)]
)
def test_the_instance(objective: Objective, optimum: int) -> None:
    instance = counters_instance(ZIEMBA, tasks=100, cpus=4, objective=objective, resolution=100)
    assert [task.count for task in instance.tasks] == [86, 9, 5]
    assert [row[0] for row in instance.penalty.switch] == [4_600, 14_700, 203_800]
    result = solve(instance, stop=TimeLimit(60))
    assert (result.status, result.objective) == (Status.OPTIMAL, optimum)
    assert verify(instance, result, require_certificate=True).ok


def test_formulas_agree_with_the_numbers() -> None:
    by_name = {formula.name: formula for formula in COUNTERS.formulas}
    values = {"t_q": 140_000.0, "IPC_best": 1.105, "IPC_pq": 0.45}
    assert value_of(by_name["penalty"], values) == pytest.approx(
        penalty_of(ZIEMBA, "long PHP", "HTTP")
    )
    curve = ZIEMBA.warm_up[0].curve
    names = {"a": curve.limit, "D": curve.deficit, "tau": curve.time_constant}
    assert value_of(by_name["lost"], names) == pytest.approx(curve.lost)
    assert value_of(by_name["warm-up"], {**names, "t": 4.0}) == pytest.approx(1.54)


@pytest.mark.parametrize(
    ("begin", "end", "ipc"), [(0.3, 1.4, 0.9), (2.0, 40.0, 0.1), (1.0, 1.0, 0.6)]
)
@pytest.mark.parametrize("reading", Reading)
def test_a_known_curve_is_found_again(
    reading: Reading, begin: float, end: float, ipc: float
) -> None:
    times = [begin * 0.2, begin, end, 3 * end, 10 * end]
    points = [
        WarmUpPoint(begin=time, end=time, ipc=float(CURVES[reading](time, 1.2, 1.2 - ipc, begin)))
        for time in map(np.float64, times)
    ]
    curve = fit_warm_up(points, reading)
    assert (curve.limit, curve.initial, curve.time_constant) == pytest.approx(
        (1.2, ipc, begin), rel=1e-3
    )
