"""The observations of Vaswani and Zahorjan, beside the simulation."""

from collections.abc import Iterator
from itertools import chain

from marks import Judged, MarkedTable, fitted, judged, row, table
from published import TITLES
from space_sharing_runs import FUTURE, MIXES, NO_PRI, OTHERS, Simulations

from dfopt_models.response_time import GrowthPath, crossovers
from dfopt_models.space_sharing import read_mix
from dfopt_models.space_sharing.response_model import response_model

CLOSE = 0.02
"""Response times that differ by a smaller share count as the same."""

DIVERGED = 0.005
"""Curves that differ by a larger share begin to diverge."""

UNFAIR = 1.5
"""A response time more than this many times that under Equipartition is unfair."""

FAR = 2
"""Which of the future machines is "quite far in the future"."""

FITTED_MIX = "mix-5"
"""The mix whose reallocations and affinities were fitted."""


def observations(found: Simulations) -> MarkedTable:
    """Return the paper's observations, each with the simulated figures."""
    columns = ("", "observation", "criterion", "baseline", "simulated", "")
    return table(columns, chain(today(found), on_future_machines(found)))


def today(found: Simulations) -> Iterator[tuple[object, ...]]:
    """Yield the observations of section 6."""
    ratios = found.relative
    dynamic = [one[policy] for one in ratios.values() for policy in OTHERS]
    better = sum(ratio < 1 for ratio in dynamic)
    slower = ", ".join(
        f"{job} in mix {MIXES[name]}"
        for (name, job), one in ratios.items()
        if any(one[policy] >= 1 for policy in OTHERS)
    )
    yield (
        1, "The dynamic policies beat Equipartition, for all jobs",
        "all ratios of response times below 1", "Equipartition itself, 1: fails",
        f"better in {better} of {len(dynamic)} cases, in the others at most "
        f"{max(dynamic) - 1:.1%} worse; ratios from {min(dynamic):.3f}",
        judged(holds=max(dynamic) < 1, baseline_holds=False, remark=slower),
    )  # fmt: skip
    for number, text, policy, before in (
        (2, "Affinity scheduling brings little today", "dyn-aff", "dynamic"),
        (3, "A yield delay brings little today", "dyn-aff-delay", "dyn-aff"),
    ):
        change = max(abs(one[policy] / one[before] - 1) for one in ratios.values())
        yield (
            number, text, f"less than {CLOSE:.0%} in all mixes",
            f"{TITLES[before]} in both places, 0 %: holds",
            f"{TITLES[policy]} and {TITLES[before]} differ by at most {change:.1%}",
            judged(holds=change < CLOSE, baseline_holds=True),
        )  # fmt: skip
    unfair, fair = ([one[policy] for one in ratios.values()] for policy in (NO_PRI, "dyn-aff"))
    yield (
        4, "Fairness must not be given up for affinity",
        f"some job takes more than {UNFAIR} times as long as under Equipartition",
        f"Dyn-Aff, at most {max(fair):.2f}: {says(max(fair) > UNFAIR)}",
        f"under Dyn-Aff-NoPri the ratios are {min(unfair):.2f} to {max(unfair):.2f}",
        judged(holds=max(unfair) > UNFAIR, baseline_holds=max(fair) > UNFAIR),
    )  # fmt: skip


def on_future_machines(found: Simulations) -> Iterator[tuple[object, ...]]:
    """Yield the observations of section 7."""
    pairs, ahead = list(found.relative), found.future
    (first, job), worst = max(
        ((pair, ahead[(*pair, "dyn-aff-delay")][FAR]) for pair in pairs), key=lambda one: one[1]
    )
    yield (
        5, "The best dynamic policy, Dyn-Aff-Delay, stays as good as Equipartition or better, "
        "unless machines grow very much",
        f"ratios of at most {1 + CLOSE} at s · c = {FUTURE[FAR]}",
        "Equipartition itself, 1: holds",
        f"at most {worst:.3f} ({job} in mix {MIXES[first]}), and the crossover is at "
        f"{crossover_of(found, first, job, 'dyn-aff-delay')}",
        judged(holds=worst <= 1 + CLOSE, baseline_holds=True),
    )  # fmt: skip

    def apart(worse: str, better: str) -> dict[tuple[str, str], tuple[float, float]]:
        """Return by how much one is slower than the other, today and on the last machine."""
        return {
            pair: tuple(
                ahead[(*pair, worse)][place] / ahead[(*pair, better)][place] - 1
                for place in (0, -1)
            )
            for pair in pairs
        }

    affinity = apart("dynamic", "dyn-aff")
    shown = affinity["mix-1", "MVA"][-1]
    (first, job) = max(affinity, key=lambda pair: affinity[pair][-1])
    yield (
        6, "Affinity scheduling matters more on faster machines (shown by Figure 8, for mix #1)",
        f"in mix #1 Dynamic is slower than Dyn-Aff by more than {DIVERGED:.1%} at "
        f"s · c = {FUTURE[-1]:,}",
        "Dynamic in both places, 0 %: fails",
        f"slower by {shown:.1%}; in other mixes by up to {affinity[first, job][-1]:.1%} "
        f"({job} in mix {MIXES[first]})",
        judged(holds=shown > DIVERGED, baseline_holds=False),
    )  # fmt: skip
    delay = apart("dyn-aff", "dyn-aff-delay")
    own = {pair: delay[pair] for pair in pairs if pair[0] == FITTED_MIX}
    yield (
        7, "So does a yield delay (shown by Figure 12, for mix #5)",
        f"Dyn-Aff is slower than Dyn-Aff-Delay by more at s · c = {FUTURE[-1]:,} than today",
        "—",
        grown(own) + "; crossovers with Equipartition along s = c: "
        + "; ".join(
            f"{TITLES[policy]} "
            + " and ".join(crossover_of(found, *pair, policy) for pair in own)
            for policy in ("dyn-aff", "dyn-aff-delay")
        ),
        fitted(met=all(last > now for now, last in own.values()),
               remark="arithmetic of Table 1 and of the fitted reallocations"),
    )  # fmt: skip
    others = {pair: delay[pair] for pair in pairs if pair not in own}
    yield (
        "", "the same in the other mixes", "the same, for all jobs",
        "Dyn-Aff in both places, 0 % and 0 %: fails", grown(others), other_mixes(others),
    )  # fmt: skip


def other_mixes(found: dict[tuple[str, str], tuple[float, float]]) -> Judged:
    """Return the mark of a delay that matters more later, with the jobs where it does not."""
    less = [
        f"{job} in mix {MIXES[mix]}" for (mix, job), (now, last) in found.items() if last <= now
    ]
    return judged(holds=not less, baseline_holds=False, remark=", ".join(less))


def grown(found: dict[tuple[str, str], tuple[float, float]]) -> str:
    """Return differences today and later, in words."""
    return ", ".join(
        f"{job} in mix {MIXES[mix]} {now:.1%} → {last:.1%}".replace("-", "−")
        for (mix, job), (now, last) in found.items()
    )


def says(holds: bool) -> str:
    """Return whether a criterion holds, in a word."""
    return "holds" if holds else "fails"


def crossover_of(found: Simulations, name: str, job: str, policy: str) -> str:
    """Return the crossovers of a policy with Equipartition along s = c."""
    model = response_model(read_mix(name), list(found.mixes[name].values()))
    crossings = crossovers(model.comparison(job, policy), GrowthPath.EQUAL)
    return " and ".join(f"{one.product:,.0f}" for one in crossings) or "nowhere"


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
