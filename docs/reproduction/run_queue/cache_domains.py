"""Writes docs/background/cache-domains.md: what data affinity would have gained over EEVDF.

``python docs/reproduction/run_queue/cache_domains.py`` takes some three minutes of processor time,
and gives the same page and the same pictures each time. Every number of the page is from here.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from cache_domains_cases import (
    AT_HALF,
    CASES,
    FEW_MESSAGES,
    FITTED_CHATS,
    GROUPS,
    LIMITED,
    MORE_FITTED,
    MORE_UNLIMITED,
    OPEN,
    PRICED,
    PRICES,
    RECORDED,
    SHORT,
    SOCKETS,
    SPLIT,
    TABLES,
    UNLIMITED_CHATS,
    all_runs,
    has_enough_fragments,
    short_title,
    title_of,
)
from cache_domains_pictures import gains, later, saved, trade
from cache_domains_runs import (
    BY_FRAGMENT,
    CACHE_AWARE,
    DATA_AFFINITY,
    EEVDF,
    LINUX_O1,
    PATIENCE,
    RUSTY,
    VARIANTS,
    Case,
    Figures,
    Results,
    Variant,
    recorded_figures,
)
from cache_domains_tables import Tables, code, percents, span, when
from cache_domains_words import COLUMNS, METHOD, UNFIT
from words import is_clearly_above, listed, table, with_interval

from dfopt.plot import save_picture

PAGE = Path(__file__).parents[2] / "background" / "cache-domains.md"
IMAGES = "../images"
TRADE, GAINS = "cache-domains-trade.png", "cache-domains-gains.png"


class Page:
    """The Markdown of the page.

    Parameters
    ----------
    results
        Of all runs.
    recorded
        What the recordings themselves show.
    """

    def __init__(self, results: Results, recorded: dict[Case, Figures]) -> None:
        self.results = results
        self.recorded = recorded
        self.tables = Tables(results, recorded)

    def mean(self, case: Case, variant: Variant, name: str) -> float:
        """Return the mean of a figure."""
        return mean(self.results.values(case, variant, name))

    def ratios(self, name: str, group: str) -> str:
        """Return how many times as large means are under data affinity as under EEVDF."""
        found = [1 - saved(self.results, case, name) for case in GROUPS[group]]
        return span(found, 2)

    def difference(self, case: Case, name: str, one: Variant, other: Variant) -> int:
        """Return 1 or -1 if a figure is clearly more or less than under another policy, else 0."""
        pairs = zip(*(self.results.values(case, each, name) for each in (one, other)), strict=True)
        differences = [value - base for value, base in pairs]
        if is_clearly_above(differences):
            return 1
        return -1 if is_clearly_above([-difference for difference in differences]) else 0

    def ends(self, cases: Sequence[Case], variant: Variant = DATA_AFFINITY) -> list[float]:
        """Return how much later a policy ends than EEVDF."""
        return [mean(later(self.results, case, variant)) for case in cases]

    def shares(self, group: str, variant: Variant = EEVDF) -> str:
        """Return the share of CPU time that changes take."""
        return percents([self.mean(case, variant, "share") for case in GROUPS[group]], 1)

    def clear_ends(self, cases: Sequence[Case]) -> tuple[int, int]:
        """Return in how many cases data affinity clearly ends sooner, and later."""
        found = [self.difference(case, "end", DATA_AFFINITY, EEVDF) for case in cases]
        return found.count(-1), found.count(1)

    def answer(self) -> Iterator[str]:
        """Yield the answer."""
        results = self.results
        changes = [saved(results, case, "changes") for case in CASES]
        penalty = [saved(results, case, "penalty") for case in CASES]
        less = {
            one: [saved(results, case, "changes", base=one) for case in SPLIT]
            for one in (CACHE_AWARE, BY_FRAGMENT)
        }
        yield (
            f"- **Changes and penalty**: data affinity would have saved {percents(changes)} of "
            f"EEVDF's changes of fragment, and {percents(penalty)} of what they cost. Of the "
            "changes of cache-aware EEVDF it would have saved "
            f"{percents([*less[CACHE_AWARE], *less[BY_FRAGMENT]])}. That holds whether the "
            "CPUs share one cache or two."
        )
        recordings, fitted, unlimited = GROUPS
        enough = {
            group: [case for case in GROUPS[group] if has_enough_fragments(case)]
            for group in (fitted, unlimited)
        }
        sooner, _ = self.clear_ends(enough[fitted])
        others = self.clear_ends([*GROUPS[recordings], *enough[unlimited]])
        few = [case for case in CASES if not case.is_recording and not has_enough_fragments(case)]
        yield (
            "- **Time**: it saves time only where changes take much of it. In a chat that was "
            "fitted to published measurements, EEVDF's changes take "
            f"{self.shares(fitted)} of the CPUs' time. With a fragment for each CPU, data affinity "
            f"ends {when(self.ends(enough[fitted]))} there, and clearly sooner in {sooner} of "
            f"{len(enough[fitted])} cases. On the recordings the changes take only "
            f"{self.shares(recordings)}, and in a chat whose sockets have no limit "
            f"{self.shares(unlimited)}. There data affinity ends clearly sooner in {others[0]} and "
            f"clearly later in {others[1]} of "
            f"{len(GROUPS[recordings]) + len(enough[unlimited])} cases. That says nothing of other "
            "recordings: where other programs take much of the time, data affinity may leave CPUs "
            "idle and end later, so simulate yours. With fewer fragments than "
            f"CPUs it leaves CPUs idle, and ends {when(self.ends(few))}."
        )
        yield (
            "- **Latency and fairness**: the threads of one fragment run one after the other, and "
            "those of the others wait meanwhile. On the recordings the median wake-up latency is "
            f"{self.ratios('p50', recordings)} times that of EEVDF, the 99th percentile "
            f"{self.ratios('p99', recordings)} times, and Jain's index of fairness "
            f"{self.ratios('fairness', recordings)} times. In the fitted chat these are "
            f"{self.ratios('p50', fitted)}, {self.ratios('p99', fitted)} and "
            f"{self.ratios('fairness', fitted)} times."
        )
        alike = {
            one: [self.difference(case, "changes", one, EEVDF) for case in SPLIT].count(0)
            for one in (CACHE_AWARE, BY_FRAGMENT)
        }
        yield (
            "- **Cache-aware EEVDF** cannot be told apart from EEVDF by its changes in "
            f"{alike[CACHE_AWARE]} of {len(SPLIT)} cases with two domains, and in "
            f"{alike[BY_FRAGMENT]} if it knows the fragments. It decides in which domain threads "
            "run; data affinity decides which threads run in succession on a CPU."
        )

    def causes(self) -> Iterator[str]:
        """Yield why it comes out like this."""
        results = self.results
        recordings, fitted, unlimited = GROUPS
        yield "## Why"
        yield ""
        yield (
            "*How much there is to gain depends on how frequently threads sleep.* A thread whose "
            "socket is full sleeps, and its CPU goes on to another one, often of another "
            "fragment. Without a limit threads use their slices, and EEVDF changes rarely. The "
            "chat with unlimited sockets, 4 rooms, on 4 CPUs in two domains, when its sockets "
            "get a limit:"
        )
        yield ""
        sockets = {
            case: [str(socket or "any number")]
            for case, socket in zip(LIMITED, SOCKETS, strict=True)
        }
        yield from self.tables.small_table(sockets, ["messages in a socket"])
        yield (
            "*Data affinity leaves CPUs idle.* A fragment stays on its CPU while its threads are "
            "ready, and is split only if the imbalance lasts. So 2 rooms, which are 4 fragments, "
            "use half of 8 CPUs; and where fragments cannot be dealt out evenly, some CPUs end "
            "before others:"
        )
        yield ""
        more = {case: [title_of(case)] for case in (*MORE_FITTED, *MORE_UNLIMITED)}
        shown = (EEVDF, BY_FRAGMENT, RUSTY, DATA_AFFINITY, PATIENCE)
        yield from self.tables.small_table(more, ["chat"], shown)
        yield (
            "*Cache-aware EEVDF does nothing for most of the time, by its own rules.* A process "
            "that uses most of a domain's CPUs prefers no domain, and where both domains are "
            "overloaded, preferences do not count. Chat keeps all CPUs busy, and its two "
            "processes are large. The recordings do not say which thread belongs to which "
            "process, so all of hackbench is one large process here; in fact each of its processes "
            "has one thread, and for those Linux does nothing either. With fragments in the place "
            "of processes, the second reason remains. Besides, the CPUs of a domain still change "
            "between its fragments; only the way of the data is shorter."
        )
        yield ""
        yield (
            "*Data affinity does not know domains.* A fragment has one CPU, so its figures hardly "
            "depend on domains and near lines. A policy that shared a large fragment among the "
            "CPUs of one domain could leave fewer of them idle."
        )
        yield ""
        rusty = [saved(results, case, "changes", RUSTY) for case in GROUPS[fitted]]
        patience = [saved(results, case, "changes", PATIENCE) for case in CASES]
        waits = [1 - saved(results, case, "p50", PATIENCE) for case in GROUPS[recordings]]
        o1 = {
            group: span(
                [1 - saved(results, case, "changes", LINUX_O1) for case in GROUPS[group]],
                1,
                " times",
            )
            for group in (fitted, unlimited)
        }
        yield (
            f"*Others gain, too.* `scx-rusty` saves {percents(rusty)} of EEVDF's changes in the "
            f"fitted chat, and ends {when(self.ends(GROUPS[fitted], RUSTY))}; it preempts nothing. "
            f"`patience`, which lets a CPU wait for its fragment for 0.1 ms, saves "
            f"{percents(patience)} in all cases, and ends "
            f"{when(self.ends(GROUPS[fitted], PATIENCE))} in the fitted chat and "
            f"{when(self.ends(GROUPS[unlimited], PATIENCE))} in the other one; on the recordings "
            f"its median latency is {span(waits, 1, ' times')} that of EEVDF. Linux's O(1) "
            "scheduler, with which data affinity was compared when it was published, makes "
            f"{o1[fitted]} the changes of EEVDF in the fitted chat, and {o1[unlimited]} in the "
            "other one, where threads that wake up preempt under O(1) and wait under EEVDF."
        )
        yield ""

    def prices(self) -> Iterator[str]:
        """Yield what data affinity gains if a change costs more."""
        gained = [
            [-100 * end for end in later(self.results, case, DATA_AFFINITY)] for case in PRICED
        ]
        rows = [
            [
                title_of(case),
                f"{case.read_line:,} ns",
                *(
                    with_interval([100 * one for one in self.results.values(case, each, "share")])
                    for each in (EEVDF, DATA_AFFINITY)
                ),
                with_interval(gain),
            ]
            for case, gain in zip(PRICED, gained, strict=True)
        ]
        clear = [
            f"{title_of(case)} with lines of {case.read_line:,} ns"
            for case, gain in zip(PRICED, gained, strict=True)
            if is_clearly_above(gain)
        ]
        yield "## If a change cost more"
        yield ""
        yield (
            f"What a change costs is assumed. A price {PRICES[-1]} times as high is the same as "
            f"fragments of {PRICES[-1]} times as many lines: some 64 kB in place of 4 kB for a "
            "group of hackbench, some 860 kB in place of 54 kB for a room of the chat. Data "
            f"affinity ends clearly sooner in: {'; '.join(clear) or 'none of these'}."
        )
        yield ""
        columns = ["workload", "a line", "penalty under EEVDF, % of CPU time", "data affinity"]
        yield table([*columns, "data affinity ends sooner by, %"], rows)
        yield ""

    def short_chat(self) -> Iterator[str]:
        """Yield what happens in short chats."""
        found = {one: self.results.values(SHORT, one, "changes") for one in (EEVDF, CACHE_AWARE)}
        pairs = list(zip(*found.values(), strict=True))
        worse = sum(cache_aware > eevdf for eevdf, cache_aware in pairs)
        better = sum(cache_aware < eevdf for eevdf, cache_aware in pairs)
        both = [figures for one in found for figures in self.results.of(SHORT, one)]
        both.sort(key=lambda figures: figures.changes)
        worst = max(new / old for old, new in pairs)
        yield "## Where cache-aware EEVDF seems to lose"
        yield ""
        yield (
            f"In a chat of 2 rooms and {FEW_MESSAGES} messages with unlimited sockets, on 4 CPUs "
            "in two domains and with slices of 3 ms, cache-aware EEVDF makes up to "
            f"{worst:.1f} times as many changes as EEVDF in a run:"
        )
        yield ""
        rows = [
            [code(one), *(f"{value:,}" for value in values), with_interval(values, 0)]
            for one, values in found.items()
        ]
        spawned = [f"{value / 1e3:g}" for value in SHORT.values]
        yield table(["changes, by µs to make a thread", *spawned, "mean"], rows)
        yield ""
        difference = with_interval([new - old for old, new in pairs], 0)
        yield (
            f"It makes more changes in {worse} of {len(pairs)} runs, fewer in {better}, and "
            f"{difference} more on average: no difference is resolved. The cause is the end of "
            "the chat, when one room is left for all CPUs. A writer in the server and a receiver "
            "in the client share a CPU, hand over one message at a time, and each time the CPU "
            "changes between the two fragments of the room. In the run with the most changes "
            f"{100 * both[-1].at_the_end:.0f} % of them are of this sort and in the last third "
            f"of the time, in the run with the fewest {100 * both[0].at_the_end:.0f} %. Each of "
            "the two policies falls into this step or not by chance, and neither has a rule "
            "against it. So single runs of short chats say nothing about which one is better."
        )
        yield ""
        yield f"```text\n{SHORT.command(EEVDF, CACHE_AWARE)}\n```"
        yield ""

    def doubts(self) -> Iterator[str]:
        """Yield what the figures do not say."""
        split = [case for case in RECORDED if not case.has_one_domain]
        stretched = [
            self.mean(case, variant, "end") / self.recorded[case].end
            for case in RECORDED
            for variant in case.variants
        ]
        made = listed(
            f"{case.workload} {self.recorded[case].changes:,} and "
            f"{with_interval(self.results.values(case, EEVDF, 'changes'), 0)}"
            for case in split
        )
        open_saved = [saved(self.results, case, "changes") for case in OPEN]
        yield "## What it does not know"
        yield ""
        yield (
            "- *Which chat is true.* The fitted one meets a published gain of data affinity over "
            "O(1), by the size of sockets and the price of lines; under EEVDF nobody measured it."
        )
        yield (
            "- *How true replays are.* EEVDF here makes fewer changes than the kernel made "
            f"(recorded and replayed: {made}). Replays last {span(stretched, 1, ' times')} as "
            "long as the recordings: a thread that another one woke waits for that one in each "
            "replay, even if a message would have been there before. So times of replays compare "
            "policies with each other, and not with the recording."
        )
        yield (
            "- *Feedback.* Replays that keep the recorded waits instead have more wake-ups. Data "
            f"affinity saves {percents(open_saved)} of EEVDF's changes there:"
        )
        yield ""
        yield from self.tables.small_table(
            {case: [case.workload] for case in OPEN},
            ["recording"],
            (EEVDF, BY_FRAGMENT, DATA_AFFINITY),
        )
        yield (
            "- *Other kernels.* EEVDF is that of Linux 6.6, without groups of threads and past "
            "loads, and cache-aware balancing knows no sizes of working sets. Data affinity "
            "stands on O(1), as published, and not on EEVDF: with O(1)'s long slices."
        )
        yield (
            "- *What was possible.* The least numbers let dispatches run in any order. [What was "
            "attainable](attainable.md) keeps cause and effect."
        )

    def lines(self) -> Iterator[str]:
        """Yield all of the page."""
        yield "# Cache domains: what data affinity would have gained"
        yield ""
        yield (
            "What would [data affinity](../reference/scenario.md#policies) have gained over EEVDF, "
            "the scheduler of Linux, and over EEVDF with cache-aware load balancing, on recorded "
            "traces and on chat, in changes of fragment, penalty and latency, and with which "
            "caches?"
        )
        yield ""
        yield from self.answer()
        yield ""
        yield f"![Changes of fragment and median wake-up latency, by policy]({IMAGES}/{TRADE})"
        yield ""
        yield (
            "Lower is better, and further left is better. Small marks are single runs, large ones "
            "their means."
        )
        yield ""
        yield f"![Penalties, and when all threads end, by workload and policy]({IMAGES}/{GAINS})"
        yield ""
        yield (
            "Black lines are 95 % intervals. Where `cache-aware` has no bar, there is one domain. "
            "`linux-o1` is left out here. *No limit* is the chat with unlimited sockets."
        )
        yield ""
        yield "## Tables"
        yield ""
        yield COLUMNS
        yield ""
        yield UNFIT
        yield ""
        for case in TABLES:
            yield from self.tables.case_table(case)
        yield from self.causes()
        yield from self.prices()
        yield from self.short_chat()
        yield METHOD
        yield ""
        yield from self.doubts()


def main() -> None:
    """Simulate everything, and write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    output = parser.parse_args().output
    results = Results(all_runs())
    recorded = {case: recorded_figures(case) for case in (*RECORDED, *AT_HALF) if case.is_recording}
    page = Page(results, recorded)
    output.write_text("\n".join(page.lines()).rstrip() + "\n", encoding="utf-8")
    images = output.parent / IMAGES
    images.mkdir(exist_ok=True)
    shown = (RECORDED[1], RECORDED[3], FITTED_CHATS[2], UNLIMITED_CHATS[0])
    panels = [(short_title(case), case) for case in shown]
    save_picture(trade(panels, results, recorded), images / TRADE)
    bars = [(short_title(case), case) for case in CASES]
    without = [variant for variant in VARIANTS if variant != LINUX_O1]
    save_picture(gains(bars, without, results), images / GAINS)


if __name__ == "__main__":
    main()
