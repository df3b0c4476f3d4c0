"""Chat rooms: a benchmark of messages through sockets.

Every user of a room sends messages to the server, which passes each on to all other users of the
room. A user has four threads: the client's sender and receiver, and the server's reader and
writer. Pinter and Zalmanovici, *Data sharing conscious scheduling for multi-threaded applications
on SMP machines*, section 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from random import Random
from typing import ClassVar

from dfopt.checks import check_integer
from dfopt.simulate.run_queue.steps import (
    CLEAN,
    DIRTY,
    Burst,
    Channel,
    NewThread,
    Receive,
    Send,
    Spawn,
    Steps,
)
from dfopt.simulate.run_queue.workload import Workload

CLIENT, SERVER = range(2)
"""The two processes, which are applications of their own."""


class _Room:
    """What a room holds in one of the two processes: a data fragment.

    It grows with the messages that wait there. Messages of a room are shared by its threads, so
    what a thread reads is what the users have, and the messages that wait for one of them.
    """

    def __init__(self, fragment: int, chat: Chat) -> None:
        self.fragment = fragment
        self.waiting = 0
        self._users = chat.users
        self._time = chat.message_time
        self._user_lines = chat.users * chat.user_lines
        self._message_lines = chat.message_lines
        self._cache_lines = chat.cache_lines
        self._bursts: dict[tuple[int, int], Burst] = {}

    def burst(self, leaves: int) -> Burst:
        """Return the burst that handles one message, with the room as it is."""
        waiting = self.waiting // self._users
        burst = self._bursts.get((waiting, leaves))
        if burst is None:
            lines = min(self._cache_lines, self._user_lines + waiting * self._message_lines)
            burst = Burst(self._time, self.fragment, lines, leaves)
            self._bursts[waiting, leaves] = burst
        return burst


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """Chat rooms.

    A room is one data fragment in the client (``room3-client``) and one in the server
    (``room3-server``): they are two processes, whose memories are apart, and each is an
    application of its own. The threads are made by one main thread in each process.

    Sockets and lists of messages have no limit here, so senders may run ahead of the rest.

    Parameters
    ----------
    rooms
        Number of rooms.
    users
        Users in each, at least 2; four threads each.
    messages
        How many each user sends. A message is sent once, read once, and written and received
        ``users`` − 1 times.
    message_size
        Bytes of a message.
    message_time
        Execution time to send, read, write, or receive one; the paper does not give it.
    user_lines
        Lines of a room's fragment for each user, messages apart.
    line_size
        Bytes of a line.
    cache_lines
        No burst reads more lines, for no cache holds more.
    spawn_time
        Execution time to make a thread.
    """

    name: ClassVar[str] = "chat"

    rooms: int = 10
    users: int = 20
    messages: int = 500
    message_size: int = 100
    message_time: int = 2_000
    user_lines: int = 8
    line_size: int = 64
    cache_lines: int = 32_768
    spawn_time: int = 20_000

    def __post_init__(self) -> None:
        least = {"users": 2, "message_size": 0, "user_lines": 0}
        for field in fields(self):
            check_integer(getattr(self, field.name), field.name, least=least.get(field.name, 1))

    @property
    def message_lines(self) -> int:
        """Lines that a message takes."""
        return -(-self.message_size // self.line_size)

    def build(self, random: Random) -> Workload:
        """Return a fresh workload; nothing in it is random."""
        del random
        children: tuple[list[Spawn], list[Spawn]] = ([], [])
        for number in range(self.rooms):
            for process, made in zip(children, self._room(number), strict=True):
                process.extend(made)
        most = self.users * self.user_lines + self.message_lines * self.users * self.messages
        size = min(self.cache_lines, most)
        return Workload(
            threads=(
                NewThread(name="client", steps=self._main(children[CLIENT]), application=CLIENT),
                NewThread(name="server", steps=self._main(children[SERVER]), application=SERVER),
            ),
            fragments=tuple(
                f"room{number}-{side}" for number in range(self.rooms) for side in _SIDES
            ),
            sizes=(size,) * (2 * self.rooms),
        )

    def _main(self, children: list[Spawn]) -> Steps:
        burst = Burst(self.spawn_time)
        for child in children:
            yield burst
            yield child

    def _room(self, number: int) -> tuple[list[Spawn], list[Spawn]]:
        """Return the threads of a room, in the client and in the server."""
        client, server = _Room(2 * number, self), _Room(2 * number + 1, self)
        users = range(self.users)
        names = [f"room{number}-user{user}" for user in users]
        to_server = [Channel(f"{name}-to-server") for name in names]
        to_write = [Channel(f"{name}-to-write") for name in names]
        to_client = [Channel(f"{name}-to-client") for name in names]
        clients, servers = [], []
        for user, name in enumerate(names):
            others = [Send(to_write[other]) for other in users if other != user]
            for role, steps in (
                ("receiver", self._receiver(to_client[user], client)),
                ("sender", self._sender(to_server[user], client, server)),
            ):
                clients.append(_spawn(f"{name}-{role}", steps, CLIENT))
            for role, steps in (
                ("reader", self._reader(to_server[user], others, server)),
                ("writer", self._writer(to_write[user], to_client[user], server, client)),
            ):
                servers.append(_spawn(f"{name}-{role}", steps, SERVER))
        return clients, servers

    def _sender(self, channel: Channel, client: _Room, server: _Room) -> Steps:
        send = Send(channel)
        for _ in range(self.messages):
            yield client.burst(DIRTY)
            server.waiting += 1
            yield send

    def _reader(self, channel: Channel, others: list[Send], server: _Room) -> Steps:
        receive = Receive(channel)
        for _ in range(self.messages):
            yield receive
            server.waiting -= 1
            yield server.burst(DIRTY)
            server.waiting += len(others)
            yield from others

    def _writer(self, incoming: Channel, outgoing: Channel, server: _Room, client: _Room) -> Steps:
        receive, send = Receive(incoming), Send(outgoing)
        for _ in range(self.messages * (self.users - 1)):
            yield receive
            server.waiting -= 1
            yield server.burst(DIRTY)
            client.waiting += 1
            yield send

    def _receiver(self, channel: Channel, client: _Room) -> Steps:
        receive = Receive(channel)
        for _ in range(self.messages * (self.users - 1)):
            yield receive
            client.waiting -= 1
            yield client.burst(CLEAN)


_SIDES = ("client", "server")


def _spawn(name: str, steps: Steps, application: int) -> Spawn:
    return Spawn(NewThread(name=name, steps=steps, application=application))
