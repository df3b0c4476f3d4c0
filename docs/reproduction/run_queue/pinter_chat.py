"""Chat rooms under data affinity: Pinter and Zalmanovici, section 5.1."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from statistics import mean, stdev

from pinter_runs import (
    NEW,
    SECOND,
    SHIPPED,
    SPAWN_TIMES,
    VANILLA,
    VANILLA_TWICE,
    Pair,
    growth,
    simulated,
)
from section import Row, evidence, put_in
from shares import is_clearly_above, percent, points, with_interval
from words import arrows, listed

from dfopt.simulate.run_queue.contract import Policy
from dfopt.simulate.run_queue.workloads.chat import Chat

# Table 1: seconds, vanilla and new, by rooms and messages.
ROOMS, MESSAGES = (10, 20, 30), (500, 1000, 1500)
TIMES = {
    10: ((5.794, 4.954), (15.303, 10.935), (26.86, 15.85)),
    20: ((11.01, 7.89), (30.7, 16.85), (55.01, 24.6)),
    30: ((16.83, 10.81), (38.93, 22.4), (72.0, 35.2)),
}
# Table 2: L2 misses with 1500 messages, vanilla and new, client and server.
MISSES = {10: (49 + 100, 16 + 43), 20: (88 + 125, 34 + 58), 30: (133 + 206, 45 + 68)}

CHAT: Chat = SHIPPED["chat"].workload
"""The shipped workload; what follows, and what pinter.py lists, differs from it."""

USERS = CHAT.users

# Assumed, or fitted; see what pinter.py lists.
SHORTENED = 25
"""Number of the paper's messages that are one message here, under both schedulers."""

MESSAGE_TIME = 2_580
LINES, READ_LINE = 38, 200
"""What a thread reads for a message when it comes to a room, and the time of a line."""

USER_LINES = 100
SOCKET = 150
"""Messages that a socket holds."""

QUICK_RUNS = 2

# Criteria.
MORE = 0.1
NEAR = 0.05

Run = tuple[type[Policy], int, int, int, int]
"""Policy, rooms, messages of the paper, how many of them are one, and the time to make a thread."""


def run_of(run: Run) -> tuple[float, float]:
    """Return the seconds of a chat run, and the lines read."""
    policy, rooms, messages, stands_for, spawn_time = run
    kind = replace(
        CHAT,
        rooms=rooms,
        messages=messages // stands_for,
        message_time=MESSAGE_TIME * stands_for,
        user_lines=USER_LINES,
        burst_lines=LINES * stands_for,
        socket_messages=SOCKET // stands_for,
        spawn_time=spawn_time,
    )
    counters = simulated(kind, policy, READ_LINE).counters
    return counters.end / SECOND, sum(counters.penalties) / READ_LINE


def handlings(rooms: int, messages: int) -> int:
    """Return how often a thread handles a message: each at its 40 stations."""
    return rooms * USERS * messages * 2 * USERS


class Chats:
    """The simulations of the benchmark, done at once by all CPUs there are."""

    def __init__(self, *, quick: bool) -> None:
        self.rooms = ROOMS[:1] if quick else ROOMS
        self.spawn_times = SPAWN_TIMES[:QUICK_RUNS] if quick else SPAWN_TIMES
        runs: list[Run] = [
            (policy, rooms, messages, SHORTENED, spawn_time)
            for rooms in self.rooms
            for messages in MESSAGES
            for policy in (VANILLA, NEW)
            for spawn_time in self.spawn_times
        ]
        self._whole: list[Run] = [
            (policy, ROOMS[0], MESSAGES[0], 1, SPAWN_TIMES[0]) for policy in (VANILLA, NEW)
        ]
        # The longest first, so that none is left to a single CPU at the end.
        runs.sort(key=lambda run: handlings(run[1], run[2]), reverse=True)
        runs = self._whole + runs
        with ProcessPoolExecutor() as pool:
            self._found = dict(zip(runs, pool.map(run_of, runs), strict=True))

    def times(self, policy: type[Policy], rooms: int, messages: int) -> list[float]:
        """Return the seconds of all runs."""
        return [
            self._found[policy, rooms, messages, SHORTENED, spawn_time][0]
            for spawn_time in self.spawn_times
        ]

    def gains(self, rooms: int, messages: int) -> list[float]:
        """Return by how much the time falls, run by run."""
        both = zip(*(self.times(one, rooms, messages) for one in (VANILLA, NEW)), strict=True)
        return [1 - new / old for old, new in both]

    def pair(self, rooms: int, messages: int) -> Pair:
        """Return the means."""
        found = [
            [
                mean(
                    self._found[policy, rooms, messages, SHORTENED, one][value]
                    for one in self.spawn_times
                )
                for policy in (VANILLA, NEW)
            ]
            for value in range(2)
        ]
        return Pair(time=(found[0][0], found[0][1]), lines=(found[1][0], found[1][1]))

    def whole_gain(self) -> float:
        """Return the gain in the smallest of the cells if every message is simulated."""
        old, new = (self._found[run][0] for run in self._whole)
        return 1 - new / old

    def spread(self, policy: type[Policy], rooms: int, messages: int) -> float:
        """Return how far runs are spread, relative to their mean."""
        times = self.times(policy, rooms, messages)
        return stdev(times) / mean(times)

    def unavoidable(self) -> float:
        """Return the misses of a handling that no scheduler avoids.

        With them, misses fall by as much as published in the first row of Table 2.
        """
        first = self.rooms[0]
        before, after = self.pair(first, MESSAGES[-1]).lines
        remains = MISSES[first][1] / MISSES[first][0]
        return (remains * before - after) / (1 - remains) / handlings(first, MESSAGES[-1])

    def fewer(self, rooms: int) -> float:
        """Return by which share the misses fall, those among them that no scheduler avoids."""
        always = self.unavoidable() * handlings(rooms, MESSAGES[-1])
        before, after = self.pair(rooms, MESSAGES[-1]).lines
        return 1 - (after + always) / (before + always)


def rows_of(chats: Chats) -> Iterator[Row]:
    """Yield what the paper says of the chat benchmark."""
    rooms, first, last = chats.rooms, chats.rooms[0], MESSAGES[-1]
    yield from fitted_rows(chats)
    published = {one: [1 - new / old for old, new in TIMES[one]] for one in rooms}
    gains = {one: [chats.gains(one, messages) for messages in MESSAGES] for one in rooms}
    for one in rooms:
        yield growth(
            f"chat, {one} rooms: gain with {arrows(MESSAGES)} messages"
            + (" (the last is fitted)" if one == first else ""),
            published[one],
            gains[one],
        )
    if len(rooms) > 1:
        yield growth(
            f"chat, {MESSAGES[0]} messages: gain with {arrows(rooms)} rooms",
            [published[one][0] for one in rooms],
            [gains[one][0] for one in rooms],
        )
    more = [mean(row[-1]) - mean(row[0]) for row in gains.values()]
    yield evidence(
        shape=f"chat: gain with {last} messages above that with {MESSAGES[0]}",
        published=points([row[-1] - row[0] for row in published.values()]),
        simulated=points(more),
        criterion=f"at least {points([MORE])} in all rows",
        passes=lambda found: min(found) >= MORE,
        found=more,
        without=VANILLA_TWICE,
    )
    cells = [gains[one][at] for one in rooms for at in range(len(MESSAGES))]
    cells.remove(gains[first][-1])
    yield evidence(
        shape="chat: data affinity gains in all combinations but the fitted one",
        published="14–55 %",
        simulated=f"{100 * min(map(mean, cells)):.0f}–{percent(max(map(mean, cells)))}",
        criterion="each more than 0 with its 95 % interval",
        passes=lambda found: all(is_clearly_above(cell) for cell in found),
        found=cells,
        without={"vanilla twice": [[[0.0, 0.0]]]},
    )
    falls = [(chats.fewer(one), chats.pair(one, last).gain) for one in rooms[1:]]
    if falls:
        yield evidence(
            shape=f"chat, {last} messages, {listed(map(str, rooms[1:]))} rooms: the misses fall by "
            "a larger share than the time",
            published=listed(
                f"{percent(1 - MISSES[one][1] / MISSES[one][0])} and {percent(published[one][-1])}"
                for one in rooms[1:]
            ),
            simulated=listed(f"{percent(misses)} and {percent(time)}" for misses, time in falls),
            criterion="larger in all rows",
            passes=lambda found: all(misses > time for misses, time in found),
            found=falls,
            without={"vanilla twice": [[(0.0, 0.0)]], "equal shares": [[(0.5, 0.5)]]},
        )
    spreads = [
        tuple(chats.spread(policy, one, messages) for policy in (VANILLA, NEW))
        for one in rooms
        for messages in MESSAGES
    ]
    yield evidence(
        shape="chat: standard deviation of five runs, in all combinations",
        published="considerably smaller with data affinity",
        simulated=" → ".join(
            f"{100 * min(row):.1f}–{percent(max(row), 1)}" for row in zip(*spreads, strict=True)
        ),
        criterion="at most half of vanilla's",
        passes=lambda found: all(after <= before / 2 for before, after in found),
        found=spreads,
        without={"vanilla twice": [[(before, before) for before, _ in spreads]]},
    )


def fitted_rows(chats: Chats) -> Iterator[Row]:
    """Yield what parameters were fitted to."""
    first, last = chats.rooms[0], MESSAGES[-1]
    old = chats.times(VANILLA, first, last)
    wanted = TIMES[first][-1][0]
    yield put_in(
        shape=f"chat, {first} rooms, {last} messages: run time of vanilla",
        published=f"{wanted:.1f} s",
        simulated=f"{with_interval(old)} s",
        criterion=f"within {percent(NEAR)}",
        holds=abs(mean(old) / wanted - 1) <= NEAR,
    )
    new = sum(mean(chats.times(NEW, first, messages)) for messages in MESSAGES)
    wanted = sum(new for _, new in TIMES[first])
    yield put_in(
        shape=f"chat, {first} rooms: sum of the run times of data affinity",
        published=f"{wanted:.1f} s",
        simulated=f"{new:.1f} s",
        criterion=f"within {percent(NEAR)}",
        holds=abs(new / wanted - 1) <= NEAR,
    )
    fewer = 1 - MISSES[first][1] / MISSES[first][0]
    yield put_in(
        shape=f"chat, {first} rooms, {last} messages: misses fall",
        published=f"by {percent(fewer)}",
        simulated=f"by {percent(chats.fewer(first))}",
        criterion=f"within {percent(NEAR)}",
        holds=abs(chats.fewer(first) - fewer) <= NEAR,
    )


def table(chats: Chats) -> str:
    """Return seconds, published and simulated."""
    head = " | ".join(f"{messages} messages" for messages in MESSAGES)
    lines = [f"| rooms | {head} |", f"|---|{'---|' * len(MESSAGES)}"]
    for one in chats.rooms:
        cells = []
        for (old, new), messages in zip(TIMES[one], MESSAGES, strict=True):
            before, after = chats.pair(one, messages).time
            gain = with_interval([100 * gain for gain in chats.gains(one, messages)], 0)
            cells.append(f"{old:.1f} → {new:.1f}; {before:.1f} → {after:.1f}, {gain} %")
        lines.append(f"| {one} | {' | '.join(cells)} |")
    return "\n".join(lines)
