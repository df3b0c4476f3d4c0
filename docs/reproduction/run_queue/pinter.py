"""Scheduling by data affinity: Pinter and Zalmanovici, section 5."""

from collections.abc import Sequence

import pinter_chat as chat
import pinter_custom as custom
from pinter_runs import MACHINE, SPAWN_TIMES
from section import Calibrated, Row, Section, Verdict
from shares import percent

QUICK_RUNS = 2
SLOW_START = 1_000_000
"""So long a main thread might take to start a thread."""


def section(quick: bool = False) -> Section:
    """Simulate chat rooms and the custom benchmark under O(1) and under data affinity."""
    rooms = chat.ROOMS[:1] if quick else chat.ROOMS
    sizes = custom.SIZES[:1] if quick else custom.SIZES
    return Section(
        title="Data affinity (Pinter and Zalmanovici)",
        intro=(
            "Two CPUs; *vanilla* is the O(1) scheduler, *new* data affinity. Gain is how much "
            "of the run time falls away. Chat rooms pay the penalty f, one fragment for each room "
            f"in the client and in the server; {chat.STANDS_FOR} messages of the paper are one "
            "here, which takes so many times as long. What a room's data are the paper does not "
            "say. Two answers are simulated: *constant rooms*, so many lines for each user; and "
            "*rooms with what waits*, the lines of the messages that have come and not been "
            "taken. The custom benchmark runs on caches of lines with write-invalidation, for its "
            "losses cannot be those of switches: with time slices of 100 ms one would have to "
            "take 10 ms."
        ),
        rows=(
            *chat.rows_of(chat.CONSTANT, rooms),
            *chat.rows_of(chat.GROWING, rooms),
            chat.spread_row(rooms[0], QUICK_RUNS if quick else len(SPAWN_TIMES)),
            Row(
                shape="chat: throughput",
                published="the printed numbers contradict the printed times",
                simulated="—",
                verdict=Verdict.NOT_MODELLED,
            ),
            *custom.rows_of(sizes),
        ),
        calibrated=calibrated(),
        notes=notes(rooms, sizes),
    )


def calibrated() -> tuple[Calibrated, ...]:
    """Return what the paper does not give."""
    room = 20 * (chat.CONSTANT.user_lines + 2)
    return (
        Calibrated(
            parameter="chat: messages for one simulated",
            value=str(chat.STANDS_FOR),
            fitted_to="assumed, to shorten the simulation; the levels depend on it",
        ),
        Calibrated(
            parameter="chat: execution time of a message",
            value=f"{chat.MESSAGE_TIME / 1000:.2f} µs at each of its 40 stations",
            fitted_to="the sum of the three run times of *new* with 10 rooms",
        ),
        Calibrated(
            parameter="chat, constant rooms: time to read a room",
            value=f"{room} lines of {chat.CONSTANT.read_line} ns",
            fitted_to="assumed: 2.5 KB for each user, and a read from memory",
        ),
        Calibrated(
            parameter="chat, rooms with what waits: time to read a line",
            value=f"{chat.GROWING.read_line} ns; 2 lines for each message of 100 bytes",
            fitted_to="the run time of *vanilla* with 10 rooms and 1500 messages",
        ),
        Calibrated(
            parameter="chat: runs",
            value=f"means of {chat.VANILLA_RUNS} of *vanilla*, one of *new*",
            fitted_to=f"they differ in the time to make a thread, {min(SPAWN_TIMES) // 1000} to "
            f"{max(SPAWN_TIMES) // 1000} µs, which is assumed",
        ),
        Calibrated(
            parameter="custom: execution time of an iteration",
            value=f"{custom.ITERATION_TIME} ns",
            fitted_to="the run times of *new*: 27.4 s for 8 threads of 10 million on two CPUs",
        ),
        Calibrated(
            parameter="custom: lines touched in an iteration",
            value=f"{custom.LINES_OF_ITERATION}",
            fitted_to="0.5 misses of an iteration, *vanilla*, 32 threads",
        ),
        Calibrated(
            parameter="custom: time of a miss",
            value=f"{custom.MISS} ns",
            fitted_to="assumed: a read from memory",
        ),
        Calibrated(
            parameter="custom: unit of the size of fragments",
            value="integers of 4 bytes",
            fitted_to="assumed",
        ),
        Calibrated(
            parameter="custom: iterations",
            value=", ".join(
                f"{count / 1e6:g} million ({threads} threads)"
                for threads, count in custom.SIMULATED_ITERATIONS.items()
            ),
            fitted_to="fewer than the paper's 10 million, to shorten the simulation",
        ),
        Calibrated(
            parameter="writing back; switch to another thread",
            value=f"0; {MACHINE.switch_time / 1000:.0f} µs",
            fitted_to="assumed",
        ),
    )


def notes(rooms: Sequence[int], sizes: Sequence[int]) -> str:
    """Return what the numbers mean."""
    fits = []
    for one in rooms:
        (a, b), (c, d) = (
            chat.linear_and_square(times) for times in zip(*chat.TIMES[one], strict=True)
        )
        fit = f"{a:.1f} M {b:+.1f} M² → {c:.1f} M {d:+.1f} M² ({one} rooms)"
        fits.append(fit.replace("+", "+ ").replace("-", "− "))
    threads, size, slow = custom.THREADS[0], sizes[0], SLOW_START
    lucky = custom.custom(threads, size, slow)
    return (
        "Why the gain in the chat grows with the number of messages the paper does not say. Its "
        f"run times are, for M thousand messages, {'; '.join(fits)}: what data affinity saves "
        "grows with the square, so a message costs more the more there are. With constant rooms "
        "nothing here does that, and the gain does not grow steadily. Something must pile up. "
        "Senders may run ahead of everybody else, so messages may: if what a thread reads grows "
        "with what waits in its room, the time of a line, fitted to one run time of vanilla, gives "
        "about the others of as many messages, and of few. That is a hypothesis; the paper says "
        "nothing of it.\n\n"
        "Seconds with constant rooms, published; simulated:\n\n"
        f"{chat.table(chat.CONSTANT, rooms)}\n\n"
        "Seconds with what waits, published; simulated:\n\n"
        f"{chat.table(chat.GROWING, rooms)}\n\n"
        "Lines read fall further than the misses that were measured, since under f whoever comes "
        "to the fragment of the one before reads nothing at all, and nothing but the benchmark "
        "runs. The same holds for the custom benchmark, where no line is lost once every "
        "fragment stays on one CPU.\n\n"
        f"With {threads} threads and four fragments it is luck which ones the balancer pulls to "
        "the second CPU. Here the CPUs hardly ever run threads of one fragment at a time, so "
        f"vanilla hardly loses anything; if the main thread took {slow // 1_000_000} ms to start "
        f"a thread, the gain would be {percent(lucky.gain)}. The size of the fragments changes "
        "nothing by construction: an iteration touches as many lines whatever it is."
    )
