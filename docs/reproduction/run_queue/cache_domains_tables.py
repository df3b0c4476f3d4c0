"""The tables of the page on cache domains, and how numbers are written there."""

from collections.abc import Iterator, Sequence
from statistics import mean

from cache_domains_cases import AT_HALF, title_of
from cache_domains_runs import (
    BY_FRAGMENT,
    DATA_AFFINITY,
    EEVDF,
    HALF,
    VARIANTS,
    Case,
    Figures,
    Results,
    Variant,
)
from words import table, with_interval

from dfopt import replace

DASH = "–"


def span(values: Sequence[float], places: int = 0, unit: str = "") -> str:
    """Return the least and the greatest of some values."""
    low, high = (f"{value:,.{places}f}".replace("-", "−") for value in (min(values), max(values)))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def percents(shares: Sequence[float], places: int = 0) -> str:
    """Return the least and the greatest of some shares, in percent."""
    return span([100 * share for share in shares], places, " %")


def when(ends: Sequence[float]) -> str:
    """Return how much sooner or later something ends, from the best case to the worst."""
    low, high = 100 * min(ends), 100 * max(ends)
    if high <= 0 or low >= 0:
        bounds = sorted((abs(low), abs(high)))
        return f"{span(bounds, 0, ' %')} {'later' if high > 0 else 'sooner'}"
    return f"{-low:.0f} % sooner to {high:.0f} % later"


SMALL, LARGE = 0.1, 10
"""Means below the first have three decimal places, from the second on they have one."""


def digits_of(values: Sequence[float]) -> int:
    """Return how many decimal places a time in milliseconds needs."""
    size = mean(values)
    return 3 if size < SMALL else 2 if size < LARGE else 1


def code(variant: Variant) -> str:
    """Return a variant's name, with the policy as code."""
    return f"`{variant.policy}`{variant.label.removeprefix(variant.policy)}"


class Tables:
    """The tables of policies.

    Parameters
    ----------
    results
        Of all runs.
    recorded
        What the recordings themselves show.
    """

    def __init__(self, results: Results, recorded: dict[Case, Figures]) -> None:
        self.results = results
        self.recorded = recorded

    def row(self, case: Case, variant: Variant) -> list[str]:
        """Return the row of a policy in the table of a case."""
        half = replace(case, nearer=HALF)
        found = self.results.of(case, variant)

        def shown(name: str, places: int | None, of: Sequence[Figures] = found) -> str:
            values = [getattr(figures, name) for figures in of]
            return with_interval(values, digits_of(values) if places is None else places)

        cells = [code(variant), f"{shown('changes', 0)} ({found[0].least_changes})"]
        if not case.has_one_domain:
            cells.append(f"{shown('arrivals', 0)} ({found[0].least_arrivals})")
        cells.append(shown("penalty", None))
        if half in AT_HALF:
            cells.append(shown("penalty", None, self.results.of(half, variant)))
        places = {"p50": None, "p99": 1, "waited": 1, "fairness": 2, "end": 0}
        return [*cells, *(shown(name, digits) for name, digits in places.items())]

    def recorded_row(self, case: Case) -> list[str]:
        """Return the row of the recording itself."""
        found = self.recorded[case]
        cells = ["the recording", f"{found.changes} ({found.least_changes})"]
        if not case.has_one_domain:
            cells.append(f"{found.arrivals} ({found.least_arrivals})")
        cells.append(f"{found.penalty:.2f}")
        half = replace(case, nearer=HALF)
        if half in AT_HALF:
            cells.append(f"{self.recorded[half].penalty:.2f}")
        cells += [f"{found.p50:.{digits_of([found.p50])}f}", f"{found.p99:.1f}"]
        return [*cells, f"{found.waited:.1f}", f"{found.fairness:.2f}", f"{found.end:.0f}"]

    def case_table(self, case: Case) -> Iterator[str]:
        """Yield the table of a case."""
        columns = ["policy", "changes (least)"]
        if not case.has_one_domain:
            columns.append("arrivals (least)")
        if replace(case, nearer=HALF) in AT_HALF:
            columns += ["penalty, ms: near ¼", "near ½"]
        else:
            columns.append("penalty, ms: near ¼" if case.has_near else "penalty, ms")
        columns += ["latency, ms: p50", "p99", "waited, s", "fairness", "end, ms"]
        title = title_of(case)
        yield f"### {title[0].upper()}{title[1:]}"
        yield ""
        rows = [self.recorded_row(case)] if case.is_recording else []
        for variant in VARIANTS:
            fits = variant in case.variants
            rows.append(
                self.row(case, variant) if fits else [code(variant), *[DASH] * (len(columns) - 1)]
            )
        yield table(columns, rows)
        yield ""
        named = [variant for variant in case.variants if variant != BY_FRAGMENT]
        yield f"```text\n{case.command(*named)}\n```"
        yield ""

    def small_table(
        self,
        cases: dict[Case, Sequence[str]],
        columns: Sequence[str],
        variants: Sequence[Variant] = (EEVDF, DATA_AFFINITY),
    ) -> Iterator[str]:
        """Yield a table of several cases, each with the cells that tell it apart."""
        rows = []
        for case, cells in cases.items():
            for variant in variants:
                found = {
                    name: self.results.values(case, variant, name)
                    for name in ("changes", "share", "p50", "fairness", "end")
                }
                found["share"] = [100 * share for share in found["share"]]
                digits = {"changes": 0, "share": 1, "p50": None, "fairness": 2, "end": 0}
                shown = [
                    with_interval(
                        values, digits_of(values) if digits[name] is None else digits[name]
                    )
                    for name, values in found.items()
                ]
                rows.append([*cells, code(variant), *shown])
        penalty = "penalty, % of CPU time"
        yield table(
            [*columns, "policy", "changes", penalty, "latency p50, ms", "fairness", "end, ms"], rows
        )
        yield ""
