"""Writes docs/background/space-sharing.md: published figures beside simulated ones.

``python docs/reproduction/report.py`` takes a few minutes, and gives the same page for the same
seeds. It makes every number of the page.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from string import Template

from published import TABLE_3, TABLE_3_POLICIES, TABLE_4, TITLES
from tie_breaks import tie_breaks, with_parameters

from dfopt.simulate.statistics import Interval, confidence_interval
from dfopt_models.response_time import GrowthPath, crossovers, relative_response_time
from dfopt_models.space_sharing import PolicySummary, read_mix, simulate
from dfopt_models.space_sharing.response_model import response_model

HERE = Path(__file__).parent
PAGE = HERE.parent / "background" / "space-sharing.md"

SEEDS = range(10)
TIE_BREAK_SEEDS = range(2)
MIXES = {f"mix-{number}": f"#{number}" for number in range(1, 7)}
NO_PRI = "dyn-aff-nopri"
OTHERS = ("dynamic", "dyn-aff", "dyn-aff-delay")
APPLICATIONS = ("MATRIX", "GRAVITY")

CALIBRATED, PREDICTED, NOT_REPRODUCED = "calibrated", "predicted", "not reproduced"
FUTURE = (1, 16, 256, 4096)
CLOSE = 0.02
"""Response times that differ by a smaller share count as the same."""

NEAR = 0.1
"""Shares that differ by less count as near each other."""

DIVERGED = 0.005
"""Curves that differ by a larger share begin to diverge."""

HALF = 0.5
"""An effect of this share of a published one, or of its inverse, has its size."""

UNFAIR = 1.5
"""A response time more than this many times that under Equipartition is unfair."""

Range = tuple[float, float]
MIXES_RUN = dict[str, dict[str, PolicySummary]]


def simulated(name: str, policies: Sequence[str]) -> dict[str, PolicySummary]:
    """Simulate a shipped mix."""
    summaries, complete = simulate(read_mix(name), policies, seeds=SEEDS)
    if not complete:
        raise KeyboardInterrupt
    return {summary.policy: summary for summary in summaries}


def figure(summary: PolicySummary, application: str, name: str) -> Interval:
    """Return a figure of an application."""
    return summary.job(application).figures[name]


def with_error(interval: Interval, places: int) -> str:
    """Return a mean with its confidence interval."""
    return f"{interval.mean:.{places}f} ± {interval.half_width or 0:.{places}f}"


def difference(mean: float, published: float) -> str:
    """Return the relative difference of a mean from its published value."""
    return f"{mean / published - 1:+.1%}".replace("-", "−")


def row(*cells: object) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


Means = dict[tuple[str, str, str], float]
"""By policy, application and figure."""


def means_of_tie_breaks() -> list[tuple[dict[str, object], Means]]:
    """Return the means under each combination of tie-breaks."""
    found = []
    for choices in tie_breaks():
        mix = with_parameters(read_mix("mix-5"), **choices)
        summaries, complete = simulate(mix, TABLE_3_POLICIES, seeds=TIE_BREAK_SEEDS)
        if not complete:
            raise KeyboardInterrupt
        means = {
            (summary.policy, application, name): figure(summary, application, name).mean
            for summary in summaries
            for application in APPLICATIONS
            for name in ("response_time", "reallocations", "affinity")
        }
        found.append((choices, means))
    return found


def ranges_of(found: list[tuple[dict[str, object], Means]]) -> dict[tuple[str, str, str], Range]:
    """Return the least and greatest mean."""
    return {
        key: (min(means[key] for _, means in found), max(means[key] for _, means in found))
        for key in found[0][1]
    }


def nearest_to(policy: str, found: list[tuple[dict[str, object], Means]]) -> str:
    """Return the tie-breaks that come nearest to the affinity of a policy, with their values."""

    def distance(combination: tuple[dict[str, object], Means]) -> float:
        return sum(
            (combination[1][policy, name, "affinity"] - TABLE_3[policy, name].affinity) ** 2
            for name in APPLICATIONS
        )

    choices, means = min(found, key=distance)
    shown = ", ".join(f"{name} {value}".lower() for name, value in choices.items())
    values = " and ".join(f"{100 * means[policy, name, 'affinity']:.0f}" for name in APPLICATIONS)
    published = " and ".join(f"{100 * TABLE_3[policy, name].affinity:.0f}" for name in APPLICATIONS)
    return f"{TITLES[policy]}: {values} with {shown} (published: {published})"


def table_3(
    runs: dict[str, PolicySummary], ranges: dict[tuple[str, str, str], Range]
) -> Iterator[str]:
    """Yield the rows of Table 3, published and simulated."""
    yield row("policy", "job", "figure", "published", "simulated", "difference",
              "over tie-breaks", "")  # fmt: skip
    yield row(*["---"] * 8)
    for policy in TABLE_3_POLICIES:
        for application in APPLICATIONS:
            published = TABLE_3[policy, application]
            head = (TITLES[policy], application)
            time = figure(runs[policy], application, "response_time")
            least, most = ranges[policy, application, "response_time"]
            yield row(
                *head, "response time, s", f"{published.response_time:.1f}", with_error(time, 2),
                difference(time.mean, published.response_time), f"{least:.1f} to {most:.1f}",
                CALIBRATED if policy == "dynamic" else PREDICTED,
            )  # fmt: skip
            count = figure(runs[policy], application, "reallocations")
            least, most = ranges[policy, application, "reallocations"]
            fitted = application == "GRAVITY" and policy != "dyn-aff"
            yield row(
                *head, "reallocations", published.reallocations, with_error(count, 0),
                difference(count.mean, published.reallocations), f"{least:.0f} to {most:.0f}",
                CALIBRATED if fitted else PREDICTED if application == "GRAVITY" else NOT_REPRODUCED,
            )  # fmt: skip
            held = figure(runs[policy], application, "allocation").mean * time.mean
            interval = held / count.mean
            yield row(
                *head, "interval, ms", f"{published.interval * 1000:.0f}",
                f"{interval * 1000:.0f}", difference(interval, published.interval), "",
                # Under Dynamic allocation, response time and reallocations were all fitted.
                NOT_REPRODUCED if application == "MATRIX"
                else f"{CALIBRATED}: implied" if policy == "dynamic" else PREDICTED,
            )  # fmt: skip
            share = figure(runs[policy], application, "affinity")
            least, most = ranges[policy, application, "affinity"]
            yield row(
                *head, "affinity, %", f"{published.affinity:.0%}".rstrip("%"),
                f"{100 * share.mean:.0f} ± {100 * (share.half_width or 0):.0f}",
                f"{100 * (share.mean - published.affinity):+.0f} points".replace("-", "−"),
                f"{100 * least:.0f} to {100 * most:.0f}",
                affinity_mark(published.affinity, share.mean, least, most),
            )  # fmt: skip


def affinity_mark(published: float, simulated_share: float, least: float, most: float) -> str:
    """Say how far the affinity is reproduced."""
    if abs(simulated_share - published) <= NEAR:
        return f"calibrated by tie-breaks, to {100 * NEAR:.0f} points"
    inside = least <= published <= most
    within = ", but inside the range over tie-breaks" if inside else ""
    return f"{NOT_REPRODUCED}{within}"


def table_4(runs: MIXES_RUN) -> Iterator[str]:
    """Yield the rows of Table 4, published and simulated."""
    yield row("mix", "policy", "published, s", "simulated, s", "difference", "")
    yield row(*["---"] * 6)
    for (name, policy), published in TABLE_4.items():
        application = "MVA" if name == "mix-1" else "GRAVITY"
        time = figure(runs[name][policy], application, "response_time")
        off = abs(time.mean / published - 1)
        mark = CALIBRATED if (name, policy) == ("mix-1", "dyn-aff") else "level met"
        yield row(
            MIXES[name], TITLES[policy], f"{published:.2f}", with_error(time, 2),
            difference(time.mean, published), mark if off < CLOSE else NOT_REPRODUCED,
        )  # fmt: skip


def effects(runs: dict[str, PolicySummary]) -> Iterator[str]:
    """Yield by how much affinity and delay change response times in Table 3."""
    yield row("change", "job", "published, s", "simulated, s", "")
    yield row(*["---"] * 5)
    for before, after in pairwise(TABLE_3_POLICIES):
        for application in APPLICATIONS:
            published = (
                TABLE_3[after, application].response_time
                - TABLE_3[before, application].response_time
            )
            yield effect(f"{TITLES[before]} → {TITLES[after]}", application, published,
                         paired(runs[before], runs[after], application), places=1)  # fmt: skip


def effects_of_fairness(runs: MIXES_RUN) -> Iterator[str]:
    """Yield by how much giving up fairness changes response times in Table 4."""
    yield row("Dyn-Aff → Dyn-Aff-NoPri in mix", "job", "published, s", "simulated, s", "")
    yield row(*["---"] * 5)
    for name in dict.fromkeys(name for name, _ in TABLE_4):
        application = "MVA" if name == "mix-1" else "GRAVITY"
        published = TABLE_4[name, NO_PRI] - TABLE_4[name, "dyn-aff"]
        found = paired(runs[name]["dyn-aff"], runs[name][NO_PRI], application)
        yield effect(MIXES[name], application, published, found, places=2)


def paired(before: PolicySummary, after: PolicySummary, application: str) -> Interval:
    """Return the mean change of the response time, over replications of one seed each."""
    own, theirs = after.job(application).by_seed, before.job(application).by_seed
    return confidence_interval(
        [
            (own[seed]["response_time"] or 0.0) - (theirs[seed]["response_time"] or 0.0)
            for seed in own
        ]
    )


def effect(change: str, job: str, published: float, found: Interval, *, places: int) -> str:
    """Return the row of a change: it is reproduced if it has the sign and half the size."""
    half_width = found.half_width or 0.0
    if abs(found.mean) <= half_width:
        mark = f"{NOT_REPRODUCED}: not resolved"
    elif found.mean * published < 0:
        mark = f"{NOT_REPRODUCED}: the other sign"
    elif not HALF <= found.mean / published <= 1 / HALF:
        mark = f"{NOT_REPRODUCED}: the same sign, another size"
    else:
        mark = PREDICTED
    shown = f"{found.mean:+.2f} ± {half_width:.2f}"
    return row(
        change, job, *(text.replace("-", "−") for text in (f"{published:+.{places}f}", shown)), mark
    )


def relative(runs: MIXES_RUN) -> dict[tuple[str, str], dict[str, float]]:
    """Return response times relative to Equipartition, by mix and application."""
    return {
        (name, job.application): {
            policy: figure(summaries[policy], job.application, "response_time").mean
            / job.figures["response_time"].mean
            for policy in (*OTHERS, NO_PRI)
        }
        for name, summaries in runs.items()
        for job in summaries["equipartition"].jobs
    }


def relative_table(ratios: dict[tuple[str, str], dict[str, float]]) -> Iterator[str]:
    """Yield the response times relative to Equipartition, as in Figures 5 and 6."""
    policies = (*OTHERS, NO_PRI)
    yield row("mix", "job", *(TITLES[policy] for policy in policies))
    yield row(*["---"] * (2 + len(policies)))
    for (name, application), found in ratios.items():
        yield row(MIXES[name], application, *(f"{found[policy]:.3f}" for policy in policies))


def future(runs: MIXES_RUN) -> dict[tuple[str, str, str], list[float]]:
    """Return response times relative to Equipartition on future machines, s = c."""
    found = {}
    for name, summaries in runs.items():
        model = response_model(read_mix(name), list(summaries.values()))
        for comparison in model.comparisons():
            if comparison.policy in OTHERS:
                roots = [product**0.5 for product in FUTURE]
                found[name, comparison.job, comparison.policy] = [
                    float(relative_response_time(comparison, root, root)) for root in roots
                ]
    return found


def future_table(ahead: dict[tuple[str, str, str], list[float]]) -> Iterator[str]:
    """Yield the rows of the future machines."""
    yield row("mix", "job", "policy", *(f"s · c = {product:,}" for product in FUTURE))
    yield row(*["---"] * (3 + len(FUTURE)))
    for (name, job, policy), ratios in ahead.items():
        yield row(MIXES[name], job, TITLES[policy], *(f"{ratio:.3f}" for ratio in ratios))


def crossover_of(runs: MIXES_RUN, name: str, job: str, policy: str) -> str:
    """Return the crossovers of a policy with Equipartition along s = c."""
    model = response_model(read_mix(name), list(runs[name].values()))
    found = crossovers(model.comparison(job, policy), GrowthPath.EQUAL)
    return " and ".join(f"{one.product:,.0f}" for one in found) or "nowhere"


def observations(
    runs: MIXES_RUN,
    ratios: dict[tuple[str, str], dict[str, float]],
    ahead: dict[tuple[str, str, str], list[float]],
) -> Iterator[str]:
    """Yield the paper's observations, each with the simulated figures."""
    yield row("", "observation", "simulated", "")
    yield row(*["---"] * 4)

    def said(number: int, text: str, found: str, holds: bool, but: str = "") -> str:
        return row(number, text, found, PREDICTED if holds else f"{NOT_REPRODUCED}{but}")

    dynamic = [found[policy] for found in ratios.values() for policy in OTHERS]
    better = sum(ratio < 1 for ratio in dynamic)
    slower = ", ".join(
        f"{job} in mix {MIXES[name]}"
        for (name, job), found in ratios.items()
        if any(found[policy] >= 1 for policy in OTHERS)
    )
    yield said(
        1, "The dynamic policies beat Equipartition, for all jobs",
        f"better in {better} of {len(dynamic)} cases, in the others at most "
        f"{max(dynamic) - 1:.1%} worse; ratios from {min(dynamic):.3f}", max(dynamic) <= 1,
        f" for {slower}",
    )  # fmt: skip
    affinity = [abs(found["dyn-aff"] / found["dynamic"] - 1) for found in ratios.values()]
    yield said(
        2, "Affinity scheduling brings little today",
        f"Dyn-Aff and Dynamic differ by at most {max(affinity):.1%}", max(affinity) < CLOSE,
    )  # fmt: skip
    delay = [abs(found["dyn-aff-delay"] / found["dyn-aff"] - 1) for found in ratios.values()]
    yield said(
        3, "A yield delay brings little today",
        f"Dyn-Aff-Delay and Dyn-Aff differ by at most {max(delay):.1%}", max(delay) < CLOSE,
    )  # fmt: skip
    unfair = [found[NO_PRI] for found in ratios.values()]
    yield said(
        4, "Fairness must not be given up for affinity",
        f"under Dyn-Aff-NoPri the ratios are {min(unfair):.2f} to {max(unfair):.2f}",
        max(unfair) > UNFAIR,
    )  # fmt: skip
    farther = FUTURE[2]
    (first, job), worst = max(
        ((pair, ahead[(*pair, "dyn-aff-delay")][2]) for pair in ratios), key=lambda one: one[1]
    )
    yield said(
        5, "The best dynamic policy, Dyn-Aff-Delay, stays as good as Equipartition or better, "
        "unless machines grow very much",
        f"at s · c = {farther} its ratio is at most {worst:.3f} ({job} in mix {MIXES[first]}), "
        f"and the crossover is at {crossover_of(runs, first, job, 'dyn-aff-delay')}",
        worst <= 1 + CLOSE,
    )  # fmt: skip
    spread = {
        pair: [
            ahead[(*pair, worse)][-1] / ahead[(*pair, better)][-1] - 1
            for worse, better in (("dynamic", "dyn-aff"), ("dyn-aff", "dyn-aff-delay"))
        ]
        for pair in ratios
    }
    (first, job) = max(spread, key=lambda pair: spread[pair][0])
    yield said(
        6, "Affinity scheduling matters more on faster machines (shown by Figure 8, for mix #1)",
        f"in mix #1 Dynamic is {spread['mix-1', 'MVA'][0]:.1%} slower than Dyn-Aff at "
        f"s · c = {FUTURE[-1]:,}; in others it is, by up to {spread[first, job][0]:.1%} "
        f"({job} in mix {MIXES[first]}; today at most {max(affinity):.1%})",
        spread["mix-1", "MVA"][0] > DIVERGED, " for the mix that the figure shows",
    )  # fmt: skip
    (first, job) = max(spread, key=lambda pair: spread[pair][1])
    yield said(
        7, "So does a yield delay",
        f"at s · c = {FUTURE[-1]:,} Dyn-Aff is up to {spread[first, job][1]:.1%} slower than "
        f"Dyn-Aff-Delay ({job} in mix {MIXES[first]}); crossovers of MATRIX and GRAVITY in mix #5 "
        f"along s = c: Dyn-Aff {crossover_of(runs, 'mix-5', 'MATRIX', 'dyn-aff')} and "
        f"{crossover_of(runs, 'mix-5', 'GRAVITY', 'dyn-aff')}, Dyn-Aff-Delay "
        f"{crossover_of(runs, 'mix-5', 'MATRIX', 'dyn-aff-delay')} and "
        f"{crossover_of(runs, 'mix-5', 'GRAVITY', 'dyn-aff-delay')}",
        spread[first, job][1] > max(delay),
    )  # fmt: skip


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


def parameters() -> Iterator[str]:
    """Yield the fitted parameters with their targets, and the assumed ones."""
    import tomllib
    from importlib import resources

    folder = resources.files("dfopt_models.space_sharing") / "mixes"
    document = tomllib.loads((folder / "symmetry.toml").read_text(encoding="utf-8"))
    yield row("parameter", "value", "fitted to")
    yield row(*["---"] * 3)
    for keys, target in document["x-fitted"].items():
        values = []
        for key in keys.split(", "):
            value = document
            for part in key.split("."):
                value = value[part]
            values.append(str(value).lower() if isinstance(value, bool) else str(value))
        yield row(f"`{keys}`", ", ".join(values), target)
    yield ""
    yield row("parameter", "assumed")
    yield row("---", "---")
    for keys, text in document["x-assumed"].items():
        yield row(f"`{keys}`", text)


def lines(rows: Callable[..., Iterator[str]], *arguments: object) -> str:
    """Return rows as text."""
    return "\n".join(rows(*arguments))


def main() -> None:
    """Simulate everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    output = parser.parse_args().output
    policies = ("equipartition", *OTHERS, NO_PRI)
    runs = {}
    for name in MIXES:
        runs[name] = simulated(name, policies)
        print(name, flush=True)
    ratios, ahead = relative(runs), future(runs)
    tried = means_of_tie_breaks()
    template = Template((HERE / "space-sharing.md.in").read_text(encoding="utf-8"))
    page = template.substitute(
        replications=len(SEEDS),
        tie_break_replications=len(TIE_BREAK_SEEDS),
        tie_breaks=len(list(tie_breaks())),
        parameters=lines(parameters),
        table_3=lines(table_3, runs["mix-5"], ranges_of(tried)),
        nearest="; ".join(nearest_to(policy, tried) for policy in TABLE_3_POLICIES),
        effects=lines(effects, runs["mix-5"]),
        table_4=lines(table_4, runs),
        effects_of_fairness=lines(effects_of_fairness, runs),
        relative=lines(relative_table, ratios),
        observations=lines(observations, runs, ratios, ahead),
        future=lines(future_table, ahead),
        **conservation(runs["mix-5"]),
    )
    output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
