"""The observations of Vaswani and Zahorjan, beside the simulation."""

from collections.abc import Iterator

from marks import Evidence, row
from published import TITLES
from space_sharing_runs import FUTURE, MIXES, NO_PRI, OTHERS, Simulations

DIVERGED = 0.005
"""Curves that differ by a larger share begin to diverge."""

UNFAIR = 1.5
"""A response time more than this many times that under Equipartition is unfair."""

FITTED_MIX = "mix-5"
"""The mix whose reallocations and affinities were fitted."""


def observations(found: Simulations) -> Iterator[Evidence]:
    """Yield the paper's observations that are evidence: two of section 6, two of section 7."""
    ratios = found.relative
    dynamic = [one[policy] for one in ratios.values() for policy in OTHERS]
    better = sum(ratio < 1 for ratio in dynamic)
    yield Evidence(
        "The dynamic policies beat Equipartition, for all jobs",
        "Figure 5",
        f"better in {better} of {len(dynamic)} cases, in the others at most {max(dynamic) - 1:.1%} "
        f"worse; ratios of response times from {min(dynamic):.3f}",
        "all ratios below 1",
        max(dynamic) < 1,
    )
    unfair, fair = ([one[policy] for one in ratios.values()] for policy in (NO_PRI, "dyn-aff"))
    yield Evidence(
        "Fairness must not be given up for affinity (weak: any job that must wait is enough)",
        "Figure 6",
        f"under Dyn-Aff-NoPri the ratios are {min(unfair):.2f} to {max(unfair):.2f}, under Dyn-Aff "
        f"at most {max(fair):.2f}",
        f"under Dyn-Aff-NoPri some job takes more than {UNFAIR} times as long as under "
        "Equipartition, and none under Dyn-Aff",
        max(unfair) > UNFAIR >= max(fair),
    )
    affinity = apart(found, "dynamic", "dyn-aff")
    shown = affinity["mix-1", "MVA"][-1]
    (first, job) = max(affinity, key=lambda pair: affinity[pair][-1])
    yield Evidence(
        "Affinity scheduling matters more on faster machines",
        "Figure 8, for mix #1",
        f"Dynamic is slower than Dyn-Aff by {shown:.1%}; in other mixes by up to "
        f"{affinity[first, job][-1]:.1%} ({job} in mix {MIXES[first]})",
        f"in mix #1 by more than {DIVERGED:.1%} at s · c = {FUTURE[-1]:,}",
        shown > DIVERGED,
    )
    delay = {
        pair: change
        for pair, change in apart(found, "dyn-aff", "dyn-aff-delay").items()
        if pair[0] != FITTED_MIX
    }
    yield Evidence(
        "So does a yield delay, in the mixes whose reallocations were not fitted",
        "Figure 12, for mix #5",
        grown(delay),
        f"Dyn-Aff is slower than Dyn-Aff-Delay by more at s · c = {FUTURE[-1]:,} than today, for "
        "all jobs",
        all(last > now for now, last in delay.values()),
    )


def apart(
    found: Simulations, worse: str, better: str
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return by how much one is slower than the other, today and on the last machine."""
    ahead = found.future
    return {
        pair: tuple(
            ahead[(*pair, worse)][place] / ahead[(*pair, better)][place] - 1 for place in (0, -1)
        )
        for pair in found.relative
    }


def grown(found: dict[tuple[str, str], tuple[float, float]]) -> str:
    """Return differences today and later, in words."""
    return ", ".join(
        f"{job} in mix {MIXES[mix]} {now:.1%} → {last:.1%}".replace("-", "−")
        for (mix, job), (now, last) in found.items()
    )


def relative_table(ratios: dict[tuple[str, str], dict[str, float]]) -> Iterator[str]:
    """Yield the response times relative to Equipartition, as in Figures 5 and 6."""
    policies = (*OTHERS, NO_PRI)
    yield row("mix", "job", *(TITLES[policy] for policy in policies))
    yield row(*["---"] * (2 + len(policies)))
    for (name, application), found in ratios.items():
        yield row(MIXES[name], application, *(f"{found[policy]:.3f}" for policy in policies))


def future_table(ahead: dict[tuple[str, str, str], list[float]]) -> Iterator[str]:
    """Yield the rows of the future machines."""
    yield row("mix", "job", "policy", *(f"s · c = {product:,}" for product in FUTURE))
    yield row(*["---"] * (3 + len(FUTURE)))
    for (name, job, policy), ratios in ahead.items():
        yield row(MIXES[name], job, TITLES[policy], *(f"{ratio:.3f}" for ratio in ratios))
