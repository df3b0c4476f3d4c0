"""A run-queue policy: a CPU stays with the fragment that its cache holds."""

from itertools import islice

from dfopt.simulate import Policy


class Stay(Policy):
    """Among the threads that wait for longest, prefer one that uses what the cache holds."""

    name = "stay"

    def __init__(self, look_ahead: int = 20, time_slice: int = 100_000_000) -> None:
        self.look_ahead = look_ahead
        self.time_slice = time_slice
        self.queue = []

    def ready(self, thread, why, cpu):
        self.queue.append(thread)

    def pick(self, cpu):
        if not self.queue:
            return None
        held = self.engine.caches[cpu].fragment
        first = islice(self.queue, self.look_ahead)
        place = next((i for i, thread in enumerate(first) if thread.fragment == held), 0)
        return self.queue.pop(place)

    def slice(self, thread, cpu):
        return self.time_slice
