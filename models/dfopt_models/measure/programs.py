"""Programs in slices on one CPU, stopped and started by signals: no privileges are needed.

A program and all processes that it starts are a process group, which ``SIGSTOP`` stops and
``SIGCONT`` starts. While it runs, the process that measures waits on another CPU where there is
one.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dfopt_models.measure.machine import AFTER, STATIONARY, MeasurementError, send_away
from dfopt_models.measure.this_machine import ThisMachine

LOST = "nonvoluntary_ctxt_switches:"
"""The line of ``/proc/PID/status`` that counts how often a thread lost its CPU."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A run of a whole program in slices.

    Parameters
    ----------
    processor_time
        Seconds that the program ran, without what ran between its slices.
    slices, rejected
        Slices, and those in which the program lost its CPU to others.
    """

    processor_time: float
    slices: int
    rejected: int


class StoppedProgram:
    """A program that was started and stopped at once.

    Parameters
    ----------
    name
        What errors call it.
    command
        Its command line.
    cpu
        Where it runs.
    """

    def __init__(self, name: str, command: str, cpu: int) -> None:
        self._name, self._command, self._cpu = name, command, cpu
        self.processor_time = 0.0
        self.start()

    def run_for(self, seconds: float) -> bool:
        """Let the program run, and return whether it has more to do."""
        os.killpg(self._process.pid, signal.SIGCONT)
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGSTOP)
        return self._wait()

    def move(self, cpu: int) -> None:
        """Let it go on on another CPU."""
        for thread in self._threads():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), {cpu})

    def times_lost(self) -> int:
        """Return how often its threads lost their CPU against their will."""
        lost = 0
        for thread in self._threads():
            with suppress(OSError):
                status = (thread / "status").read_text()
                lost += sum(
                    int(line.split()[1]) for line in status.splitlines() if line.startswith(LOST)
                )
        return lost

    def close(self) -> None:
        """End it, if it has not ended."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _threads(self) -> list[Path]:
        return sorted(Path(f"/proc/{self._process.pid}/task").glob("*"))

    def start(self) -> None:
        """Start it, perhaps anew after its end, and stop it."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self._cpu})
        try:
            self._process = subprocess.Popen(
                shlex.split(self._command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            raise MeasurementError(
                f"{self._name} does not start: {error}; give NAME=COMMAND with a program that "
                "can be run"
            ) from None
        finally:
            os.sched_setaffinity(0, before)
        os.killpg(self._process.pid, signal.SIGSTOP)
        self._wait()

    def _wait(self) -> bool:
        """Wait until the program has stopped or ended, and return whether it is there still."""
        _, status, usage = os.wait4(self._process.pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            return True
        self.processor_time = usage.ru_utime + usage.ru_stime
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        if code:
            raise MeasurementError(
                f"{self._name} ended with exit code {code}; give a program that ends well by itself"
            )
        return False


def run_program(
    processor: ThisMachine,
    commands: Mapping[str, str],
    job: str,
    quantum: float,
    preparation: str,
) -> ProgramRun:
    """Run a job on the machine at hand to its end, and stop it after every interval.

    Parameters
    ----------
    processor
        Whose caches are flushed.
    commands
        Command lines of jobs, by their names.
    job
        Its name.
    quantum
        Seconds of a slice.
    preparation
        What happens between slices: ``"nothing"``, ``"moved"``, the name of a level, or
        ``"after JOB"``.
    """
    here = processor.cpu
    program = StoppedProgram(job, commands[job], here)
    other = None
    slices = rejected = 0
    try:
        if preparation.startswith(AFTER):
            name = preparation.removeprefix(AFTER)
            other = StoppedProgram(name, commands[name], here)
        has_more = True
        while has_more:
            lost = program.times_lost()
            with processor.elsewhere():
                has_more = program.run_for(quantum)
            slices += 1
            if not has_more:
                break
            rejected += program.times_lost() > lost
            if other is not None:
                with processor.elsewhere():
                    if not other.run_for(quantum):
                        other.start()
            elif preparation != STATIONARY:
                send_away(processor, preparation)
                program.move(processor.cpu)
    finally:
        program.close()
        if other is not None:
            other.close()
    return ProgramRun(program.processor_time, slices, rejected)
