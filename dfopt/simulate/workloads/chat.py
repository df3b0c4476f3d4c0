"""Chat rooms: a benchmark of messages through sockets.

Every user of a room sends messages to the server, which passes each on to all other users of the
room. A user has four threads: the client's sender and receiver, and the server's reader and
writer. Pinter and Zalmanovici, *Data sharing conscious scheduling for multi-threaded applications
on SMP machines*, section 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Annotated, ClassVar

from msgspec import Meta

from dfopt.errors import InstanceError
from dfopt.problem.cache import CLEAN, DIRTY
from dfopt.simulate.steps import Channel, Receive, Send, spawn_all
from dfopt.simulate.workload import Burst, NewThread, Steps, Workload, check_number
from dfopt.structs import Checked, Natural, Positive

CLIENT, SERVER = range(2)
"""The two processes, each an application of its own."""

_SIDES = ("client", "server")


class Chat(Checked):
    """Chat rooms.

    A room is one data fragment in the client (``room3-client``) and one in the server
    (``room3-server``): they are two processes, whose memories are apart, and each is an
    application of its own. The threads are made by one main thread in each process.

    The server's lists of messages have no limit. A thread whose socket is full waits until a third
    of it is free again.

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
        Lines that a room has for each user in a process, with one message on top: the stacks of
        two threads, and their sockets. The paper does not give them either.
    line_size
        Bytes of a line.
    burst_lines
        How many lines of the room a thread reads when it comes to a CPU with another room's, for
        one message; 0: all of them.
    socket_messages
        How many messages a socket holds, in each direction; 0: any number.
    spawn_time
        Execution time to make a thread.
    """

    name: ClassVar[str] = "chat"

    rooms: Positive = 10
    users: Annotated[int, Meta(ge=2)] = 20
    messages: Positive = 500
    message_size: Natural = 100
    message_time: Positive = 2_000
    user_lines: Natural = 40
    line_size: Positive = 64
    burst_lines: Natural = 0
    socket_messages: Natural = 0
    spawn_time: Positive = 20_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(4 * self.rooms * self.users, "threads", "rooms")
        if self.burst_lines > self.room_lines:
            raise InstanceError(
                f"is {self.burst_lines}, but a room has {self.room_lines}", place="burst_lines"
            )

    def build(self, random: Random) -> Workload:
        """Return a fresh workload; nothing in it is random."""
        children: tuple[list[NewThread], list[NewThread]] = ([], [])
        for number in range(self.rooms):
            for process, made in zip(children, self._room(number), strict=True):
                process.extend(made)
        return Workload(
            threads=tuple(
                NewThread(
                    name=name,
                    steps=spawn_all(children[process], self.spawn_time),
                    application=process,
                )
                for process, name in enumerate(_SIDES)
            ),
            fragments=tuple(
                f"room{number}-{side}" for number in range(self.rooms) for side in _SIDES
            ),
            sizes=(self.room_lines,) * (2 * self.rooms),
        )

    @property
    def room_lines(self) -> int:
        """Lines of a room in each process."""
        return self.users * (self.user_lines - (-self.message_size // self.line_size))

    def _room(self, number: int) -> tuple[list[NewThread], list[NewThread]]:
        """Return the threads of a room, in the client and in the server."""
        client, server = 2 * number + CLIENT, 2 * number + SERVER
        users = range(self.users)
        names = [f"room{number}-user{user}" for user in users]
        to_write = [Channel(f"{name}-to-write") for name in names]
        to_all = [Send(channel) for channel in to_write]
        once, to_others = self.messages, self.messages * (self.users - 1)
        clients, servers = [], []
        for user, name in enumerate(names):
            up, down = (
                Channel(f"{name}-to-{process}", limit=self.socket_messages)
                for process in ("server", "client")
            )
            # A receiver only reads the message.
            receiver = self._thread(to_others, self._burst(client, CLEAN), incoming=down)
            sender = self._thread(once, self._burst(client, DIRTY), outgoing=[Send(up)])
            handling = self._burst(server, DIRTY)
            reader = self._thread(once, handling, incoming=up, outgoing=to_all, own=to_all[user])
            writer = self._thread(
                to_others, handling, incoming=to_write[user], outgoing=[Send(down)]
            )
            clients.append(NewThread(name=f"{name}-receiver", steps=receiver, application=CLIENT))
            clients.append(NewThread(name=f"{name}-sender", steps=sender, application=CLIENT))
            servers.append(NewThread(name=f"{name}-reader", steps=reader, application=SERVER))
            servers.append(NewThread(name=f"{name}-writer", steps=writer, application=SERVER))
        return clients, servers

    def _burst(self, fragment: int, leaves: int) -> Burst:
        """Return the burst that handles one message."""
        return Burst(self.message_time, fragment, self.burst_lines or self.room_lines, leaves)

    @staticmethod
    def _thread(
        times: int,
        burst: Burst,
        *,
        incoming: Channel | None = None,
        outgoing: Sequence[Send] = (),
        own: Send | None = None,
    ) -> Steps:
        """Take a message, handle it, and pass it on, but not to its own user; repeat this."""
        receive = None if incoming is None else Receive(incoming)
        for _ in range(times):
            if receive is not None:
                yield receive
            yield burst
            # Lists without its own for every user would take users² memory.
            for send in outgoing:
                if send is not own:
                    yield send
