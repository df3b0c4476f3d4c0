"""Samples in which the numbers hold that were published of HTTP and PHP threads.

The paper's own figures leave little freedom. If HTTP has 86 % of the dispatches and 10 % of these
follow a long PHP dispatch, at least 8.6 of the other 14 % are long ones.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from dfopt_models.counter_samples import CounterSamples, read_samples

MS = 1_000_000
CLOCK_GHZ = 2.0
IN_SERIES = (None, 1.03, 1.05, 1.07, 1.09, 1.105, 1.105)
"""IPC of HTTP after this number of HTTP dispatches; their mean over all blocks is 1.07."""

AFTER_LONG = 0.45
AFTER_SHORT = (860 - 720 * 1.07 - 86 * AFTER_LONG) / 54
"""So that the mean of all HTTP dispatches is 1."""

I_MISSES, D_MISSES = 0.925, 0.4
"""Misses after HTTP, relative to the mean."""

OTHER_I, OTHER_D = ((860 - 720 * misses) / 140 for misses in (I_MISSES, D_MISSES))

SHORT, LONGER, LONGEST = (0.5, 0.52), (4.5, 1.54), (16.0, 1.76)
"""Length in milliseconds and IPC of PHP dispatches."""

HEADER = "time,cpu,thread,type,instructions,cycles,l2_instruction_misses,l2_data_misses"


@dataclass
class Clock:
    """The rows of a table, and the time of the last one."""

    now: int
    rows: list[str]

    def add(
        self, thread: str, length: float, ipc: float, misses: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        kind = thread.partition("-")[0].upper()
        self.now += round(length)
        cycles = round(length * CLOCK_GHZ)
        instructions = round(cycles * ipc)
        self.rows.append(
            f"{self.now},0,{thread},{kind},{instructions},{cycles},"
            + ",".join(str(round(instructions * rate / 1e3)) for rate in misses)
        )


def published_samples(seed: int = 0) -> str:
    """Return a table of 1,000 dispatches on CPU 0, and one before them."""
    generator = random.Random(seed)
    http_ms = sum(
        0.14 * 1.105 / ipc * count
        for ipc, count in (
            (AFTER_LONG, 86), (AFTER_SHORT, 54), (1.03, 140), (1.05, 140), (1.07, 140),
            (1.09, 140), (1.105, 160),
        )
    )  # fmt: skip
    php_ms = http_ms * 66 / 34
    middle = (
        (php_ms - 54 * 0.5 - 10 * 4.5 - 2 * 16.0) / 74,
        (140 - 54 * 0.52 - 10 * 1.54 - 2 * 1.76) / 74,
    )
    before = [SHORT] * 54 + [LONGER] * 10 + [LONGEST] * 2 + [middle] * 74
    series = [6] * 120 + [7] * 20
    generator.shuffle(before)
    generator.shuffle(series)
    clock = Clock(now=1_000, rows=[HEADER, "1000,0,http-0,HTTP,1,1,0,0"])
    for block, ((length, ipc), count) in enumerate(zip(before, series, strict=True)):
        clock.add(f"php-{block % 7}", length * MS, ipc)
        for place in range(count):
            own = IN_SERIES[place] or (AFTER_SHORT if length < 1 else AFTER_LONG)
            clock.add(
                f"http-{generator.randrange(40)}",
                0.14 * MS * 1.105 / own,
                own,
                (I_MISSES, D_MISSES) if place else (OTHER_I, OTHER_D),
            )
    return "\n".join(clock.rows) + "\n"


def parsed_samples(text: str) -> CounterSamples:
    """Return the samples in a table."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "samples.csv")
        file.write_text(text)
        return read_samples(file)
