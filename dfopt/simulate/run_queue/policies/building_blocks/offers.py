"""In which order idle CPUs are asked whether they take a thread."""

from __future__ import annotations

from dfopt.simulate.run_queue.contract import KernelInterface
from dfopt.simulate.run_queue.costs.penalties import EMPTY


def offer_by_fragment(engine: KernelInterface, fragment: int) -> None:
    """Ask all idle CPUs: those that hold a fragment, those that hold none, and then the others.

    Of those that hold the fragment, the one that ran last comes first; of the others that which has
    been idle for longest.
    """
    held, idle = engine.costs.held, engine.idle()
    for cpu in reversed(idle):
        if held[cpu] == fragment:
            engine.offer(cpu)
    for cpu in sorted(idle, key=lambda cpu: held[cpu] != EMPTY):
        engine.offer(cpu)
