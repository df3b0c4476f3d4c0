"""Scheduling by data affinity: Pinter and Zalmanovici, section 5."""

from collections.abc import Iterator
from statistics import mean

import pinter_chat as chat
import pinter_custom as custom
from pinter_hackbench import HACKBENCH, LOOPS, READ_LINE, modest_gain
from pinter_runs import MACHINE, SHIPPED, SPAWN_TIMES
from section import Calibrated, Section, not_modelled
from shares import percent
from words import listed

from dfopt.simulate.run_queue.workloads.hackbench import Hackbench


def section(quick: bool = False) -> Section:
    """Simulate chat rooms and the custom benchmark under O(1) and under data affinity."""
    chats, customs = chat.Chats(quick=quick), custom.Customs(quick=quick)
    return Section(
        title="Data affinity (Pinter and Zalmanovici)",
        intro=(
            "Two CPUs; *vanilla* is the O(1) scheduler, *new* data affinity. The gain is the "
            "share by which the run time falls. Chat rooms pay the penalty f, with one fragment "
            "for each room in the client and in the server. The custom benchmark runs on caches "
            "of lines with write-invalidation. Its losses cannot be those of switches: with time "
            "slices of 100 ms a switch would have to take 10 ms. After ± stand halves of 95 % "
            "intervals by Student's t, over five runs of the chat or over the orders in which "
            "the custom benchmark deals out its fragments. The workloads are those of the "
            "scenarios `chat`, `hackbench` and `custom`, which come with dfopt. They are made for "
            "quick examples, and the table of parameters says what differs here."
        ),
        rows=(
            *chat.rows_of(chats),
            not_modelled("chat: throughput", "the printed numbers contradict the printed times"),
            modest_gain(
                [
                    mean(chats.gains(rooms, messages))
                    for rooms in chats.rooms
                    for messages in chat.MESSAGES
                ]
            ),
            *custom.rows_of(customs),
        ),
        calibrated=calibrated(chats),
        notes="\n\n".join((*chat_notes(chats), *custom_notes(customs))),
    )


def calibrated(chats: chat.Chats) -> tuple[Calibrated, ...]:
    """Return what the paper does not give."""
    read = chat.LINES * chat.READ_LINE / 1000
    return (
        Calibrated(
            parameter="chat: messages for one simulated",
            value=f"{chat.SHORTENED}, under both schedulers",
            fitted_to=f"to shorten the simulation; a message takes {chat.SHORTENED} times as long, "
            f"and a thread that comes to another room reads {chat.SHORTENED} times as much for it",
        ),
        Calibrated(
            parameter="chat: execution time of a message",
            value=f"{chat.MESSAGE_TIME / 1000:.2f} µs at each of its 40 stations, where the "
            f"scenario has {chat.CHAT.message_time / 1000:.0f} µs",
            fitted_to="the sum of the three run times of *new* with 10 rooms",
        ),
        Calibrated(
            parameter="chat: what a thread reads when it comes to another room",
            value=f"{chat.LINES} lines of {chat.READ_LINE} ns for a message, {read:.1f} µs, where "
            "the scenario has all lines of the room, and "
            f"{SHIPPED['chat'].penalty.read_line} ns",
            fitted_to="the run time of *vanilla* with 10 rooms and 1500 messages, mean of five "
            "runs. The time of a line, from memory, is assumed",
        ),
        Calibrated(
            parameter="chat: lines of a room, for each user",
            value=f"{chat.USER_LINES}, where the scenario has {chat.CHAT.user_lines}",
            fitted_to="more than any thread reads; nothing else depends on it",
        ),
        Calibrated(
            parameter="chat: messages that a socket holds",
            value=f"{chat.SOCKET}, where the scenario has no limit",
            fitted_to="assumed: Linux 2.6 receives 87,380 bytes before the program reads them; a "
            "message has 100 bytes and nearly 500 of overhead",
        ),
        Calibrated(
            parameter="chat: misses that no scheduler avoids",
            value=f"{chats.unavoidable():.1f} lines at each of a message's 40 stations",
            fitted_to="misses with 10 rooms, which fall by 60 %; the time of a message includes "
            "their time",
        ),
        Calibrated(
            parameter="chat, hackbench: runs",
            value=f"{len(SPAWN_TIMES)} in every cell, as in the paper",
            fitted_to=f"runs differ in the time to make a thread, {min(SPAWN_TIMES) // 1000} to "
            f"{max(SPAWN_TIMES) // 1000} µs, which is assumed",
        ),
        Calibrated(
            parameter="hackbench",
            value=f"{LOOPS} loops, where the scenario has {HACKBENCH.loops} and the program "
            f"{Hackbench().loops}; lines of {READ_LINE} ns, where the scenario has "
            f"{SHIPPED['hackbench'].penalty.read_line}",
            fitted_to="to shorten the simulation; the paper gives no parameters",
        ),
        Calibrated(
            parameter="custom: which thread works on which fragment",
            value="the same number on each, in a random order, where the scenario deals them "
            "out in turn; means over "
            + ", ".join(f"{count} ({threads} threads)" for threads, count in custom.DEALS.items())
            + f"; {custom.LONGER_DEALS} where iterations are compared",
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
            value=f"{custom.BURST}, where the scenario has {custom.CUSTOM.burst_iterations:,}",
            fitted_to="assumed, to shorten the simulation; in these iterations each line of a "
            "fragment is touched once, which stands for all touches that it would have",
        ),
        Calibrated(
            parameter="custom: time of a miss",
            value=f"{custom.MISS} ns, with caches of {custom.L2_LINES:,} lines. The scenario "
            "has no caches; there a change of fragment costs the penalty f",
            fitted_to="assumed: a read from memory. The caches are the second level's 256 KB",
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
            fitted_to="fewer than the paper's 10 million, to shorten the simulation; times are "
            "multiplied. Where iterations are compared, all are simulated",
        ),
        Calibrated(
            parameter="writing back; switch to another thread",
            value=f"0, where the scenarios have {shown_write_backs()}; "
            f"{MACHINE.switch_time / 1000:.0f} µs",
            fitted_to="assumed",
        ),
    )


def shown_write_backs() -> str:
    """Return what writing back costs in the shipped scenarios."""
    times = sorted({scenario.penalty.write_back for scenario in SHIPPED.values()})
    return " and ".join(f"{time / 1000:.0f}" for time in times) + " µs"


def chat_notes(chats: chat.Chats) -> Iterator[str]:
    """Say what the numbers of the chat mean."""
    yield "Chat: seconds, published; simulated:"
    yield chat.table(chats)
    rooms = chats.rooms[0]
    before, after = chats.pair(rooms, chat.MESSAGES[-1]).lines
    handlings = chat.handlings(rooms, chat.MESSAGES[-1])
    first = mean(chats.gains(rooms, chat.MESSAGES[0]))
    yield (
        "The columns of the table are published; simulated, and the simulated gain. A thread "
        "handles one message in microseconds. So it reads what it needs for that (its stack, "
        "socket and buffers), and not all of the room. Sockets are limited, and a sender that has "
        "filled its socket waits for its reader; no cost grows with time. A run of vanilla is up "
        "to chance: in which order threads wait decides how often rooms change. So five runs tell "
        "little about single steps of the gain.\n\nIf every message is simulated, the gain with "
        f"{rooms} rooms and {chat.MESSAGES[0]} messages is {percent(chats.whole_gain())} in one "
        f"run; where one stands for {chat.SHORTENED}, it is {percent(first)}."
    )
    published = chat.MISSES[rooms]
    counts = [3000 * count / handlings * 2 for count in published]
    saved = 3000 * (published[0] - published[1]) * chat.READ_LINE / 1e9
    (old, new) = chat.TIMES[rooms][-1]
    yield (
        "The paper measured how far misses fall, but the numbers of misses that it prints cannot "
        f"be right. With {rooms} rooms, {published[0]} and {published[1]} times 3000 are "
        f"{counts[0]:.2f} and {counts[1]:.2f} for each of {handlings / 2e6:.0f} million "
        "transmissions. Each of them copies 100 bytes from one process to another. If each miss "
        f"is a read from memory, the difference is {saved:.2f} s of the {2 * (old - new):.0f} "
        "that both CPUs save. Perhaps the kernel's misses are left out, or the unit is "
        f"different. Here the lines of the fragments are {before / handlings:.1f} → "
        f"{after / handlings:.3f} at each station, and the message's own "
        f"{chats.unavoidable():.1f}, which is its 100 bytes in two copies and the headers of "
        "their buffers."
    )


def custom_notes(customs: custom.Customs) -> Iterator[str]:
    """Say what the numbers of the custom benchmark mean."""
    threads, size = custom.THREADS[0], customs.sizes[0]
    gains = customs.gains(threads, size)
    lost = [
        custom.AT_THE_ENDS / size / customs.pair(threads, size).lines[1] for size in customs.sizes
    ]
    lines = [custom.LINES_OF_ITERATION * custom.meetings(count) for count in custom.THREADS]
    yield (
        f"Custom: with {threads} threads and four fragments chance decides which threads the "
        "balancer pulls to the second CPU, and whether threads of one fragment run at the same "
        "time. Depending on the order in which fragments are dealt out, the gain is "
        f"{percent(min(gains))} to {percent(max(gains))}. If all orders are equally likely, the "
        "thread on the other CPU shares the fragment in (n/4 − 1)/(n − 1) of the time. That "
        "gives "
        + ", ".join(f"{one:.2f}" for one in lines)
        + " misses of an iteration with 8, 32 and 128 threads: with few threads less is lost."
    )
    yield (
        "Under data affinity no line is lost once every fragment stays on one CPU. The measured "
        "misses then fall almost in proportion as the fragments grow. This would be so if the "
        "lines at the ends of a fragment also held a part of its neighbour: of "
        f"{custom.LINES_OF_ITERATION} lines of an iteration, "
        f"{2 * custom.LINES_OF_ITERATION * custom.INTEGERS_OF_A_LINE:.0f}/size are such lines, "
        "and twice as many if lines are read in pairs. One number between these two, fitted to "
        "one cell of the table, is added to all cells. It has the form of the published column, "
        f"and with {threads} threads it is {listed(percent(share) for share in lost)} of all "
        "misses under data affinity. So that misses fall with it as published is put in. What is "
        "simulated itself depends on the size only by chance, so the gain does not grow with "
        "the fragments."
    )
