"""A mix of jobs in kernel and user mode, like the AIM III suite and Sprite's micro-benchmarks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import accumulate, cycle
from random import Random
from typing import ClassVar

from dfopt.errors import InstanceError
from dfopt.problem.cache import CLEAN, DIRTY, UNMANAGED
from dfopt.simulate.steps import (
    Acquire,
    Channel,
    Device,
    InputOutput,
    Mutex,
    Receive,
    Release,
    Send,
    Spawn,
)
from dfopt.simulate.workload import Burst, NewThread, Steps, Workload, check_number
from dfopt.simulate.workloads.free_buffers import FreeBuffers, GiveBuffer, TakeBuffer
from dfopt.structs import Checked, Natural, Percent, Positive

QUANTILES = 32
"""Number of values that execution times take, each as often as the others."""

ALL_PERCENT = 100

Job = Callable[[], Steps]
"""Returns the program of a job, a fresh one each time."""


class BufferLists(StrEnum):
    """How free buffers are kept."""

    GLOBAL = "global"
    PER_CPU = "per-cpu"


class FileChoice(StrEnum):
    """Which file a job reads."""

    RANDOM = "random"
    OWN = "own"


class Aim(Checked):
    """Users who run jobs of four sorts, one after another (Sohn and Kim, section IV).

    *Cswitch*: a parent and its child pass one byte to and fro through two pipes. *Fexec*: a
    parent forks children, one after another, that execute a program, read some of its text from
    a disk, run it and end. *Read*: files are opened and read, from the buffer cache or from a
    disk; a thread that reads a block holds the file's inode. *Compute*: user mode alone. A share
    of 1 for one sort and 0 for the others is a micro-benchmark. Everything but computing and the
    children's programs is kernel mode. Execution times are exponentially distributed about
    their means, in quantiles; the disks' are constant. Times are in the simulation's unit.

    The paper gives no numbers; the defaults are round.

    Parameters
    ----------
    users
        How many.
    jobs
        How many jobs each runs.
    share_cswitch, share_fexec, share_read, share_compute
        How many of the jobs are of each sort, in proportion to the sum.
    round_trips
        Of the byte, in a job.
    pipe_time
        To read the byte and write it, up to the other's wake-up; and again from there until the
        answer is waited for.
    forks
        Children of a job.
    fork_time, exec_time, exit_time
        The parent's, before and again after it has made the child; the child's, to load its
        program; and its own, after it has told the parent that it ends.
    text_blocks
        How many blocks the child reads from a disk.
    program_time
        What its program executes.
    opens
        How often a job opens a file and reads it to its end.
    open_time
        To open it.
    blocks
        Of a file.
    block_time
        To find a block in the buffer cache and copy it.
    hit_percent
        How often a file is in the buffer cache, all of it; otherwise none of it is. If users read
        their own files, the same ones are in it every time: all but the first.
    compute_time
        Of a computing job.
    files
        How many there are.
    file_choice
        Whether a file is chosen at random whenever one is opened, or a user reads one file again
        and again; the files are dealt out to the users in a circle.
    disks
        Files are spread over them.
    disk_time
        To read a block.
    buffers
        Free buffers, of which every access to a block takes one; 0: there are
        always enough, and no list is locked.
    buffer_lists
        One list for all, or one for each CPU, with borrowing.
    lines
        Of the fragment that each process has for itself; 0: the workload has no fragments. The
        kernel works on the process's own data, which it copies from and to.
    """

    name: ClassVar[str] = "aim"

    users: Positive = 20
    jobs: Positive = 5
    share_cswitch: Natural = 4
    share_fexec: Natural = 2
    share_read: Natural = 2
    share_compute: Natural = 2
    round_trips: Positive = 100
    pipe_time: Positive = 100_000
    forks: Positive = 4
    fork_time: Positive = 1_000_000
    exec_time: Positive = 2_000_000
    exit_time: Positive = 1_000_000
    text_blocks: Natural = 1
    program_time: Positive = 5_000_000
    opens: Positive = 4
    open_time: Positive = 500_000
    blocks: Positive = 8
    block_time: Positive = 500_000
    hit_percent: Percent = 50
    compute_time: Positive = 50_000_000
    files: Positive = 40
    file_choice: FileChoice = FileChoice.RANDOM
    disks: Positive = 4
    disk_time: Positive = 10_000_000
    buffers: Natural = 0
    buffer_lists: BufferLists = BufferLists.GLOBAL
    lines: Natural = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not sum(self.shares):
            raise InstanceError("must not be 0 like all other shares", place="share_cswitch")
        check_number(self.users, "threads", "users")
        check_number(self.files, "files", "files")
        check_number(self.disks, "disks", "disks")

    @property
    def shares(self) -> tuple[int, int, int, int]:
        """Of Cswitch, Fexec, Read and Compute."""
        return self.share_cswitch, self.share_fexec, self.share_read, self.share_compute

    def build(self, random: Random) -> Workload:
        """Return a fresh workload."""
        kernel = _Kernel(self)
        users = [
            _User(self, kernel, number, random.getrandbits(64)) for number in range(self.users)
        ]
        names = [name for user in users for name in (user.name, user.name_of_child)]
        return Workload(
            threads=tuple(
                NewThread(name=user.name, steps=user.steps(), application=number)
                for number, user in enumerate(users)
            ),
            fragments=tuple(names) if self.lines else (),
            sizes=(self.lines,) * len(names) if self.lines else (),
        )


class _Kernel:
    """The objects that the users share."""

    def __init__(self, aim: Aim) -> None:
        disks = [Device(f"disk {number}") for number in range(aim.disks)]
        self.disks = [InputOutput(disk, aim.disk_time) for disk in disks]
        inodes = [Mutex(f"inode {number}") for number in range(aim.files)]
        self.files = [
            (Acquire(inode), self.disks[number % aim.disks], Release(inode))
            for number, inode in enumerate(inodes)
        ]
        self.pool = FreeBuffers(aim.buffers, aim.buffer_lists is BufferLists.PER_CPU)


class _User:
    """The programs of a user."""

    def __init__(self, aim: Aim, kernel: _Kernel, number: int, seed: int) -> None:
        self._aim = aim
        self._kernel = kernel
        self._number = number
        # Each user has its own, so that what it does does not depend on the order of users.
        self._random = Random(seed)
        self.name = f"user{number}"
        self.name_of_child = f"user{number}-child"
        self._fragments = (2 * number, 2 * number + 1) if aim.lines else (UNMANAGED, UNMANAGED)
        self._buffered = aim.buffers > 0
        self._take = TakeBuffer(kernel.pool)
        self._give = GiveBuffer(kernel.pool)
        self._children = 0
        there, back = Channel(f"{self.name}'s pipe"), Channel(f"{self.name_of_child}'s pipe")
        self._send_there, self._receive_there = Send(there), Receive(there)
        self._send_back, self._receive_back = Send(back), Receive(back)

    def steps(self) -> Steps:
        """Yield the steps of a user."""
        aim = self._aim
        sorts = (self._cswitch, self._fexec, self._read, self._compute)
        jobs = [sort() for sort in sorts]
        weights = list(accumulate(aim.shares))
        for _ in range(aim.jobs):
            # Drawn one by one, since most of them may never begin.
            (job,) = self._random.choices(jobs, cum_weights=weights)
            yield from job()

    def _cswitch(self) -> Job:
        aim = self._aim
        fork, write = self._bursts(aim.fork_time), self._bursts(aim.pipe_time)
        answer = self._bursts(aim.pipe_time, of_child=True)
        send_there, receive_there = self._send_there, self._receive_there
        send_back, receive_back = self._send_back, self._receive_back

        def child() -> Steps:
            for _ in range(aim.round_trips):
                yield receive_there
                yield next(answer)
                yield send_back
                yield next(answer)

        def job() -> Steps:
            yield next(fork)
            yield self._spawn(child())
            for _ in range(aim.round_trips):
                yield next(write)
                yield send_there
                yield next(write)
                yield receive_back

        return job

    def _fexec(self) -> Job:
        aim, kernel, random = self._aim, self._kernel, self._random
        fork = self._bursts(aim.fork_time)
        execute = self._bursts(aim.exec_time, of_child=True)
        leaving = self._bursts(aim.exit_time, of_child=True)
        block = self._bursts(aim.block_time, of_child=True)
        program = self._bursts(aim.program_time, of_child=True, is_kernel=False)
        ends, waits = self._send_back, self._receive_back

        def child() -> Steps:
            yield next(execute)
            for _ in range(aim.text_blocks):
                yield from self._access(block, random.choice(kernel.disks))
            yield next(program)
            yield ends
            yield next(leaving)

        def job() -> Steps:
            for _ in range(aim.forks):
                yield next(fork)
                yield self._spawn(child())
                yield next(fork)
                yield waits

        return job

    def _read(self) -> Job:
        aim, files = self._aim, self._kernel.files
        opening, block = self._bursts(aim.open_time), self._bursts(aim.block_time)

        def job() -> Steps:
            for _ in range(aim.opens):
                yield next(opening)
                number, is_hit = self._file()
                acquire, disk, release = files[number]
                for _ in range(aim.blocks):
                    yield acquire
                    yield from self._access(block, None if is_hit else disk)
                    yield release

        return job

    def _file(self) -> tuple[int, bool]:
        """Return the number of a file to read, and whether it is in the buffer cache."""
        aim = self._aim
        if aim.file_choice is FileChoice.OWN:
            number = self._number % aim.files
            return number, number * ALL_PERCENT >= aim.files * (ALL_PERCENT - aim.hit_percent)
        random = self._random
        return random.choice(range(aim.files)), random.randrange(ALL_PERCENT) < aim.hit_percent

    def _compute(self) -> Job:
        computing = self._bursts(self._aim.compute_time, is_kernel=False)

        def job() -> Steps:
            yield next(computing)

        return job

    def _access(self, bursts: Iterator[Burst], disk: InputOutput | None) -> Steps:
        """Yield the steps of reading a block, from a disk or from the buffer cache."""
        if self._buffered:
            yield self._take
        if disk is not None:
            yield disk
        yield next(bursts)
        if self._buffered:
            yield self._give

    def _spawn(self, steps: Steps) -> Spawn:
        self._children += 1
        name = f"{self.name_of_child}{self._children}"
        return Spawn(NewThread(name=name, steps=steps, application=self._number))

    def _bursts(
        self, mean: int, *, of_child: bool = False, is_kernel: bool = True
    ) -> Iterator[Burst]:
        """Return exponentially distributed bursts, shuffled, again and again."""
        raws = [-math.log1p(-(place + 0.5) / QUANTILES) for place in range(QUANTILES)]
        scale = mean * QUANTILES / sum(raws)
        fragment = self._fragments[of_child]
        lines, leaves = (0, CLEAN) if fragment == UNMANAGED else (self._aim.lines, DIRTY)
        bursts = [
            Burst(max(1, round(raw * scale)), fragment, lines, leaves, is_kernel) for raw in raws
        ]
        self._random.shuffle(bursts)
        return cycle(bursts)
