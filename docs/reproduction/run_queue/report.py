"""Writes docs/background/run-queue.md: what four papers report beside what is simulated.

``python docs/reproduction/run_queue/report.py`` takes a few minutes, and gives the same page for
the same seeds. Every number and every verdict of the page is from here.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from debattista import section as debattista
from pinter import section as pinter
from section import Section, Verdict
from sohn import section as sohn
from ziemba import section as ziemba

PAGE = Path(__file__).parents[2] / "background" / "run-queue.md"

SECTIONS = (pinter, sohn, debattista, ziemba)

INTRODUCTION = """\
# Run queues: published and simulated

The schedulers of four papers run here on the workloads of these papers, and this page compares \
them with what was measured there. The machines are gone and their caches are models here. So \
shapes can be compared: what wins, what grows with what, and by about how much. \
`python docs/reproduction/run_queue/report.py` makes this page, with every number and every \
verdict on it. Each shape is marked:

- *reproduced*: the criterion beside it holds;
- *not reproduced*: the criterion does not hold;
- *not modelled*: the simulation has no counterpart of what was measured.

No parameter is tuned silently. Those that a paper does not give are listed with what they were \
fitted to. Everything that is not listed there follows from them.
"""


def row(*cells: str) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def lines_of(section: Section) -> Iterator[str]:
    """Yield the Markdown of a section."""
    yield f"## {section.title}"
    yield ""
    yield section.intro
    yield ""
    yield row("shape", "published", "simulated", "criterion", "verdict")
    yield row(*["---"] * 5)
    for one in section.rows:
        mark = f"*{one.verdict.value}*"
        yield row(one.shape, one.published, one.simulated, one.criterion or "—", mark)
    yield ""
    if section.calibrated:
        yield row("parameter", "value", "fitted to, or from")
        yield row(*["---"] * 3)
        for parameter in section.calibrated:
            yield row(parameter.parameter, parameter.value, parameter.fitted_to)
        yield ""
    if section.notes:
        yield section.notes
        yield ""


def summary(sections: list[Section]) -> Iterator[str]:
    """Yield a table of how many shapes of each paper are reproduced."""
    yield row("paper", *(verdict.value for verdict in Verdict))
    yield row("---", *["---:"] * len(Verdict))
    for section in sections:
        found = [one.verdict for one in section.rows]
        yield row(section.title, *(str(found.count(verdict)) for verdict in Verdict))
    yield ""


def main() -> None:
    """Simulate everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter simulations")
    options = parser.parse_args()
    sections = []
    for make in SECTIONS:
        sections.append(make(quick=options.quick))
        print(sections[-1].title, flush=True)
    body = [line for section in sections for line in lines_of(section)]
    page = "\n".join([INTRODUCTION, *summary(sections), *body]).rstrip() + "\n"
    options.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
