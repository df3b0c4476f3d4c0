"""The process that works on one instance: ``python -m dfopt.bench.child WORK DESCRIPTOR``.

The request comes on standard input and the answer goes to standard output, both as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dfopt.bench.settings import Settings
from dfopt.errors import DfoptWarning, MethodError
from dfopt.files import instance_from_document, result_from_document, result_to_document
from dfopt.solvers import solve
from dfopt.verify import verify

KIB_PER_MIB = 1024


def solved(*, instance: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an instance, or why the method does not fit it."""
    how = Settings(**settings)
    try:
        result = solve(
            instance_from_document(instance),
            method=how.method,
            stop=how.criterion(),
            seed=how.seed,
            workers=how.workers,
        )
    except MethodError as error:
        return {"not_applicable": error.problem}
    return {"result": result_to_document(result), "peak_memory_mib": peak_memory_mib()}


def verified(*, instance: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Return what is wrong with a result."""
    found = verify(instance_from_document(instance), result_from_document(result))
    return {"problems": list(found.problems)}


WORK: dict[str, Callable[..., dict[str, Any]]] = {"solve": solved, "verify": verified}
"""What a child can do."""


def peak_memory_mib() -> float:
    """Return the most memory that this process had in use so far."""
    # Linux counts into getrusage what the parent used before it started this program.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / KIB_PER_MIB, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bytes_a_unit = 1 if sys.platform == "darwin" else KIB_PER_MIB
    return round(peak * bytes_a_unit / KIB_PER_MIB**2, 1)


def end_with_parent(descriptor: int) -> None:
    """End this process as soon as nobody holds the other end of a pipe."""
    os.read(descriptor, 1)
    os._exit(1)


def main(work: str, descriptor: str) -> None:
    """Do the work that standard input asks for."""
    for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C is for the parent, which ends us
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, args=(int(descriptor),), daemon=True).start()
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints is no answer
    warnings.simplefilter("ignore", DfoptWarning)  # said when the set was read
    answer = WORK[work](**json.load(sys.stdin))
    with open(answers, "wb") as stream:
        stream.write(json.dumps(answer).encode())
    os._exit(0)  # nothing that happens at the end of Python can spoil the answer


if __name__ == "__main__":
    main(*sys.argv[1:])
