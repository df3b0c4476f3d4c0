"""Hackbench: groups in which every sender sends to every receiver.

Pinter and Zalmanovici, *Data sharing conscious scheduling for multi-threaded applications on SMP
machines*, section 5, name it without its parameters; they are those of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import ClassVar

from dfopt.problem.cache import CLEAN, DIRTY
from dfopt.simulate.steps import Channel, Receive, Send, spawn_all
from dfopt.simulate.workload import Burst, NewThread, Steps, Workload, check_number
from dfopt.structs import Checked, Natural, Positive


class Hackbench(Checked):
    """Groups of senders and receivers; a group is a data fragment.

    Parameters
    ----------
    groups
        Number of groups.
    senders
        Senders in each group, and as many receivers.
    loops
        How often each sender sends one message to every receiver of its group.
    data_size
        Bytes of a message.
    message_time
        Execution time to send or receive one.
    line_size
        Bytes of a line; a group reads one message of each sender.
    spawn_time
        Execution time of the main thread to make another one.
    """

    name: ClassVar[str] = "hackbench"

    groups: Positive = 10
    senders: Positive = 20
    loops: Positive = 100
    data_size: Natural = 100
    message_time: Positive = 2_000
    line_size: Positive = 64
    spawn_time: Positive = 20_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(2 * self.groups * self.senders, "threads", "groups")

    def build(self, random: Random) -> Workload:
        """Return a fresh workload; nothing in it is random."""
        lines = self.senders * -(-self.data_size // self.line_size)
        steps = spawn_all(self._threads(lines), self.spawn_time)
        return Workload(
            threads=(NewThread(name="main", steps=steps),),
            fragments=tuple(f"group{number}" for number in range(self.groups)),
            sizes=(lines,) * self.groups,
        )

    def _threads(self, lines: int) -> Iterator[NewThread]:
        for group in range(self.groups):
            members = range(self.senders)
            channels = [Channel(f"group{group}-receiver{member}") for member in members]
            sends = [Send(channel) for channel in channels]
            writes = Burst(self.message_time, group, lines, DIRTY)
            reads = Burst(self.message_time, group, lines, CLEAN)
            for channel in channels:
                yield NewThread(name=channel.name, steps=self._receiver(channel, reads))
            for member in members:
                name = f"group{group}-sender{member}"
                yield NewThread(name=name, steps=self._sender(sends, writes))

    def _sender(self, sends: list[Send], burst: Burst) -> Steps:
        for _ in range(self.loops):
            for send in sends:
                yield burst
                yield send

    def _receiver(self, channel: Channel, burst: Burst) -> Steps:
        receive = Receive(channel)
        for _ in range(self.loops * self.senders):
            yield receive
            yield burst
