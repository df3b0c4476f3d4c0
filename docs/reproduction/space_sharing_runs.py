"""The simulations of the report about space sharing, and the figures taken from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from published import TABLE_3_POLICIES
from tie_breaks import tie_breaks, with_parameters

from dfopt.confidence import Interval, confidence_interval
from dfopt_models.response_time import relative_response_time
from dfopt_models.space_sharing import Mix, PolicySummary, read_mix, simulate
from dfopt_models.space_sharing.simulation import response_model

SEEDS = range(10)
TIE_BREAK_SEEDS = range(2)
MIXES = {f"mix-{number}": f"#{number}" for number in range(1, 7)}
BASELINE, NO_PRI = "equipartition", "dyn-aff-nopri"
OTHERS = ("dynamic", "dyn-aff", "dyn-aff-delay")
APPLICATIONS = ("MATRIX", "GRAVITY")
FUTURE = (1, 16, 256, 4096)

Means = dict[tuple[str, str, str], float]
"""By policy, application and figure."""


def simulated(mix: Mix, policies: Sequence[str], seeds: Sequence[int]) -> dict[str, PolicySummary]:
    """Simulate a mix, and return what came out by policy."""
    summaries, complete = simulate(mix, policies, seeds=seeds)
    if not complete:
        raise KeyboardInterrupt
    return {summary.policy: summary for summary in summaries}


def figure(summary: PolicySummary, application: str, name: str) -> Interval:
    """Return a figure of an application."""
    return summary.job(application).figures[name]


def paired(before: PolicySummary, after: PolicySummary, application: str) -> Interval:
    """Return the mean change of the response time, over replications of one seed each."""
    own, theirs = after.job(application).by_seed, before.job(application).by_seed
    return confidence_interval(
        [
            (own[seed]["response_time"] or 0.0) - (theirs[seed]["response_time"] or 0.0)
            for seed in own
        ]
    )


@dataclass(frozen=True)
class Combination:
    """Choices of tie-breaks, and the means of mix #5 under them."""

    choices: dict[str, object]
    means: Means


@dataclass(frozen=True)
class Simulations:
    """All mixes under all policies, and mix #5 under all combinations of tie-breaks."""

    mixes: dict[str, dict[str, PolicySummary]]
    combinations: list[Combination]

    @cached_property
    def relative(self) -> dict[tuple[str, str], dict[str, float]]:
        """Response times relative to Equipartition, by mix and application, then by policy."""
        return {
            (name, job.application): {
                policy: figure(summaries[policy], job.application, "response_time").mean
                / job.figures["response_time"].mean
                for policy in (*OTHERS, NO_PRI)
            }
            for name, summaries in self.mixes.items()
            for job in summaries[BASELINE].jobs
        }

    @cached_property
    def future(self) -> dict[tuple[str, str, str], list[float]]:
        """The same on future machines, s = c, by mix, application and policy."""
        found = {}
        for name, summaries in self.mixes.items():
            model = response_model(read_mix(name), list(summaries.values()))
            for comparison in model.comparisons():
                if comparison.policy in OTHERS:
                    roots = [product**0.5 for product in FUTURE]
                    found[name, comparison.job, comparison.policy] = [
                        float(relative_response_time(comparison, root, root)) for root in roots
                    ]
        return found


def simulations() -> Simulations:
    """Simulate everything."""
    mixes = {}
    for name in MIXES:
        mixes[name] = simulated(read_mix(name), (BASELINE, *OTHERS, NO_PRI), SEEDS)
        print(name, flush=True)
    combinations = []
    for choices in tie_breaks():
        mix = with_parameters(read_mix("mix-5"), **choices)
        runs = simulated(mix, TABLE_3_POLICIES, TIE_BREAK_SEEDS)
        means = {
            (policy, application, name): figure(summary, application, name).mean
            for policy, summary in runs.items()
            for application in APPLICATIONS
            for name in ("response_time", "reallocations", "affinity")
        }
        combinations.append(Combination(choices, means))
    return Simulations(mixes, combinations)
