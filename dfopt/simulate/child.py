"""The process that does tasks: ``python -m dfopt.simulate.child``.

Tasks come on standard input and answers go to standard output, both pickled.
"""

from __future__ import annotations

import pickle
import signal
import sys
from typing import Any

from dfopt.errors import DfoptError
from dfopt.simulate.processes import Failure, Task


def main() -> None:
    """Do the tasks on standard input, as long as there are any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a policy prints is no answer
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(answer(task), answers)
        answers.flush()


def answer(task: Task[Any]) -> Any:
    """Return what a task gives, or how it fails."""
    try:
        return task.perform()
    except DfoptError as error:
        return Failure(error.problem, error.place, error.file)


if __name__ == "__main__":
    main()
