"""The texts of the page on cache domains that have no figures of the simulations in them."""

from cache_domains_runs import LINES, READ_LINE, WRITE_BACK

COLUMNS = """\
Each row is a mean of five runs with half of its 95 % interval (Student's t).

changes (least)
: How often a CPU goes on to another fragment. In brackets: no schedule of the first run's \
dispatches has fewer, in any order.

arrivals (least)
: How often a fragment runs in another domain than before, or for the first time; and the proven \
least.

penalty
: What the changes cost all CPUs together. Lines that another CPU of the domain holds cost a \
quarter, or half, of any other. Where each domain has one CPU, there is no such CPU.

latency
: From a wake-up until the thread runs: half of all wake-ups (p50), and 99 of 100 (p99). Policies \
under which threads find their messages waiting have fewer wake-ups.

waited
: All threads together, from ready to running.

fairness
: Jain's index of running / (running + waiting), thread by thread; 1: alike.

end
: When the last thread ended."""

UNFIT = """\
`cache-aware` has a dash where there is one domain: nothing can be preferred there, it calls \
itself unfit, and is EEVDF. *Processes* means those of the workload. With *fragments* the threads \
of a fragment count as one process (`--set policy.cache-aware.group=fragment`), so it knows what \
data affinity knows. The command below a table gives the first run of each policy, in the folder \
`docs/examples`."""

METHOD = f"""\
## How it was computed

- *Recordings*: hackbench with 4 and 16 groups, [recorded on two \
CPUs](../tutorial/linux-against-the-best.md). The threads run again under each policy, and a \
thread waits for those that woke it. A group shares a fragment, which is found from wake-ups. A \
change reads {LINES} lines of {READ_LINE} ns, and \
writes back for {WRITE_BACK / 1000:g} µs.
- *The recording itself* is charged for its dispatches, in their order, on the same machine. Its \
waits are those of the kernel that ran it.
- *Fitted chat*: the chat of the [page about run queues](run-queue.md), whose message time, \
sockets and lines were fitted to published times under O(1) and data affinity; with 500 messages, \
25 of which are one here. *Unlimited sockets*: the scenario [`chat`](../reference/scenario.md) as \
it comes with dfopt, with 75 messages. A room is a fragment in the client and one in the server.
- *EEVDF's slice* is that of Linux 6.6: 0.75 ms times 1 + log2 of the number of CPUs, counting at \
most 8. That is 1.5 ms for two CPUs, 2.25 for four, and 3 for eight, the default here. (Newer \
kernels begin with 0.70 ms.) All other parameters are [defaults](../reference/scenario.md#defaults).
- *Runs*: these workloads and policies draw nothing, so all seeds give the same run. Runs differ \
by the time of a switch for recordings (1, 1.5, 2, 2.5 and 3 µs), and by the time to make a thread \
for chat (18 to 22 µs), as on the page about run queues. So intervals say how far such small \
differences carry. They say nothing about other programs.
- *Clearly* means: the mean of the differences, run by run, is off 0 by more than its 95 % interval.

`python docs/reproduction/run_queue/cache_domains.py` makes this page and its pictures, with every \
number on it."""
