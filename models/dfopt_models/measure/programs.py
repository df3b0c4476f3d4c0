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
from pathlib import Path

from dfopt_models.measure.machine import MOVED, MeasurementError, flush
from dfopt_models.measure.memory import FlushLevel
from dfopt_models.measure.slices import AFTER, STATIONARY, ProgramRun
from dfopt_models.measure.this_processor import ThisProcessor

LOST = "nonvoluntary_ctxt_switches:"
"""The line of ``/proc/PID/status`` that counts how often a thread lost its CPU."""


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
        self.is_running = False
        self._start()

    def run_for(self, seconds: float) -> bool:
        """Let the program run, and return whether it has more to do."""
        os.killpg(self.pid, signal.SIGCONT)
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGSTOP)
        return self._wait()

    def move(self, cpu: int) -> None:
        """Let it go on on another CPU."""
        self._cpu = cpu
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

    def again(self) -> None:
        """Start it anew after its end."""
        self._start()

    def close(self) -> None:
        """End it, if it has not ended."""
        if self.is_running:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
            self.is_running = False

    def _threads(self) -> list[Path]:
        return sorted(Path(f"/proc/{self.pid}/task").glob("*"))

    def _start(self) -> None:
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
        self.pid = self._process.pid
        os.killpg(self.pid, signal.SIGSTOP)
        self.is_running = True
        self._wait()

    def _wait(self) -> bool:
        """Wait until the program has stopped or ended, and return whether it is there still."""
        _, status, usage = os.wait4(self.pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            return True
        self.is_running = False
        self.processor_time = usage.ru_utime + usage.ru_stime
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        if code:
            raise MeasurementError(
                f"{self._name} ended with exit code {code}; give a program that ends well by itself"
            )
        return False


class ThisHost:
    """The machine at hand, as :class:`~dfopt_models.measure.slices.ProgramHost`.

    Parameters
    ----------
    processor
        Whose caches are flushed.
    commands
        Command lines of jobs, by their names.
    """

    def __init__(self, processor: ThisProcessor, commands: Mapping[str, str]) -> None:
        self._processor = processor
        self._commands = commands

    def run(self, job: str, quantum: float, preparation: str) -> ProgramRun:
        """Run a job to its end."""
        here = self._processor.cpu
        program = StoppedProgram(job, self._commands[job], here)
        other = None
        slices = rejected = 0
        try:
            if preparation.startswith(AFTER):
                name = preparation.removeprefix(AFTER)
                other = StoppedProgram(name, self._commands[name], here)
            has_more = True
            while has_more:
                lost = program.times_lost()
                with self._processor.elsewhere():
                    has_more = program.run_for(quantum)
                slices += 1
                rejected += has_more and program.times_lost() > lost
                if has_more:
                    self._prepare(program, other, preparation, quantum)
        finally:
            program.close()
            if other is not None:
                other.close()
        return ProgramRun(program.processor_time, slices, rejected)

    def _prepare(
        self,
        program: StoppedProgram,
        other: StoppedProgram | None,
        preparation: str,
        quantum: float,
    ) -> None:
        processor = self._processor
        if other is not None:
            with processor.elsewhere():
                if not other.run_for(quantum):
                    other.again()
        elif preparation == MOVED:
            processor.move()
            flush(processor, processor.levels[0])
            program.move(processor.cpu)
        elif preparation != STATIONARY:
            flush(processor, self._level(preparation))

    def _level(self, name: str) -> FlushLevel:
        (level,) = (level for level in self._processor.levels if level.name == name)
        return level
