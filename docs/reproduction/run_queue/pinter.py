"""Scheduling by data affinity: Pinter and Zalmanovici, section 5."""

from collections.abc import Iterator
from statistics import mean

import pinter_chat as chat
from pinter_custom import CUSTOM_PARAMETERS, custom_row
from pinter_hackbench import gains_of_hackbench
from pinter_runs import MACHINE, SHIPPED, SPAWN_TIMES
from rows import Row, Section, evidence
from words import is_clearly_above, listed, percent, with_interval

from dfopt.simulate.workloads.hackbench import Hackbench

LOOPS = (20, 30, 60, Hackbench().loops)
"""Of hackbench; the program's own number is the last."""


def section(*, quick: bool = False) -> Section:
    """Simulate chat rooms and the custom benchmark under O(1) and under data affinity."""
    chats = chat.Chats(quick=quick)
    least = min(mean(chats.gains(*cell)) for cell in chats.cells)
    loops = LOOPS[:1] if quick else LOOPS
    hackbench = {number: gains_of_hackbench(number) for number in loops}
    growths = list(chat.growths(chats))
    return Section(
        title="Data affinity (Pinter and Zalmanovici)",
        paper="Pinter",
        intro=(
            "Two CPUs; *vanilla* is the O(1) scheduler, *new* data affinity. The gain is the "
            "share by which the run time falls. Chat rooms pay the penalty f, with one fragment "
            "for each room in the client and in the server. The custom benchmark runs on caches "
            "of lines with write-invalidation. After ± stand halves of 95 % intervals by "
            "Student's t, over five runs of the chat or over the orders in which the custom "
            "benchmark deals out its fragments. The workloads are those of the scenarios `chat`, "
            "`hackbench` and `custom`, and the table of parameters says what differs here."
        ),
        wrong=(
            "*Hackbench's gain is a matter of its length*, of which the paper says nothing: "
            + listed(
                f"{with_interval([100 * gain for gain in gains])} % with {number} loops"
                for number, gains in hackbench.items()
            )
            + f". The program's own number is {LOOPS[-1]}.",
            "*A chat in which one message stands for "
            f"{chat.SHORTENED} gains something else*: with {chat.ROOMS[0]} rooms and "
            f"{chat.MESSAGES[0]} messages {percent(mean(chats.gains(*chats.cells[0])))}, and "
            f"{percent(chats.whole_gain())} if every message is simulated.",
            *unresolved(growths),
        ),
        rows=(
            *chat.rows_of(chats),
            *(row for row in growths if isinstance(row, Row)),
            hackbench_row(hackbench[loops[-1]], loops[-1], least),
            custom_row(quick=quick),
        ),
        parameters=(*chat_parameters(), *CUSTOM_PARAMETERS),
        notes="Chat: seconds, published; simulated, and the simulated gain:\n\n"
        + chat.table(chats),
    )


def unresolved(growths: list[Row | str]) -> Iterator[str]:
    """Say for which steps of the chat's gain five runs are too few."""
    shapes = [one for one in growths if isinstance(one, str)]
    if shapes:
        yield (
            "*Runs of the chat are too few for its steps*: a gain that grows as published would "
            f"not be told from chance in {listed(shapes)}."
        )


def hackbench_row(gains: list[float], loops: int, chat_least: float) -> Row:
    """Compare hackbench's gain with those of the chat: the paper names it without numbers."""
    return evidence(
        shape=f"hackbench, {loops} loops: gain",
        published="more modest than that of the chat",
        simulated=f"{with_interval([100 * gain for gain in gains])} %, "
        f"and at least {percent(chat_least)} in the chat",
        criterion="more than 0, and less than half of the chat's least, with its 95 % interval",
        passes=lambda found: (
            is_clearly_above(found) and is_clearly_above([chat_least / 2 - gain for gain in found])
        ),
        found=gains,
        without=[[0.0] * len(gains), [chat_least] * len(gains)],
    )


def chat_parameters() -> tuple[tuple[str, str, str], ...]:
    """Return what the paper does not give."""
    shipped = SHIPPED["chat"]
    return (
        (
            "chat: messages for one simulated",
            f"{chat.SHORTENED}, under both schedulers",
            f"to shorten the simulation; a message takes {chat.SHORTENED} times as long, and a "
            f"thread that comes to another room reads {chat.SHORTENED} times as much for it",
        ),
        (
            "chat: execution time of a message",
            f"{chat.MESSAGE_TIME / 1000:.2f} µs at each of its 40 stations, where the scenario "
            f"has {chat.CHAT.message_time / 1000:.0f} µs",
            "fitted to the sum of the three run times of *new* with 10 rooms",
        ),
        (
            "chat: what a thread reads when it comes to another room",
            f"{chat.LINES} lines of {chat.READ_LINE} ns for a message, where the scenario has all "
            f"lines of the room, and {shipped.penalty.read_line} ns",
            "fitted to the run time of *vanilla* with 10 rooms and 1500 messages; the time of a "
            "line is assumed",
        ),
        (
            "chat: messages that a socket holds",
            f"{chat.SOCKET}, where the scenario has no limit",
            "assumed: Linux 2.6 receives 87,380 bytes before the program reads them; a message "
            "has 100 bytes and nearly 500 of overhead",
        ),
        (
            "chat, hackbench: runs",
            f"{len(SPAWN_TIMES)} in every cell, as in the paper",
            f"assumed: runs differ in the time to make a thread, {min(SPAWN_TIMES) // 1000} to "
            f"{max(SPAWN_TIMES) // 1000} µs",
        ),
        (
            "writing back; switch to another thread",
            f"0; {MACHINE.switch_time / 1000:.0f} µs",
            "assumed",
        ),
    )
