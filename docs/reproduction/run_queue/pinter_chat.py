"""Chat rooms under data affinity: Pinter and Zalmanovici, section 5.1."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, pstdev

from pinter_runs import NEW, SECOND, SPAWN_TIMES, VANILLA, Pair, simulated
from section import Row, verdict
from shares import between, grows, percent, percents, points, within

from dfopt.simulate.run_queue.policy import Policy
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

# Assumed, or fitted; see what pinter.py lists.
STANDS_FOR = 50
"""So many messages of the paper are one here."""

MESSAGE_TIME = 2_630
VANILLA_RUNS = 2

# Criteria.
GAIN = (0.10, 0.60)
MORE = 0.1
TWO_THIRDS = (0.5, 0.8)


@dataclass(frozen=True, kw_only=True)
class Rooms:
    """What the fragment of a chat room is.

    Parameters
    ----------
    what
        In words.
    user_lines
        Lines for each user besides one message.
    waiting_lines
        Lines for each message that waits, of those that are simulated.
    read_line
        Time to read one.
    """

    what: str
    user_lines: int
    waiting_lines: int
    read_line: int


CONSTANT = Rooms(what="constant rooms", user_lines=38, waiting_lines=0, read_line=200)
GROWING = Rooms(
    what="rooms with what waits", user_lines=0, waiting_lines=2 * STANDS_FOR, read_line=100
)


@cache
def run_of(
    policy: type[Policy], model: Rooms, rooms: int, messages: int, spawn_time: int
) -> tuple[float, float]:
    """Return the seconds of a chat run, and the lines read; ``messages`` as in the paper."""
    kind = Chat(
        rooms=rooms,
        messages=messages // STANDS_FOR,
        message_time=MESSAGE_TIME * STANDS_FOR,
        user_lines=model.user_lines,
        waiting_lines=model.waiting_lines,
        spawn_time=spawn_time,
    )
    counters = simulated(kind, policy, model.read_line).counters
    return counters.end / SECOND, sum(counters.penalties) / model.read_line


def chat(model: Rooms, rooms: int, messages: int) -> Pair:
    """Return means of runs: one of the new scheduler, which hardly differ, more of vanilla."""
    old = [run_of(VANILLA, model, rooms, messages, one) for one in SPAWN_TIMES[:VANILLA_RUNS]]
    new = run_of(NEW, model, rooms, messages, SPAWN_TIMES[0])
    times, lines = zip(*old, strict=True)
    return Pair(time=(mean(times), new[0]), lines=(mean(lines), new[1]))


def rows_of(model: Rooms, rooms: Sequence[int]) -> list[Row]:
    """Return what the paper says of the chat benchmark."""
    published = {one: [1 - new / old for old, new in TIMES[one]] for one in rooms}
    gains = {one: [chat(model, one, messages).gain for messages in MESSAGES] for one in rooms}
    of_all = [gain for row in gains.values() for gain in row]
    name = f"chat, {model.what}"
    steps = f"{' → '.join(map(str, MESSAGES))} messages"
    rows = [
        Row(
            shape=f"{name}, {one} rooms: gain with {steps}",
            published=percents(published[one]),
            simulated=percents(gains[one]),
            criterion="grows with every step",
            verdict=verdict(holds=grows(gains[one])),
        )
        for one in rooms
    ]
    more = [row[-1] - row[0] for row in gains.values()]
    rows.append(
        Row(
            shape=f"{name}: gain with {MESSAGES[-1]} messages above that with {MESSAGES[0]}",
            published=points([row[-1] - row[0] for row in published.values()]),
            simulated=points(more),
            criterion=f"at least {points([MORE])} in all rows",
            verdict=verdict(holds=min(more) >= MORE),
        )
    )
    rows.append(
        Row(
            shape=f"{name}: range of the gain",
            published="14–55 %",
            simulated=f"{100 * min(of_all):.0f}–{percent(max(of_all))}",
            criterion=f"all of it {between(GAIN)}",
            verdict=verdict(holds=all(within(gain, GAIN) for gain in of_all)),
        )
    )
    fewer = [chat(model, one, MESSAGES[-1]).fewer for one in rooms]
    rows.append(
        Row(
            shape=f"{name}: fewer misses (lines read), {MESSAGES[-1]} messages",
            published=percents([1 - MISSES[one][1] / MISSES[one][0] for one in rooms]),
            simulated=percents(fewer),
            criterion=f"by about two thirds: {between(TWO_THIRDS)}",
            verdict=verdict(holds=all(within(share, TWO_THIRDS) for share in fewer)),
        )
    )
    return rows


def spread_row(rooms: int, runs: int) -> Row:
    """Return what the paper says of the spread of runs."""
    spread = []
    for policy in (VANILLA, NEW):
        times = [run_of(policy, CONSTANT, rooms, MESSAGES[1], one)[0] for one in SPAWN_TIMES[:runs]]
        spread.append(pstdev(times) / mean(times))
    return Row(
        shape=f"chat: spread of {runs} runs, {rooms} rooms, {MESSAGES[1]} messages",
        published="considerably smaller with data affinity",
        simulated=f"{percent(spread[0], 1)} → {percent(spread[1], 1)}",
        criterion="at most half",
        verdict=verdict(holds=spread[1] <= spread[0] / 2),
    )


def table(model: Rooms, rooms: Sequence[int]) -> str:
    """Return seconds, published and simulated."""
    head = " | ".join(f"{messages} messages" for messages in MESSAGES)
    lines = [f"| rooms | {head} |", f"|---|{'---|' * len(MESSAGES)}"]
    for one in rooms:
        cells = []
        for (old, new), messages in zip(TIMES[one], MESSAGES, strict=True):
            before, after = chat(model, one, messages).time
            cells.append(f"{old:.1f} → {new:.1f}; {before:.1f} → {after:.1f}")
        lines.append(f"| {one} | {' | '.join(cells)} |")
    return "\n".join(lines)


def linear_and_square(times: Sequence[float]) -> tuple[float, float]:
    """Return a and b of a·M + b·M² by least squares, M in thousands of messages."""
    numbers = [messages / 1000 for messages in MESSAGES]
    squares, cubes, fourths = (sum(number**power for number in numbers) for power in (2, 3, 4))
    first = sum(number * time for number, time in zip(numbers, times, strict=True))
    second = sum(number**2 * time for number, time in zip(numbers, times, strict=True))
    determinant = squares * fourths - cubes**2
    return (
        (first * fourths - second * cubes) / determinant,
        (second * squares - first * cubes) / determinant,
    )
