"""Writes docs/background/run-queue.md: what four papers report beside what is simulated.

``python docs/reproduction/run_queue/report.py`` takes a few minutes, and gives the same page for
the same seeds. Every number and every verdict of the page is from here.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from debattista import section as debattista
from pinter import section as pinter
from section import EVIDENCE, Mark, Section
from sohn import section as sohn
from words import table
from ziemba import section as ziemba

PAGE = Path(__file__).parents[2] / "background" / "run-queue.md"

SECTIONS = (pinter, sohn, debattista, ziemba)

INTRODUCTION = """\
# Run queues: published and simulated

The schedulers of four papers run here on the workloads of these papers, and this page compares \
them with what was measured there. The machines are gone and their caches are models here. So \
shapes can be compared: what wins, what grows with what, and by about how much. \
`python docs/reproduction/run_queue/report.py` makes this page, with every number and every \
verdict on it. There are three kinds of rows:

- *evidence*, each with a criterion that can fail. The column *without it* says how many outcomes \
that show nothing meet the same criterion: one and the same value everywhere, or the old scheduler \
in place of the new. If none does, the shape is *reproduced* or *not reproduced*. If one does, \
then to meet the criterion is *no evidence*;
- *put in or fitted*: parameters were chosen so that this comes out. It is no evidence;
- *not modelled*: the simulation has no counterpart of what was measured.

No parameter is tuned silently. Those that a paper does not give are listed with what they were \
fitted to, and so are all that differ from the defaults of a workload.
"""

READINGS = (
    (
        "`tlms-1` to `-3`, `at_every_switch`",
        "all queues are scanned at every switch, as the text says",
        "only when the CPU's own queue is empty, as the pseudo-code says",
        "its result: otherwise two scans prevent no inversion while a CPU has a thread",
    ),
    (
        "`tlms-1` to `-3`, `count_of_queue`",
        "the threads in the range of a scan are counted",
        "all threads of the queue are counted, as the pseudo-code says",
        "its result: otherwise a third scan slows Cswitch by far more than the measured 3 %",
    ),
    (
        "`tlms-1` to `-3` and `global-queue`, `stays_in_kernel`",
        "a thread whose slice ends in kernel mode waits there",
        "it waits in user mode, as in UNIX System V; the paper says neither",
        "no text; what a third scan gains in Read rests on it",
    ),
    (
        "`tlms-1` to `-3`, `has_handoff`",
        "a thread that wakes up goes through the queue of its CPU",
        "it is handed to an idle CPU without a queue, its own first; the paper names handoff "
        "scheduling and does not describe it",
        "no text",
    ),
    (
        "`wf-smash`, `offer_excess`",
        "a full overflow batch that no idle processor takes goes to the own queue",
        "it becomes the migration batch; the text says both",
        "the sentence that names the overflow batch",
    ),
    (
        "`segregation`, `within`",
        "Linux's O(1) scheduler runs the threads of a set",
        "one round-robin queue for each set",
        "the text: the paper's machine ran O(1)",
    ),
)
"""Parameter, default, other reading, and by what the default was chosen."""


def readings() -> Iterator[str]:
    """Yield the Markdown of the readings that are parameters."""
    yield "## Readings of the papers"
    yield ""
    yield (
        "Where a paper leaves a rule open, or says two things, the policy has a parameter. Some "
        "defaults were chosen by their result, so this result is no evidence. The notes of each "
        "section say what the other reading gives."
    )
    yield ""
    yield table(["parameter", "default", "other reading", "chosen by"], READINGS)


def lines_of(section: Section) -> Iterator[str]:
    """Yield the Markdown of a section."""
    yield f"## {section.title}"
    yield ""
    yield section.intro
    yield ""
    yield table(
        ["shape", "published", "simulated", "criterion", "without it", "verdict"],
        (
            (row.shape, row.published, row.simulated, row.criterion, row.without, f"*{row.mark}*")
            for row in section.rows
            if row.mark in EVIDENCE
        ),
    )
    yield ""
    fitted = [row for row in section.rows if row.mark is Mark.PUT_IN]
    if fitted:
        yield table(
            ["put in or fitted", "published", "simulated", "criterion"],
            ((row.shape, row.published, row.simulated, row.criterion) for row in fitted),
        )
        yield ""
    missing = [row for row in section.rows if row.mark is Mark.NOT_MODELLED]
    if missing:
        yield table(["not modelled", "published"], ((row.shape, row.published) for row in missing))
        yield ""
    yield table(
        ["parameter", "value", "fitted to, or from"],
        ((one.parameter, one.value, one.fitted_to) for one in section.calibrated),
    )
    yield ""
    yield section.notes
    yield ""


def summary(sections: list[Section]) -> Iterator[str]:
    """Yield a table of how many rows of each paper have which mark."""
    rows = [
        [section.title, *(str(sum(row.mark is mark for row in section.rows)) for mark in Mark)]
        for section in sections
    ]
    yield table(["paper", *Mark], rows)
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
    page = "\n".join([INTRODUCTION, *summary(sections), *body, *readings()]).rstrip() + "\n"
    options.output.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
