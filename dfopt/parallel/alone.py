"""A call alone in a process: ``python -m dfopt.parallel.alone`` does it.

The work comes on standard input, its answer goes to standard output; both are pickled.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from dfopt.errors import DfoptError

LONGEST_MESSAGE = 500

AnswerT = TypeVar("AnswerT")


class ChildError(Exception):
    """A process ended without an answer; the message says how."""


def performed_alone(seconds: float | None, work: Callable[..., AnswerT], *given: object) -> AnswerT:
    """Return what a function returns in a new process that does nothing else.

    Parameters
    ----------
    seconds
        Seconds after which the process is killed; None: never.
    work, given
        The function, and its arguments.

    Raises
    ------
    ChildError
        When there is no answer.
    """
    command = [sys.executable, "-P", "-m", "dfopt.parallel.alone"]
    try:
        done = subprocess.run(
            command,
            input=pickle.dumps((work, given)),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ChildError(f"killed: no answer after {seconds:.0f} s") from None
    if done.stdout and not done.returncode:
        answer: AnswerT = pickle.loads(done.stdout)
        return answer
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        memory = "; was there enough memory?" if name == "SIGKILL" else ""
        raise ChildError(f"ended by {name}{memory}")
    lines = done.stderr.decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    raise ChildError(said[:LONGEST_MESSAGE] or f"ended with exit code {done.returncode}")


def main() -> None:
    """Do the work on standard input."""
    work, given = pickle.load(sys.stdin.buffer)
    # What the work or its libraries print is no answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        answer = pickle.dumps(work(*given))
    except DfoptError as error:
        sys.exit(str(error))
    with answers:
        answers.write(answer)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, even in the middle of the work."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main()
