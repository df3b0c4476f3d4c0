"""Writes docs/background/space-sharing.md: published figures beside simulated ones.

``python docs/reproduction/report.py`` takes a few minutes, and gives the same page for the same
seeds. It makes every number and every verdict of the page.
"""

import argparse
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from string import Template

from marks import row, rows_that
from observations import future_table, observations, relative_table
from published import TABLE_3_POLICIES
from space_sharing_runs import FUTURE, MIXES, SEEDS, TIE_BREAK_SEEDS, simulations
from tables import conservation, effects, effects_of_fairness, nearest_to, table_3, table_4
from tie_breaks import tie_breaks

HERE = Path(__file__).parent
PAGE = HERE.parent / "background" / "space-sharing.md"

FAR, BEST = FUTURE.index(256), "dyn-aff-delay"
"""A machine that is "quite far in the future", and the best of the dynamic policies."""


def parameters() -> Iterator[str]:
    """Yield the fitted parameters with their targets, and the assumed ones."""
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


def main() -> None:
    """Simulate everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    output = parser.parse_args().output
    found = simulations()
    mix_5 = found.mixes["mix-5"]
    evidence = [
        *effects(mix_5),
        *table_4(found),
        *effects_of_fairness(found),
        *observations(found),
    ]
    failing = sum(not one.holds for one in evidence)
    last = max(found.future, key=lambda one: found.future[one][FAR] * (one[2] == BEST))
    template = Template((HERE / "space-sharing.md.in").read_text(encoding="utf-8"))
    page = template.substitute(
        replications=len(SEEDS),
        tie_break_replications=len(TIE_BREAK_SEEDS),
        tie_breaks=len(list(tie_breaks())),
        all=len(evidence),
        failing=failing,
        not_reproduced=rows_that(evidence, hold=False),
        reproduced=rows_that(evidence, hold=True),
        worst=f"{found.future[last][FAR]:.3f} ({last[1]} in mix {MIXES[last[0]]})",
        parameters="\n".join(parameters()),
        table_3=table_3(found),
        nearest="; ".join(nearest_to(policy, found.combinations) for policy in TABLE_3_POLICIES),
        relative="\n".join(relative_table(found.relative)),
        future="\n".join(future_table(found.future)),
        **conservation(mix_5),
    )
    output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
