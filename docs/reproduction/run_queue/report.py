"""Writes docs/background/run-queue.md: what four papers report beside what is simulated.

``python docs/reproduction/run_queue/report.py`` takes some minutes, and gives the same page for the
same seeds. Every number and every verdict of the page is from here.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from debattista import section as debattista
from pinter import section as pinter
from rows import Section
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
verdict on it.

A row has a verdict only if it is evidence: its criterion could have failed, and it could have \
held. What a null model meets, such as the old scheduler in place of the new one or one value \
everywhere, has none. Nor has what parameters were fitted to, or what is arithmetic of such \
figures, whether it agrees or not. Many values that a paper does not give were chosen, some of \
them by results; each section lists them.
"""

NOT_MODELLED = (
    (
        "Pinter",
        "misses in L3 (Tables 3 and 4), and in L2 by the chat (Table 2)",
        "the chat pays a penalty and has no caches; those of the custom benchmark have one level. "
        "The chat's printed misses cannot be right: 0.07 for each message that is passed on",
    ),
    (
        "Pinter",
        "custom benchmark, by the size of fragments and by iterations (Tables 3 and 4), also with "
        "32 and 128 threads",
        "each line of a fragment is touched once in 600 iterations, so nothing depends on its "
        "size; run times are in proportion to iterations",
    ),
    ("Pinter", "chat: throughput", "the printed numbers contradict the printed times"),
    (
        "Pinter",
        "writing back the `j` lines that were changed, `j·t_w`",
        "f charges one write-back, however many lines are dirty; single dirty lines are counted "
        "where [caches](../reference/scenario.md) are simulated, which replace the least recently "
        "used line",
    ),
    (
        "Sohn",
        "Fexec and Read of the original (Table 1)",
        "they use the queues too seldom to lose by a lock as much; no caches are simulated, which "
        "threads that move would have to fill again",
    ),
    (
        "Sohn",
        "the misses of the original's lock rise most from 4 to 6 CPUs (figure 6)",
        "by the law of such a lock each CPU adds less than the one before. CPUs that spin do not "
        "slow the one that holds the lock, unless `machine.lock_doubling` says so",
    ),
    (
        "Sohn",
        "elapsed time by users (Table 2)",
        "CPUs that are always busy give the published values, so it says nothing of schedulers",
    ),
    (
        "Debattista",
        "the bus to the memory, which the processors share; granularities above 128",
        "a miss takes as long on a busy machine",
    ),
    (
        "Ziemba",
        "IPC of PHP by the length of its dispatches; IPC of HTTP after several of HTTP, +10.5 %",
        "a matrix of penalties knows what ran last alone",
    ),
    (
        "Vaswani",
        "critical sections in GRAVITY, on which the times of some of its threads depend",
        "threads of a job wait for their predecessors alone; their times are drawn",
    ),
    (
        "all",
        "locks of programs, and of the kernel beside run queues and free buffers",
        "threads wait for messages, disks and each other, but never for a lock of their own",
    ),
)
"""Paper, what it has, and why it is not here."""

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


def rows_that(sections: list[Section], *, hold: bool) -> Iterator[str]:
    """Yield the Markdown of the rows with a verdict."""
    yield table(
        ["paper", "shape", "published", "simulated", "criterion"],
        (
            (one.paper, row.shape, row.published, row.simulated, row.criterion)
            for one in sections
            for row in one.rows
            if row.holds is hold
        ),
    )
    yield ""


def lines_of(section: Section) -> Iterator[str]:
    """Yield the Markdown of a paper."""
    yield f"## {section.title}"
    yield ""
    yield section.intro
    yield ""
    yield section.notes
    yield ""
    yield table(["parameter", "value", "fitted to, or from"], section.parameters)
    yield ""


def page(sections: list[Section]) -> Iterator[str]:
    """Yield the Markdown: first what is wrong."""
    rows = [row for section in sections for row in section.rows]
    holding = sum(row.holds for row in rows)
    yield INTRODUCTION
    yield "## What is wrong"
    yield ""
    yield (
        f"Of {len(rows)} shapes that are evidence {len(rows) - holding} are not reproduced, and "
        f"{holding} are. Of what else is simulated this is wrong or proves nothing:"
    )
    yield ""
    for section in sections:
        for fault in section.wrong:
            yield f"- {section.paper}: {fault}"
    yield ""
    yield "## Not reproduced"
    yield ""
    yield from rows_that(sections, hold=False)
    yield "## Reproduced"
    yield ""
    yield from rows_that(sections, hold=True)
    yield "## What is not modelled"
    yield ""
    yield table(["paper", "what it has", "here"], NOT_MODELLED)
    yield ""
    for section in sections:
        yield from lines_of(section)
    yield "## Readings of the papers"
    yield ""
    yield (
        "Where a paper leaves a rule open, or says two things, the policy has a parameter. Where a "
        "default was chosen by its result, this result is no evidence."
    )
    yield ""
    yield table(["parameter", "default", "other reading", "chosen by"], READINGS)


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
    options.output.write_text("\n".join(page(sections)).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
