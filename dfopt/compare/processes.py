"""Jobs in processes of their own, a few at a time.

Not :mod:`multiprocessing`: its children import the caller's main module again, which a script
without a guard does not survive.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError

if TYPE_CHECKING:
    from dfopt.compare.jobs import Answer, Job

CHILD = "dfopt.compare.processes"


def performed_in_processes(
    jobs: Sequence[Job], processes: int
) -> Generator[tuple[Job, Answer], None, None]:
    """Yield jobs with their answers as these come in; so many processes work at once.

    Raises
    ------
    DfoptError
        When a process ends without an answer.
    """
    children = Children()
    with ThreadPoolExecutor(processes) as threads:
        asked = {threads.submit(children.answer, job): job for job in jobs}
        try:
            for answered in as_completed(asked):
                yield asked.pop(answered), answered.result()
        finally:
            # Whatever ended this early, nobody waits for what is still at work.
            threads.shutdown(wait=False, cancel_futures=True)
            children.end()


class Children:
    """Processes that answer one job each, and end together."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_over = False

    def answer(self, job: Job) -> Answer:
        """Return the answer of a new process."""
        with self._lock:
            if self._is_over:
                raise CancelledError
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", CHILD],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # An interrupt from the keyboard is the parent's affair, who ends its children.
                process_group=0,
            )
            self._running.add(process)
        with process:
            answer, _ = process.communicate(pickle.dumps(job))
        self._running.discard(process)
        if process.returncode:
            raise DfoptError(
                f"a process at work on the comparison ended with code {process.returncode}; "
                "take fewer workers (--workers 1), which need less memory",
            )
        found: Answer = pickle.loads(answer)
        return found

    def end(self) -> None:
        """Kill whoever is still at work."""
        with self._lock:
            self._is_over = True
            for process in tuple(self._running):
                process.kill()


def main() -> None:
    """Answer the job on standard input."""
    from dfopt.compare.jobs import perform

    pickle.dump(perform(pickle.load(sys.stdin.buffer)), sys.stdout.buffer)


if __name__ == "__main__":
    main()
