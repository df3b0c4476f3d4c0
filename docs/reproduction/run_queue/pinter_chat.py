"""Chat rooms under data affinity: Pinter and Zalmanovici, section 5.1."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from statistics import fmean, mean, stdev

from pinter_runs import NEW, SECOND, SHIPPED, SPAWN_TIMES, VANILLA, simulated
from rows import Row, evidence
from words import is_clearly_above, listed, percent, percents, with_interval
from words import table as markdown

from dfopt import replace
from dfopt.simulate.contract import Policy
from dfopt.simulate.workloads.chat import Chat

# Table 1: seconds, vanilla and new, by rooms and messages.
ROOMS, MESSAGES = (10, 20, 30), (500, 1000, 1500)
TIMES = {
    10: ((5.794, 4.954), (15.303, 10.935), (26.86, 15.85)),
    20: ((11.01, 7.89), (30.7, 16.85), (55.01, 24.6)),
    30: ((16.83, 10.81), (38.93, 22.4), (72.0, 35.2)),
}

CHAT: Chat = SHIPPED["chat"].workload
"""The shipped workload; what follows, and what pinter.py lists, differs from it."""

# Assumed, or fitted; see what pinter.py lists.
SHORTENED = 25
"""Number of the paper's messages that are one message here, under both schedulers."""

MESSAGE_TIME = 2_580
LINES, READ_LINE = 38, 200
"""What a thread reads for a message when it comes to a room, and the time of a line."""

USER_LINES = 100
"""Lines of a room for each user: more than any thread reads; nothing else depends on it."""

SOCKET = 150
"""Messages that a socket holds."""

QUICK_RUNS = 2

# Criteria.
MORE = 0.1
STEP = 0.01
"""The least by which a gain that grows must grow."""

Run = tuple[type[Policy], int, int, int, int]
"""Policy, rooms, messages of the paper, how many of them are one, and the time to make a thread."""


def run_of(run: Run) -> float:
    """Return the seconds of a chat run."""
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
    return simulated(kind, policy, READ_LINE).counters.end / SECOND


class Chats:
    """The simulations of the benchmark, done at once by all CPUs there are."""

    def __init__(self, *, quick: bool) -> None:
        self.rooms = ROOMS[:1] if quick else ROOMS
        self.cells = [(rooms, messages) for rooms in self.rooms for messages in MESSAGES]
        self._spawn_times = SPAWN_TIMES[:QUICK_RUNS] if quick else SPAWN_TIMES
        self._whole: list[Run] = [
            (policy, ROOMS[0], MESSAGES[0], SHORTENED if quick else 1, SPAWN_TIMES[0])
            for policy in (VANILLA, NEW)
        ]
        runs: list[Run] = [
            (policy, *cell, SHORTENED, spawn_time)
            for cell in self.cells
            for policy in (VANILLA, NEW)
            for spawn_time in self._spawn_times
        ]
        # The longest first, so that none is left to a single CPU at the end.
        runs = [*self._whole, *reversed(runs)]
        with ProcessPoolExecutor() as pool:
            self._found = dict(zip(runs, pool.map(run_of, runs), strict=True))

    def times(self, policy: type[Policy], rooms: int, messages: int) -> list[float]:
        """Return the seconds of all runs."""
        return [
            self._found[policy, rooms, messages, SHORTENED, spawn_time]
            for spawn_time in self._spawn_times
        ]

    def gains(self, rooms: int, messages: int) -> list[float]:
        """Return by how much the time falls, run by run."""
        both = zip(*(self.times(one, rooms, messages) for one in (VANILLA, NEW)), strict=True)
        return [1 - new / old for old, new in both]

    def whole_gain(self) -> float:
        """Return the gain in the smallest of the cells if every message is simulated."""
        old, new = (self._found[run] for run in self._whole)
        return 1 - new / old

    def spread(self, policy: type[Policy], rooms: int, messages: int) -> float:
        """Return how far runs are spread, relative to their mean."""
        times = self.times(policy, rooms, messages)
        return stdev(times) / mean(times)


def published_gains(rooms: int) -> list[float]:
    """Return the published gains by messages."""
    return [1 - new / old for old, new in TIMES[rooms]]


def rows_of(chats: Chats) -> Iterator[Row]:
    """Yield what the paper says of the chat benchmark, without the growth of the gain."""
    last = MESSAGES[-1]
    more = [
        mean(chats.gains(one, last)) - mean(chats.gains(one, MESSAGES[0])) for one in chats.rooms
    ]
    published = [gains[-1] - gains[0] for gains in map(published_gains, chats.rooms)]
    yield evidence(
        shape=f"chat, {listed(chats.rooms)} rooms: gain with {last} messages above that with "
        f"{MESSAGES[0]}",
        published=points(published),
        simulated=points(more),
        criterion=f"at least {points([MORE])} in all rows",
        passes=lambda found: min(found) >= MORE,
        found=more,
        without=[[0.0]],
    )
    spreads = [
        tuple(chats.spread(policy, *cell) for policy in (VANILLA, NEW)) for cell in chats.cells
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
        without=[[(before, before) for before, _ in spreads]],
    )


def growths(chats: Chats) -> Iterator[Row | str]:
    """Yield whether the gain grows with messages and rooms; a shape alone where none could tell."""
    for one in chats.rooms:
        yield growth(
            f"chat, {one} rooms: gain with {' → '.join(map(str, MESSAGES))} messages",
            published_gains(one),
            [chats.gains(one, messages) for messages in MESSAGES],
        )
    if len(chats.rooms) > 1:
        yield growth(
            f"chat, {MESSAGES[0]} messages: gain with {' → '.join(map(str, ROOMS))} rooms",
            [published_gains(one)[0] for one in ROOMS],
            [chats.gains(one, MESSAGES[0]) for one in ROOMS],
        )


def growth(shape: str, published: Sequence[float], runs: Sequence[Sequence[float]]) -> Row | str:
    """Return whether the gain grows with every step.

    Parameters
    ----------
    shape
        Where.
    published
        Gains by step.
    runs
        For each step the gains of all runs.
    """
    as_published = [
        [gain - fmean(row) + wanted for gain in row]
        for row, wanted in zip(runs, published, strict=True)
    ]
    if not grows_clearly(as_published):
        return shape
    return evidence(
        shape=shape,
        published=percents(published),
        simulated=listed(f"{with_interval([100 * gain for gain in row], 0)} %" for row in runs),
        criterion=f"at least {points([STEP])} more with every step, and more than 0 with the 95 % "
        "interval of the differences",
        passes=grows_clearly,
        found=runs,
        without=[[[0.0] * len(row) for row in runs]],
    )


def grows_clearly(runs: Sequence[Sequence[float]]) -> bool:
    """Return whether every step is larger, and not by chance."""
    for step in pairwise(runs):
        differences = [after - before for before, after in zip(*step, strict=True)]
        if fmean(differences) < STEP or not is_clearly_above(differences):
            return False
    return True


def points(differences: Sequence[float]) -> str:
    """Return differences of shares in percentage points."""
    shown = listed(f"{100 * difference:.0f}" for difference in differences)
    return f"{shown} {'point' if shown == '1' else 'points'}".replace("-", "−")


def table(chats: Chats) -> str:
    """Return seconds, published and simulated."""
    rows = []
    for one in chats.rooms:
        cells = [str(one)]
        for (old, new), messages in zip(TIMES[one], MESSAGES, strict=True):
            before, after = (mean(chats.times(policy, one, messages)) for policy in (VANILLA, NEW))
            gain = with_interval([100 * gain for gain in chats.gains(one, messages)], 0)
            cells.append(f"{old:.1f} → {new:.1f}; {before:.1f} → {after:.1f}, {gain} %")
        rows.append(cells)
    return markdown(["rooms", *(f"{messages} messages" for messages in MESSAGES)], rows)
