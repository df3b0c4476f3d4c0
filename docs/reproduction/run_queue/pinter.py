"""Scheduling by data affinity: Pinter and Zalmanovici, section 5."""

from collections.abc import Iterator

import pinter_chat as chat
import pinter_custom as custom
from pinter_runs import MACHINE, SPAWN_TIMES
from section import Calibrated, Row, Section, Verdict
from shares import percent


def section(quick: bool = False) -> Section:
    """Simulate chat rooms and the custom benchmark under O(1) and under data affinity."""
    chats, customs = chat.Chats(quick=quick), custom.Customs(quick=quick)
    return Section(
        title="Data affinity (Pinter and Zalmanovici)",
        intro=(
            "Two CPUs; *vanilla* is the O(1) scheduler, *new* data affinity. Gain is how much "
            "of the run time falls away. Chat rooms pay the penalty f, one fragment for each room "
            "in the client and in the server. The custom benchmark runs on caches of lines with "
            "write-invalidation, for its losses cannot be those of switches: with time slices of "
            "100 ms one would have to take 10 ms. What is marked as fitted is no evidence."
        ),
        rows=(
            *chat.rows_of(chats),
            Row(
                shape="chat: throughput",
                published="the printed numbers contradict the printed times",
                simulated="—",
                verdict=Verdict.NOT_MODELLED,
            ),
            *custom.rows_of(customs),
        ),
        calibrated=calibrated(chats),
        notes="\n\n".join((*chat_notes(chats), *custom_notes(customs))),
    )


def calibrated(chats: chat.Chats) -> tuple[Calibrated, ...]:
    """Return what the paper does not give."""
    read = chat.LINES * chat.READ_LINE / 1000
    runs = ", ".join(f"{count} with {rooms}" for rooms, count in chat.VANILLA_RUNS.items())
    shortened = ", ".join(f"{count} with {rooms}" for rooms, count in chat.STANDS_FOR.items())
    first = chats.rooms[0]
    found = chats.pair(first, chat.MESSAGES[-1]).time[0]
    return (
        Calibrated(
            parameter="chat: messages for one simulated, by rooms",
            value=f"*vanilla*: {shortened}; *new*: {chat.SHORTENED}",
            fitted_to="to shorten the simulation; such a message takes so many times as long, and "
            "a thread that comes to another room reads so many times as much for it",
        ),
        Calibrated(
            parameter="chat: execution time of a message",
            value=f"{chat.MESSAGE_TIME / 1000:.2f} µs at each of its 40 stations",
            fitted_to="the sum of the three run times of *new* with 10 rooms",
        ),
        Calibrated(
            parameter="chat: what a thread reads when it comes to another room",
            value=f"{chat.LINES} lines of {chat.READ_LINE} ns for a message, {read:.1f} µs",
            fitted_to="the run time of *vanilla* with 10 rooms and 1500 messages, which it meets "
            f"within {percent(abs(found / chat.TIMES[first][-1][0] - 1))}; one line more or less "
            "changes that by as much. The time of a line, from memory, is assumed",
        ),
        Calibrated(
            parameter="chat: messages that a socket holds",
            value=f"{chat.SOCKET}",
            fitted_to="assumed: the 87,380 bytes that Linux 2.6 receives without being read, 100 "
            "and nearly 500 of overhead for each",
        ),
        Calibrated(
            parameter="chat: misses that no scheduler avoids",
            value=f"{chats.unavoidable():.1f} lines at each of a message's 40 stations",
            fitted_to="misses with 10 rooms, which fall by 60 %; their time is in that of a "
            "message",
        ),
        Calibrated(
            parameter="chat: runs, by rooms",
            value=f"means of *vanilla*: {runs}; one of *new*",
            fitted_to=f"they differ in the time to make a thread, {min(SPAWN_TIMES) // 1000} to "
            f"{max(SPAWN_TIMES) // 1000} µs, which is assumed; the spread is that of "
            f"{chat.SPREAD_RUNS} runs with one message for {chat.SHORTENED}",
        ),
        Calibrated(
            parameter="custom: which thread works on which fragment",
            value="as many on each, in a random order; means over "
            + ", ".join(f"{count} ({threads} threads)" for threads, count in custom.DEALS.items()),
            fitted_to="the paper does not say",
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
            parameter="custom: iterations between two looks at the caches",
            value=f"{custom.BURST}",
            fitted_to="assumed, to shorten the simulation; in so many all lines of a fragment are "
            "touched once, and each stands for as many touches as there would be",
        ),
        Calibrated(
            parameter="custom: time of a miss",
            value=f"{custom.MISS} ns",
            fitted_to="assumed: a read from memory",
        ),
        Calibrated(
            parameter="custom: misses that no scheduler avoids",
            value=f"{custom.AT_THE_ENDS:.0f}/size for each iteration",
            fitted_to="the misses of *new*, 32 threads, fragments of 1000",
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


def chat_notes(chats: chat.Chats) -> Iterator[str]:
    """Say what the numbers of the chat mean."""
    yield "Chat: seconds, published; simulated:"
    yield chat.table(chats)
    rooms = chats.rooms[0]
    before, after = chats.pair(rooms, chat.MESSAGES[-1]).lines
    handlings = chat.handlings(rooms, chat.MESSAGES[-1])
    yield (
        "A thread that handles one message in microseconds reads what it needs for that, its "
        "stack, socket and buffers, and not all of the room. That the gain grows hangs on a plain "
        "fact: sockets are limited, and a sender that has filled its own waits for its reader. If "
        "senders send all they have at first, vanilla loses as much early as late. Nothing was "
        "fitted to the growth, and nothing that costs time piles up. Single steps are luck: runs "
        f"of vanilla differ by {percent(chats.spreads()[0])}, which is as much as a step, and "
        "growth from 500 to 1500 is all that is certain. With one line less, which meets the "
        "fitted time less well, two of the three rows do not grow at every step. The paper has "
        "means of five."
    )
    published = chat.MISSES[rooms]
    counts = [3000 * count / handlings * 2 for count in published]
    saved = 3000 * (published[0] - published[1]) * chat.READ_LINE / 1e9
    (old, new) = chat.TIMES[rooms][-1]
    yield (
        "How far misses fall was measured; how many there are cannot be what was printed. With "
        f"{rooms} rooms, {published[0]} and {published[1]} times 3000 are {counts[0]:.2f} and "
        f"{counts[1]:.2f} for each of {handlings / 2e6:.0f} million transmissions, of 100 bytes "
        "that must be copied from one process to another; and at a read from memory each the "
        f"difference is {saved:.2f} s of the {2 * (old - new):.0f} that both CPUs save. Perhaps "
        "the kernel's misses are left out, or the unit is another. Here the fragments' lines are "
        f"{before / handlings:.1f} → {after / handlings:.3f} at each station, and the message's "
        f"own {chats.unavoidable():.1f}, as many as its 100 bytes in two copies and the headers "
        "of their buffers."
    )


def custom_notes(customs: custom.Customs) -> Iterator[str]:
    """Say what the numbers of the custom benchmark mean."""
    threads, size = custom.THREADS[0], customs.sizes[0]
    gains = customs.gains(threads, size)
    lines = [custom.LINES_OF_ITERATION * custom.meetings(count) for count in custom.THREADS]
    yield (
        f"Custom: with {threads} threads and four fragments it is luck which ones the balancer "
        "pulls to the second CPU, and whether their turns coincide: by the order in which "
        f"fragments are dealt out the gain is {percent(min(gains))} to {percent(max(gains))}. If "
        "all places are equally likely, the thread that runs on the other CPU shares the fragment "
        "in (n/4 − 1)/(n − 1) of the time; that makes "
        + ", ".join(f"{one:.2f}" for one in lines)
        + " misses of an iteration with 8, 32 and 128 threads: few threads lose less."
    )
    yield (
        "Under data affinity no line is lost once every fragment stays on one CPU. The misses that "
        "were measured then fall nearly as the fragments grow, as they would if the lines at the "
        "ends of a fragment held a part of its neighbour as well: of "
        f"{custom.LINES_OF_ITERATION} lines anywhere, "
        f"{2 * custom.LINES_OF_ITERATION * custom.INTEGERS_OF_A_LINE:.0f}/size are such, and with "
        "lines that are read in pairs twice as many. One number between, fitted to one cell, is "
        "added to all cells. The simulated lines themselves are as many whatever the size."
    )
