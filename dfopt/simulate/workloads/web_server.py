"""A web server: many short HTTP dispatches, and few long ones of PHP.

Ziemba, Upadhyaya and Pai, *Analyzing the effectiveness of multicore scheduling using performance
counters*, section 4: a support site on four cores with 3350 connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Annotated, ClassVar

from msgspec import Meta

from dfopt.simulate.contract import Thread
from dfopt.simulate.kernel import Kernel
from dfopt.simulate.steps import Channel, Device, InputOutput, Receive, Send, Sleep
from dfopt.simulate.workload import Burst, NewThread, Pause, Steps, Workload, check_number
from dfopt.structs import Checked, Natural, Positive

TYPES = ("HTTP", "PHP-short", "PHP-long")
"""Fragments, which are the types of a matrix penalty."""

HTTP, PHP_SHORT, PHP_LONG = range(3)


@dataclass(slots=True, eq=False)
class _FromNetwork:
    """Wait for the network, which delivers at multiples of an interval."""

    interval: int
    time: int = 0

    def perform(self, kernel: Kernel, thread: Thread) -> Pause:
        """Do it."""
        due = kernel.now + self.time
        thread.waits_for = "the network"
        kernel.wake_at(due + -due % self.interval, thread)
        return Pause.BLOCKED


@dataclass(slots=True, eq=False)
class _Server:
    """The objects that the threads of one simulation share."""

    disks: Sequence[Device]
    clients: int
    calls: Channel = field(default_factory=lambda: Channel("calls of PHP"))
    answers: deque[Send] = field(default_factory=deque)
    """The addresses of the answers, in the order of the calls."""


class WebServer(Checked):
    """Connections in a closed loop; each has an HTTP thread, which calls PHP threads.

    A request is ``http_slices`` dispatches of its HTTP thread. After the first, the thread calls a
    PHP thread and waits for its answer; after the second it reads from a disk; after each of the
    others it waits for the network. A call is ``php_slices`` dispatches of a PHP thread, with
    waits for another machine between them. PHP threads are a fixed number, and take calls in
    order.

    A dispatch of PHP of at least ``long_php`` uses the fragment ``PHP-long``, else ``PHP-short``;
    a dispatch of HTTP uses ``HTTP``.

    The paper's shares fix the defaults. HTTP has 86 % of the dispatches: 43 to 7. It has 34 % of
    the time. A dispatch of HTTP takes 0.14 ms at best and 0.16 ms with what it pays in the shipped
    scenario, so one of PHP takes 1.92 ms. The 4.4 ms that the paper gives for PHP are those of
    another of its CPUs, with fewer of them; with the shares they would need HTTP dispatches of
    0.37 ms. Answers take 6 s in the paper, which is time on the network here: 40 waits of 138 ms.
    With 12 s to think, 3350 clients load four CPUs to 95 %.

    Parameters
    ----------
    clients
        Connections.
    requests
        How many requests each makes one after the other.
    think_time
        Mean time between an answer and the next request, exponential.
    http_slices, php_slices
        Dispatches of each kind in a request; at least 3 of HTTP, 1 of PHP.
    http_time
        Execution time of an HTTP dispatch after the best predecessors.
    php_time
        Mean execution time of a PHP dispatch, exponential.
    long_php
        From which execution time on a PHP dispatch is long.
    network_wait
        Mean time an HTTP thread waits for the network, exponential.
    interval
        The network delivers at multiples of this time, so requests arrive in bursts.
    php_threads
        Number of PHP threads.
    php_wait
        Mean time a PHP thread waits between two dispatches, exponential.
    disks
        Number of disks.
    disk_time
        Mean time a disk takes for a read, exponential.
    """

    name: ClassVar[str] = "web-server"

    clients: Positive = 3_350
    requests: Positive = 1
    think_time: Positive = 12_000_000_000
    http_slices: Annotated[int, Meta(ge=3)] = 43
    php_slices: Positive = 7
    http_time: Positive = 140_000
    php_time: Positive = 1_920_000
    long_php: Natural = 1_000_000
    network_wait: Positive = 138_000_000
    interval: Positive = 5_000_000
    php_threads: Positive = 100
    php_wait: Positive = 5_000_000
    disks: Positive = 8
    disk_time: Positive = 8_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.clients, "threads", "clients")
        check_number(self.php_threads, "threads", "php_threads")
        check_number(self.disks, "disks", "disks")

    def build(self, random: Random) -> Workload:
        """Return a fresh workload."""
        disks = [Device(f"disk{number}") for number in range(self.disks)]
        server = _Server(disks, self.clients)
        clients = [
            NewThread(
                name=f"http{number}",
                steps=self._client(number, server, Random(random.getrandbits(64))),
                kind="HTTP",
            )
            for number in range(self.clients)
        ]
        workers = [
            NewThread(
                name=f"php{number}",
                steps=self._worker(server, Random(random.getrandbits(64))),
                kind="PHP",
            )
            for number in range(self.php_threads)
        ]
        return Workload(threads=(*workers, *clients), fragments=TYPES, sizes=(0, 0, 0))

    def _client(self, number: int, server: _Server, random: Random) -> Steps:
        answer = Channel(f"answer{number}")
        to_here, receive, call = Send(answer), Receive(answer), Send(server.calls)
        network = _FromNetwork(self.interval)
        burst = Burst(self.http_time, HTTP)
        for _ in range(self.requests):
            network.time = _exponential(random, self.think_time)
            yield network
            yield burst
            server.answers.append(to_here)
            yield call
            yield receive
            yield burst
            yield InputOutput(random.choice(server.disks), _exponential(random, self.disk_time))
            for _ in range(self.http_slices - 3):
                yield burst
                network.time = _exponential(random, self.network_wait)
                yield network
            yield burst
        server.clients -= 1
        if not server.clients:
            # No client is left. A call without an address ends the thread that takes it.
            yield Send(server.calls, self.php_threads)

    def _worker(self, server: _Server, random: Random) -> Steps:
        receive = Receive(server.calls)
        while True:
            yield receive
            if not server.answers:
                return
            answer = server.answers.popleft()
            for _ in range(self.php_slices - 1):
                yield self._php(random)
                yield Sleep(_exponential(random, self.php_wait))
            yield self._php(random)
            yield answer

    def _php(self, random: Random) -> Burst:
        time = _exponential(random, self.php_time)
        return Burst(time, PHP_LONG if time >= self.long_php else PHP_SHORT)


def _exponential(random: Random, mean: int) -> int:
    return max(1, round(random.expovariate(1 / mean)))
