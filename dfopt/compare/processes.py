"""Jobs in processes of their own, a few at a time.

Not :mod:`multiprocessing`: its children import the caller's main module again, which a script
without a guard does not survive.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dfopt.compare.jobs import Answer, Job

CHILD = "dfopt.compare.processes"


def performed_in_processes(
    jobs: Sequence[Job], processes: int
) -> Generator[tuple[Job, Answer], None, None]:
    """Yield jobs with their answers as these come in; so many processes work at once."""
    running: list[subprocess.Popen[bytes]] = []
    with ThreadPoolExecutor(processes) as threads:
        asked = {threads.submit(_answer, job, running): job for job in jobs}
        try:
            for answered in as_completed(asked):
                yield asked[answered], answered.result()
        finally:
            # Whatever ended this early, nobody waits for what is still at work.
            threads.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.kill()


def _answer(job: Job, running: list[subprocess.Popen[bytes]]) -> Answer:
    command = [sys.executable, "-P", "-m", CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        running.append(process)
        answer, _ = process.communicate(pickle.dumps(job))
    if process.returncode:
        raise ChildProcessError(f"{CHILD} ended with exit code {process.returncode}")
    found: Answer = pickle.loads(answer)
    return found


def main() -> None:
    """Answer the job on standard input."""
    from dfopt.compare.jobs import perform

    job = pickle.load(sys.stdin.buffer)
    try:
        answer = perform(job)
    except KeyboardInterrupt:  # the parent was interrupted too, and says so
        sys.exit(1)
    pickle.dump(answer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
