"""The penalty of the web server, from the instructions per cycle (IPC) that were published.

Ziemba, Upadhyaya and Pai, *Analyzing the effectiveness of multicore scheduling using performance
counters*. HTTP after HTTP has 1.07 times the mean IPC of HTTP, after long PHP 0.45 times, and after
several of HTTP at best 1.105 times. For HTTP after short PHP nothing is published; the mean is
taken. The IPC of PHP is published by the length of its dispatches and not by what ran before them,
so no switch to PHP costs anything here.
"""

from dfopt.problem.penalties import PenaltyMatrix
from dfopt.simulate.workloads.web_server import TYPES

BEST = 1.105
IPC_AFTER = {"HTTP": 1.07, "PHP-short": 1.0, "PHP-long": 0.45}
"""IPC of HTTP by what ran before, relative to its mean."""


def web_server_penalty(http_time: int = 140_000) -> PenaltyMatrix:
    """Return what a dispatch of HTTP takes longer than ``http_time``, its time at best.

    A dispatch has the same instructions after anything, so its time is ``http_time`` times
    ``BEST`` divided by its IPC.
    """
    longer = [round(http_time * (BEST / IPC_AFTER[name] - 1)) for name in TYPES]
    return PenaltyMatrix(types=TYPES, switch=tuple((time, 0, 0) for time in longer))
