"""Tables 3 and 4 of Vaswani and Zahorjan, beside the simulation."""

from collections.abc import Iterator
from itertools import pairwise

from marks import RELATIVE, Evidence, agree, effect, table
from published import TABLE_3, TABLE_3_POLICIES, TABLE_4, TITLES
from space_sharing_runs import (
    APPLICATIONS,
    MIXES,
    NO_PRI,
    Combination,
    Simulations,
    figure,
    paired,
)

from dfopt.confidence import Interval
from dfopt_models.space_sharing import PolicySummary


def with_error(interval: Interval, places: int, scale: int = 1) -> str:
    """Return a mean with its confidence interval."""
    error = scale * (interval.half_width or 0)
    return f"{scale * interval.mean:.{places}f} ± {error:.{places}f}"


def table_3(found: Simulations) -> str:
    """Return Table 3, published and simulated, with ranges over the tie-breaks."""

    def rows() -> Iterator[tuple[object, ...]]:
        for policy in TABLE_3_POLICIES:
            for application in APPLICATIONS:
                published = TABLE_3[policy, application]
                for title, name, printed, places, scale in (
                    ("response time, s", "response_time", published.response_time, 1, 1),
                    ("reallocations", "reallocations", published.reallocations, 0, 1),
                    ("affinity, %", "affinity", round(100 * published.affinity), 0, 100),
                ):
                    mean = figure(found.mixes["mix-5"][policy], application, name)
                    means = [one.means[policy, application, name] for one in found.combinations]
                    low, high = scale * min(means), scale * max(means)
                    yield (
                        TITLES[policy], application, title, printed,
                        with_error(mean, 2 if places else 0, scale),
                        f"{low:.{places}f} to {high:.{places}f}",
                    )  # fmt: skip

    return table(("policy", "job", "figure", "published", "simulated", "over tie-breaks"), rows())


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


def table_4(found: Simulations) -> Iterator[Evidence]:
    """Yield Table 4 without mix #1: it was fitted, and both of its policies are the same there."""
    for (name, policy), published in TABLE_4.items():
        if name == "mix-1":
            continue
        time = figure(found.mixes[name][policy], job_of(name), "response_time")
        yield Evidence(
            f"{job_of(name)} in mix {MIXES[name]} under {TITLES[policy]} (Table 4)",
            f"{published:.2f} s",
            f"{with_error(time, 2)} s",
            f"within {RELATIVE:.0%}",
            agree(time.mean, published),
        )


def job_of(mix: str) -> str:
    """Return the application of a homogeneous mix."""
    return "MVA" if mix == "mix-1" else "GRAVITY"


def effects(runs: dict[str, PolicySummary]) -> Iterator[Evidence]:
    """Yield by how much affinity and delay change response times in Table 3."""
    for before, after in pairwise(TABLE_3_POLICIES):
        for application in APPLICATIONS:
            published = (
                TABLE_3[after, application].response_time
                - TABLE_3[before, application].response_time
            )
            yield effect(
                f"{application} in mix #5 from {TITLES[before]} to {TITLES[after]} (Table 3)",
                published,
                paired(runs[before], runs[after], application),
                places=1,
            )


def effects_of_fairness(found: Simulations) -> Iterator[Evidence]:
    """Yield by how much giving up fairness changes response times in Table 4."""
    for name in dict.fromkeys(name for name, _ in TABLE_4):
        runs = found.mixes[name]
        yield effect(
            f"{job_of(name)} in mix {MIXES[name]} from Dyn-Aff to Dyn-Aff-NoPri (Table 4)",
            TABLE_4[name, NO_PRI] - TABLE_4[name, "dyn-aff"],
            paired(runs["dyn-aff"], runs[NO_PRI], job_of(name)),
            places=2,
        )


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
        "more": f"{count / published['MATRIX'].reallocations - 1:.0%}",
        "allocations": f"{allocated:.1f}",
    }
