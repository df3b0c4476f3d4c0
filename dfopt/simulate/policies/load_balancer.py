"""When CPUs with queues of their own balance the load between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dfopt.simulate.contract import Policy


class BalancedPolicy(Policy):
    """A policy with a queue for each CPU, where CPUs pull threads from others by time.

    All CPUs balance every ``tick_interval``, and those with nothing to run every ``idle_interval``,
    while a thread waits.
    """

    idle_interval: int = 0
    """Time between two balancings of a CPU that has nothing to run; 0: there are none."""

    _queues: Sequence[Any]
    """By CPU; ``waiting`` says of each whether a thread waits there."""

    _has_idle_tick = False

    def balance(self, cpu: int) -> bool:
        """Let a CPU pull threads; return whether it is to pick one if it is idle."""
        raise NotImplementedError

    def idle(self) -> Sequence[int]:
        """Return the idle CPUs in the order in which they balance."""
        return self.engine.idle()

    def tick(self) -> None:
        """Let all CPUs balance, one after the other."""
        self._balance(range(self.engine.cpus))

    def expect_idle_tick(self) -> None:
        """Let CPUs with nothing to run balance soon, if a thread waits."""
        if (
            self.idle_interval
            and not self._has_idle_tick
            and any(queue.waiting for queue in self._queues)
        ):
            self._has_idle_tick = True
            self.engine.call_at(self.engine.now + self.idle_interval, self._idle_tick)

    def _idle_tick(self) -> None:
        self._has_idle_tick = False
        self._balance(self.idle())
        if self.engine.idle():
            self.expect_idle_tick()

    def _balance(self, cpus: Sequence[int]) -> None:
        for cpu in cpus:
            self.engine.charge(cpu)
            if self.balance(cpu):
                self.engine.offer(cpu)
