"""Chat rooms: a benchmark of messages through sockets.

Every user of a room sends messages to the server, which passes each on to all other users of the
room. A user has four threads: the client's sender and receiver, and the server's reader and
writer. Pinter and Zalmanovici, *Data sharing conscious scheduling for multi-threaded applications
on SMP machines*, section 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from dfopt.checks import check_integers
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
from dfopt.simulate.run_queue.workload import Workload, check_number

CLIENT, SERVER = range(2)
"""The two processes, which are applications of their own."""


class _Room:
    """A room in one of the processes: a data fragment."""

    def __init__(self, fragment: int, chat: Chat) -> None:
        self.waiting = 0
        """Messages that have come and not been taken, counted for each who waits for them."""
        self._fragment = fragment
        self._chat = chat
        self._bursts: dict[tuple[int, int], Burst] = {}

    def burst(self, leaves: int) -> Burst:
        """Return the burst that handles one message, with the room as it is."""
        chat = self._chat
        grown = self.waiting // chat.users * chat.waiting_lines
        burst = self._bursts.get((grown, leaves))
        if burst is None:
            burst = Burst(chat.message_time, self._fragment, chat.room_lines + grown, leaves)
            self._bursts[grown, leaves] = burst
        return burst

    def steps(
        self,
        times: int,
        leaves: int,
        *,
        incoming: Channel | None = None,
        outgoing: Sequence[Send] = (),
        to: _Room | None = None,
    ) -> Steps:
        """Take a message so often, handle it, and pass it on to a room."""
        receive = None if incoming is None else Receive(incoming)
        for _ in range(times):
            if receive is not None:
                yield receive
                self.waiting -= 1
            yield self.burst(leaves)
            if to is not None:
                to.waiting += len(outgoing)
                yield from outgoing


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
        Lines that a room has for each user in a process, besides one message: stacks of two
        threads, and their sockets. The paper does not give them either.
    line_size
        Bytes of a line.
    waiting_lines
        By how many lines a room grows in a process for each message that waits there for every
        user; a thread reads them all with the rest of the room. 0: it does not grow.
    spawn_time
        Execution time to make a thread.
    """

    name: ClassVar[str] = "chat"

    rooms: int = 10
    users: int = 20
    messages: int = 500
    message_size: int = 100
    message_time: int = 2_000
    user_lines: int = 40
    line_size: int = 64
    waiting_lines: int = 0
    spawn_time: int = 20_000

    def __post_init__(self) -> None:
        check_integers(self, users=2, message_size=0, user_lines=0, waiting_lines=0)
        check_number(4 * self.rooms * self.users, "threads", "rooms")

    def build(self, random: Random) -> Workload:
        """Return a fresh workload; nothing in it is random."""
        del random
        children: tuple[list[Spawn], list[Spawn]] = ([], [])
        for number in range(self.rooms):
            for process, made in zip(children, self._room(number), strict=True):
                process.extend(made)
        # At most, all messages of all users wait for everybody.
        size = self.room_lines + self.waiting_lines * self.users * self.messages
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

    @property
    def room_lines(self) -> int:
        """Lines of a room in each process while no message waits."""
        return self.users * (self.user_lines - (-self.message_size // self.line_size))

    def _room(self, number: int) -> tuple[list[Spawn], list[Spawn]]:
        """Return the threads of a room, in the client and in the server."""
        client, server = _Room(2 * number + CLIENT, self), _Room(2 * number + SERVER, self)
        users = range(self.users)
        names = [f"room{number}-user{user}" for user in users]
        to_write = [Channel(f"{name}-to-write") for name in names]
        once, to_others = self.messages, self.messages * (self.users - 1)
        clients, servers = [], []
        for user, name in enumerate(names):
            up, down = Channel(f"{name}-to-server"), Channel(f"{name}-to-client")
            others = [Send(to_write[other]) for other in users if other != user]
            # Who receives a message only looks at it.
            receiver = client.steps(to_others, CLEAN, incoming=down)
            sender = client.steps(once, DIRTY, outgoing=[Send(up)], to=server)
            reader = server.steps(once, DIRTY, incoming=up, outgoing=others, to=server)
            writer = server.steps(
                to_others, DIRTY, incoming=to_write[user], outgoing=[Send(down)], to=client
            )
            clients.append(_spawn(f"{name}-receiver", receiver, CLIENT))
            clients.append(_spawn(f"{name}-sender", sender, CLIENT))
            servers.append(_spawn(f"{name}-reader", reader, SERVER))
            servers.append(_spawn(f"{name}-writer", writer, SERVER))
        return clients, servers


_SIDES = ("client", "server")


def _spawn(name: str, steps: Steps, application: int) -> Spawn:
    return Spawn(NewThread(name=name, steps=steps, application=application))
