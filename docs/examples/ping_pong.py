"""Pairs of threads that hand a message to and fro; each pair shares a fragment."""

from dataclasses import dataclass
from random import Random

from dfopt.simulate import Burst, NewThread, Workload
from dfopt.simulate.steps import Channel, Receive, Send
from dfopt.simulate.workload import Steps


@dataclass(frozen=True, kw_only=True)
class PingPong:
    """A workload is a frozen dataclass of its parameters, with a method that builds it."""

    pairs: int = 4
    rounds: int = 100
    work: int = 5_000

    def build(self, random: Random) -> Workload:
        """Return a fresh workload; draw from ``random`` alone."""
        threads = []
        for pair in range(self.pairs):
            here, there = Channel(f"to {pair}a"), Channel(f"to {pair}b")
            here.messages = 1  # one of the two begins
            for side, own, other in (("a", here, there), ("b", there, here)):
                steps = self.play(own, other, pair)
                threads.append(NewThread(name=f"{pair}{side}", steps=steps))
        return Workload(
            threads=tuple(threads),
            fragments=tuple(f"pair{n}" for n in range(self.pairs)),
            sizes=(64,) * self.pairs,
        )

    def play(self, own: Channel, other: Channel, fragment: int) -> Steps:
        """Yield what a thread does: wait for a message, work on the data, send the message back."""
        for _ in range(self.rounds):
            yield Receive(own)
            yield Burst(self.work, fragment=fragment, lines=64, leaves=1)
            yield Send(other)
