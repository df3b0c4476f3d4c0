"""Tables 3 and 4 of Vaswani and Zahorjan, beside the simulation."""

from collections.abc import Iterator
from itertools import pairwise

from marks import (
    COUNTS,
    RELATIVE,
    SHARES,
    Judged,
    MarkedTable,
    agree,
    effect_mark,
    fitted,
    judged,
    table,
)
from published import TABLE_3, TABLE_3_POLICIES, TABLE_4, TITLES
from space_sharing_runs import (
    APPLICATIONS,
    BASELINE,
    MIXES,
    NO_PRI,
    Combination,
    Simulations,
    figure,
    paired,
)

from dfopt.simulate.statistics import Interval
from dfopt_models.space_sharing import PolicySummary

FITTED = {
    ("dynamic", "MATRIX", "response_time"),
    ("dynamic", "GRAVITY", "response_time"),
    ("dynamic", "GRAVITY", "reallocations"),
    ("dyn-aff-delay", "GRAVITY", "reallocations"),
}
"""What of Table 3 a number was fitted to; the tie-breaks were fitted to all affinities."""

FITTED_MIX = ("mix-1", "dyn-aff")
"""What of Table 4 a number was fitted to."""

Range = tuple[float, float]


def with_error(interval: Interval, places: int) -> str:
    """Return a mean with its confidence interval."""
    return f"{interval.mean:.{places}f} ± {interval.half_width or 0:.{places}f}"


def difference(mean: float, published: float) -> str:
    """Return the relative difference of a mean from its published value."""
    return f"{mean / published - 1:+.1%}".replace("-", "−")


def table_3(found: Simulations) -> MarkedTable:
    """Return Table 3, published and simulated."""
    columns = ("policy", "job", "figure", "published", "simulated", "difference",
               "over tie-breaks", "without affinity and delay", "")  # fmt: skip
    rows = (
        (TITLES[policy], application, *cells)
        for policy in TABLE_3_POLICIES
        for application in APPLICATIONS
        for cells in rows_of_table_3(found, policy, application)
    )
    return table(columns, rows)


def rows_of_table_3(
    found: Simulations, policy: str, application: str
) -> Iterator[tuple[object, ...]]:
    """Yield the figures of a job under a policy, with the one under Dynamic as the baseline."""
    runs = found.mixes["mix-5"]
    published = TABLE_3[policy, application]

    def spread(name: str) -> Range:
        means = [one.means[policy, application, name] for one in found.combinations]
        return min(means), max(means)

    def mark(name: str, target: float, share: float) -> Judged:
        mean, baseline = (figure(runs[one], application, name).mean for one in (policy, "dynamic"))
        holds = agree(mean, target, share)
        if (policy, application, name) in FITTED:
            return fitted(met=holds)
        return judged(
            holds=holds, baseline_holds=policy == "dynamic" or agree(baseline, target, share)
        )

    def without(text: str) -> str:
        return "—" if policy == "dynamic" else text

    before = runs["dynamic"]
    time = figure(runs[policy], application, "response_time")
    least, most = spread("response_time")
    yield (
        "response time, s", f"{published.response_time:.1f}", with_error(time, 2),
        difference(time.mean, published.response_time), f"{least:.1f} to {most:.1f}",
        without(f"{figure(before, application, 'response_time').mean:.2f}"),
        mark("response_time", published.response_time, RELATIVE),
    )  # fmt: skip
    count = figure(runs[policy], application, "reallocations")
    least, most = spread("reallocations")
    yield (
        "reallocations", published.reallocations, with_error(count, 0),
        difference(count.mean, published.reallocations), f"{least:.0f} to {most:.0f}",
        without(f"{figure(before, application, 'reallocations').mean:.0f}"),
        mark("reallocations", published.reallocations, COUNTS),
    )  # fmt: skip
    interval = figure(runs[policy], application, "allocation").mean * time.mean / count.mean
    yield (
        "interval, ms", f"{published.interval * 1000:.0f}", f"{interval * 1000:.0f}",
        difference(interval, published.interval), "", "—",
        fitted(
            met=agree(interval, published.interval, COUNTS),
            remark="allocation × response time / reallocations",
        ),
    )  # fmt: skip
    share = figure(runs[policy], application, "affinity")
    least, most = spread("affinity")
    met = abs(share.mean - published.affinity) <= SHARES
    inside = not met and least <= published.affinity <= most
    yield (
        "affinity, %", f"{published.affinity:.0%}".rstrip("%"),
        f"{100 * share.mean:.0f} ± {100 * (share.half_width or 0):.0f}",
        f"{100 * (share.mean - published.affinity):+.0f} points".replace("-", "−"),
        f"{100 * least:.0f} to {100 * most:.0f}",
        without(f"{100 * figure(before, application, 'affinity').mean:.0f}"),
        fitted(met=met, remark="but inside the range over tie-breaks" if inside else ""),
    )  # fmt: skip


def nearest_to(policy: str, combinations: list[Combination]) -> str:
    """Return the tie-breaks that come nearest to the affinity of a policy, with their values."""

    def distance(combination: Combination) -> float:
        return sum(
            (combination.means[policy, name, "affinity"] - TABLE_3[policy, name].affinity) ** 2
            for name in APPLICATIONS
        )

    nearest = min(combinations, key=distance)
    shown = ", ".join(f"{name} {value}".lower() for name, value in nearest.choices.items())
    values = " and ".join(
        f"{100 * nearest.means[policy, name, 'affinity']:.0f}" for name in APPLICATIONS
    )
    published = " and ".join(f"{100 * TABLE_3[policy, name].affinity:.0f}" for name in APPLICATIONS)
    return f"{TITLES[policy]}: {values} with {shown} (published: {published})"


def table_4(found: Simulations) -> MarkedTable:
    """Return Table 4, published and simulated.

    The baseline of Dyn-Aff-NoPri is Dyn-Aff, and that of Dyn-Aff is Equipartition.
    """

    def rows() -> Iterator[tuple[object, ...]]:
        for (name, policy), published in TABLE_4.items():
            application = job_of(name)
            other = "dyn-aff" if policy == NO_PRI else BASELINE
            time, without = (
                figure(found.mixes[name][one], application, "response_time")
                for one in (policy, other)
            )
            holds = agree(time.mean, published, RELATIVE)
            yield (
                MIXES[name], TITLES[policy], f"{published:.2f}", with_error(time, 2),
                difference(time.mean, published), f"{TITLES[other]}: {without.mean:.2f}",
                fitted(met=holds) if (name, policy) == FITTED_MIX
                else judged(
                    holds=holds, baseline_holds=agree(without.mean, published, RELATIVE)
                ),
            )  # fmt: skip

    return table(
        ("mix", "policy", "published, s", "simulated, s", "difference", "baseline, s", ""), rows()
    )


def job_of(mix: str) -> str:
    """Return the application of a homogeneous mix."""
    return "MVA" if mix == "mix-1" else "GRAVITY"


def effects(runs: dict[str, PolicySummary]) -> MarkedTable:
    """Return by how much affinity and delay change response times in Table 3."""

    def rows() -> Iterator[tuple[object, ...]]:
        for before, after in pairwise(TABLE_3_POLICIES):
            for application in APPLICATIONS:
                published = (
                    TABLE_3[after, application].response_time
                    - TABLE_3[before, application].response_time
                )
                found = paired(runs[before], runs[after], application)
                change = f"{TITLES[before]} → {TITLES[after]}"
                yield effect(change, application, published, found, places=1)

    return table(("change", "job", "published, s", "simulated, s", ""), rows())


def effects_of_fairness(found: Simulations) -> MarkedTable:
    """Return by how much giving up fairness changes response times in Table 4."""

    def rows() -> Iterator[tuple[object, ...]]:
        for name in dict.fromkeys(name for name, _ in TABLE_4):
            published = TABLE_4[name, NO_PRI] - TABLE_4[name, "dyn-aff"]
            runs = found.mixes[name]
            change = paired(runs["dyn-aff"], runs[NO_PRI], job_of(name))
            yield effect(MIXES[name], job_of(name), published, change, places=2)

    columns = ("Dyn-Aff → Dyn-Aff-NoPri in mix", "job", "published, s", "simulated, s", "")
    return table(columns, rows())


def effect(
    change: str, job: str, published: float, found: Interval, *, places: int
) -> tuple[object, ...]:
    """Return the row of a change."""
    shown = (f"{published:+.{places}f}", f"{found.mean:+.2f} ± {found.half_width or 0.0:.2f}")
    return change, job, *(text.replace("-", "−") for text in shown), effect_mark(published, found)


def conservation(runs: dict[str, PolicySummary]) -> dict[str, str]:
    """Return the numbers that explain why the reallocations of MATRIX cannot be met."""
    published = {name: TABLE_3["dynamic", name] for name in APPLICATIONS}
    ratio = published["MATRIX"].response_time / published["GRAVITY"].response_time
    count = figure(runs["dynamic"], "MATRIX", "reallocations").mean
    rates = [one.reallocations / one.response_time for one in published.values()]
    allocated = sum(one.allocation for one in published.values())
    surplus = abs(rates[1] - rates[0])
    return {
        "surplus": f"{surplus:.1f}",
        "idle": f"{16 - allocated:.1f}",
        "each": f"{1000 * round(16 - allocated, 1) / surplus:.0f}",
        "ratio": f"{ratio:.3f}",
        "due": f"{published['GRAVITY'].reallocations * ratio:,.0f}",
        "given": f"{published['MATRIX'].reallocations:,}",
        "simulated": f"{count:,.0f}",
        "allocations": f"{allocated:.1f}",
    }
