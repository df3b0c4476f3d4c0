"""A process of its own for every piece of work, so that nothing it does reaches the others.

Not :mod:`multiprocessing`: its children import the caller's main module again, and a Dask worker,
being a daemon, may have none. A child that only imports dfopt starts in a tenth of a second.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

CHILD = "dfopt.bench.child"
LONGEST_MESSAGE = 500


class ChildError(Exception):
    """A process that ended without an answer; the message says how."""


def ask(work: str, request: dict[str, Any], *, seconds: float | None = None) -> dict[str, Any]:
    """Return what a new process answers to a request.

    Parameters
    ----------
    work
        What it shall do: a key of :data:`dfopt.bench.child.WORK`.
    request
        What it needs for that, as JSON can hold it.
    seconds
        After so long it is killed.

    Raises
    ------
    ChildError
        When there is no answer.
    """
    alive_here, held_here = os.pipe()
    try:
        command = [sys.executable, "-P", "-m", CHILD, work, str(alive_here)]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # The child lives while somebody holds the other end, which this process alone does.
            pass_fds=(alive_here,),
        ) as process:
            try:
                request_text = json.dumps(request).encode()
                answer, complaints = process.communicate(request_text, timeout=seconds)
            except BaseException:
                process.kill()
                raise
    except subprocess.TimeoutExpired:
        raise ChildError(f"killed: no answer after {seconds:.0f} s") from None
    finally:
        os.close(alive_here)
        os.close(held_here)
    if process.returncode:
        raise ChildError(end_of(process.returncode, complaints.decode(errors="replace")))
    return json.loads(answer)  # type: ignore[no-any-return]


def end_of(code: int, complaints: str) -> str:
    """Say how a process ended, from its exit code and what it wrote to standard error."""
    if code < 0:
        name = signal.Signals(-code).name
        return f"ended by {name}" + ("; was there enough memory?" if name == "SIGKILL" else "")
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    return lines[-1][:LONGEST_MESSAGE] if lines else f"ended with exit code {code}"
