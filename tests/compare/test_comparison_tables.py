"""Tables of a comparison, where something is not known."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dfopt import replace
from dfopt.compare import comparison_tables
from dfopt.compare.attainable.frontier import FrontierRow, Scheduling, WaitingFrontier
from dfopt.compare.attainable.switches_take_time import WithSwitches
from dfopt.compare.comparison import ONE_TRACE, Comparison, read_comparisons
from dfopt.compare.comparison_parts import Cause, OrderKept, Realised
from dfopt.compare.cost_model import CostModel
from dfopt.compare.written_times import WHOLE, parse_window
from dfopt.files import schema
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.render import cell_text, terminal_text
from dfopt.table import Table
from dfopt.trace.fragment_titles import CommCount
from dfopt.trace.service import Service, WaitFigures
from dfopt.trace.trace import Assumed, Lengths
from tests.compare.domains.test_domain_pairs import HALVES, TWO_ROUNDS, in_domains
from tests.compare.examples import causes, comparison, frontier, window

ORDER_FREE = "Order-free windows"


@pytest.mark.parametrize(("closed", "shown"), [(1, "≥ 1,200"), (4, "1,200")])
def test_a_balanced_optimum_that_is_not_proven_is_a_bound(closed: int, shown: str) -> None:
    row = replace(window("50", bound=4, rolling=9), balanced=1200, balanced_closed=closed)
    table = comparison(windows=(row,)).table("windows").only("balanced")
    assert cell_text(table.rows[0][0], table.columns[0]) == shown


def report(one: Comparison, *, with_windows: bool = False, verbose: bool = True) -> list[Table]:
    return one.tables(with_windows=with_windows, verbose=verbose)


def printed(tables: Sequence[Table], width: int = 80) -> str:
    return terminal_text(tables, width=width)


def shown(*comparisons: Comparison, with_windows: bool = False) -> str:
    return printed(comparison_tables(comparisons, with_windows=with_windows, verbose=True))


def test_policies_stand_side_by_side_under_their_names() -> None:
    found = shown(comparison(policy="fcfs", name="chat-fcfs"), comparison(policy="linux-o1"))
    lines = [line.split() for line in found.splitlines()]
    assert lines[2][:7] == ["policy", "window", "realised", "bound", "ratio", "rolling", "ratio"]
    assert lines[3] == ["fcfs", "5", "12", "4", "3.00", "9", "1.33"]
    assert ["policy", "managed", "each", "switches", "mainly", "lost", "to"] in lines
    assert ["linux-o1", "18", "0.6667", "12", "revisited", "50.0%"] in lines
    assert "traces: chat-fcfs, made by hand" in found


def test_columns_keep_their_order_where_a_bound_is_0() -> None:
    empty = comparison(windows=(window("5", bound=0, rolling=9), window("9", bound=4, rolling=6)))
    for text in (shown(empty, empty), printed(report(empty))):
        lines = [" ".join(line.split()) for line in text.splitlines()]
        headings = "window realised bound ratio rolling ratio"
        (heading,) = [at for at, line in enumerate(lines) if headings in line]
        assert "5 12 0 – 9 1.33" in lines[heading + 1]
        assert "9 12 4 3.00 6 2.00" in lines[heading + 2]


def test_costs_say_what_a_penalty_means() -> None:
    model = CostModel(penalty=PenaltyF(read_line=2, write_back=3))
    found = rows(printed(report(comparison(model=model))))["costs"]
    assert " ".join(found).startswith("f: every change of fragment reads lines one by one:")


def test_what_happened_comes_before_write_backs() -> None:
    paid = {Cause.WRITE_BACK: 7, Cause.SPLIT: 2, Cause.REVISITED: 3}
    lines = printed([comparison(causes=paid).shown()["causes"]]).splitlines()
    assert [line.split("  ")[0] for line in lines[2:5]] == [
        "fragment revisited", "fragment split over CPUs", "write-back forced",
    ]  # fmt: skip
    text = shown(comparison(causes=paid), comparison(causes=paid, name="other"))
    assert ["other", "18", "0.6667", "12", "revisited", "25.0%", "58.3%"] in [
        line.split() for line in text.splitlines()
    ]
    only = comparison(causes={Cause.WRITE_BACK: 12, Cause.SPLIT: 0})
    assert only.table("trace").only("mainly lost to").rows == [["write-back 100.0%"]]


def test_fragments_that_were_inferred_are_called_by_their_threads() -> None:
    first, second = comparison().fragments
    inferred = replace(
        first, df="g0", comms=(CommCount(comm="io", tasks=2), CommCount(comm="sh", tasks=1))
    )
    text = printed(report(comparison(fragments=(inferred, replace(second, df="7", name="nginx")))))
    found = rows(text)
    assert found["g0 (io ×2, sh)"] == ["10", "3", "2", "7", "58.3%", "revisited"]
    assert found["7 nginx"] == ["8", "2", "2", "5", "41.7%", "revisited"]


def test_costs_have_a_column_unless_they_are_switches() -> None:
    first, second = comparison().fragments
    text = printed(report(comparison(fragments=(replace(first, cost=70), second))))
    assert "switches  cost" in text
    assert rows(text)["A"][3:5] == ["7", "70"]


def test_what_ran_in_parallel_has_a_line() -> None:
    said = printed(report(comparison(parallel_share=0.2134)))
    found = " ".join(rows(said)["parallel"])
    assert found == "21.3% of the run time ran beside the same fragment on another CPU"
    assert "parallel" not in printed(report(comparison()))


def test_pairs_of_domains_have_a_table() -> None:
    found = in_domains(TWO_ROUNDS, HALVES, parse_window("4"), WHOLE)
    alone = printed(report(comparison(domains=found)))
    assert "CPUs 0-1; 2-3" in alone
    assert "ratio  arrivals  bound  crossings" in alone
    rows = [
        ["4", "2", "7", "5", "1.40", "6", "3", "0"],
        ["whole", "1", "5", "3", "1.67", "6", "3", "0"],
    ]
    assert [line.split() for line in alone.splitlines() if line.split() in rows] == rows
    # As in documents from before far migrations were counted.
    windows = (replace(found.windows[0], bound=4, proven=1),)
    unproven = replace(found, windows=windows, far_migrations=None)
    both = shown(comparison(domains=unproven), comparison(name="other"))
    assert ["hand", *["4", "2", "7", "≥", "4", "1.75", "6", "3"]] in [
        line.split()[2:] for line in both.splitlines()
    ]


def test_service_stands_beside_the_cost() -> None:
    waits = WaitFigures(count=4, mean=2_500, p50=2_000, p99=7_000_000, longest=7_000_000)
    service = Service(
        wakeup_latency=waits, wait=waits, unknown=0, still_waiting=0, fairness=0.5, migrations=3
    )
    silent = Service(
        wakeup_latency=None, wait=None, unknown=9, still_waiting=0, fairness=None, migrations=1,
        problem="no wake-ups",
    )  # fmt: skip
    text = shown(
        comparison(name="one", service=service, time_unit="ns"),
        comparison(name="other", service=silent),
    )
    assert ["one", "12", "2", "µs", "7", "ms", "2.5", "µs", "0.50", "3"] in [
        line.split() for line in text.splitlines()
    ]
    assert ["other", "12", "–", "–", "–", "–", "1"] in [line.split() for line in text.splitlines()]
    assert "no wake-ups" in text
    found = rows(printed(report(comparison(service=service, time_unit="ns"))))
    assert found["latency"] == ["4", "2.5", "µs", "2", "µs", "7", "ms", "7", "ms"]
    assert found["migrations"] == ["3"]


def test_traces_of_one_policy_are_called_by_their_names() -> None:
    found = shown(comparison(policy="fcfs", name="chat"), comparison(policy="fcfs", name="web"))
    assert "\ntrace " in found
    assert "\nweb " in found


def rows(text: str) -> dict[str, list[str]]:
    """Return the words of each line behind its first column, which ends with two blanks."""
    lines = [line.split("  ", 1) for line in text.splitlines()]
    return {line[0]: line[1].split() for line in lines if len(line) > 1}


def test_what_was_attainable_comes_first() -> None:
    text = printed(report(comparison(frontier=frontier()), with_windows=True))
    found = rows(text)
    assert found["recorded"] == ["12", "–", "–", "60", "µs", "420", "µs"]
    assert found["same timeline"][:3] == ["11", "11", "11"]
    assert found["longest wait 1 ms"] == ["5", "3", "5", "430", "µs", "3.01", "ms"]
    assert found["patience 30 µs"][:3] == ["8", "–", "–"]
    assert "1 dispatch whose wake-up is not" in text
    parts = (
        "trace ",
        "\npaid ",
        "\nattainable ",
        "\nschedule ",
        "\nWhat it was lost to",
        ORDER_FREE,
        "\nwindow ",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert max(map(len, text.splitlines())) <= 80


def test_windows_stand_beside_what_was_attainable_only_if_asked_for() -> None:
    text = printed(report(comparison(frontier=frontier())))
    for part in (ORDER_FREE, "\norder kept", "window ", "in a window"):
        assert part not in text
    both = (comparison(frontier=frontier()), comparison(name="other", frontier=frontier()))
    assert "rolling" not in shown(*both)
    assert shown(*both, with_windows=True).index(ORDER_FREE) < shown(
        *both, with_windows=True
    ).index("rolling")
    # What was attainable is not known of the second one.
    assert "rolling" in shown(both[0], comparison(name="other"))


def test_notes_say_why_a_rule_can_be_cheaper_than_a_bound() -> None:
    said = " ".join(printed(report(comparison(frontier=frontier()))).split())
    assert "holds for its row alone: rows that let single dispatches wait longer" in said
    assert "(0: at once). Single dispatches may wait longer than recorded" in said


def concluded(*changed: FrontierRow, **changes: object) -> dict[str, str]:
    """Return what is said of a frontier some of whose rows are changed."""
    own = {row.scheduling: row for row in frontier().rows}
    own |= {row.scheduling: row for row in changed}
    return comparison(frontier=frontier(rows=tuple(own.values())), **changes).conclusion()


def test_what_a_comparison_comes_to() -> None:
    assert concluded() == {
        "paid": "12 switches, mainly lost to: fragment revisited (50.0%)",
        "attainable": "7 by 'nobody later' (no dispatch starts later than recorded)",
        "impossible": "less than 6 by 'nobody later', if dispatches last as long as recorded; less "
        "than 5 however long they last",
        "open": "6 to 7: between what is proven and what was found",
        "by a rule": "8 by 'patience 30 µs', which does not know what arrives later, p99 wait 350 "
        "µs instead of 420 µs; its order alone gives 10 ('patience 0')",
    }


def test_it_says_why_the_rule_is_cheaper() -> None:
    rule = replace(frontier().rows[-1], cost=5, p99_wait=None)
    assert concluded(rule)["by a rule"] == (
        "5 by 'patience 30 µs', which does not know what arrives later; its order alone gives 10 "
        "('patience 0'); it can be cheaper because it lets single dispatches wait longer"
    )


def test_it_says_that_nothing_better_was_found_and_what_is_open() -> None:
    later = replace(frontier().rows[3], cost=12, bound=3, bound_with_lengths=3)
    said = concluded(later)
    assert said["attainable"] == (
        "nothing less than the recorded 12 was found by 'nobody later' (no dispatch starts later "
        "than recorded)"
    )
    assert said["open"] == "3 to 12: between what is proven and what was found"
    assert "open" not in concluded(replace(later, bound=12, bound_with_lengths=12))


def test_without_schedules_it_is_about_windows() -> None:
    windows = (window("5", bound=4, rolling=9), window("whole", bound=3, rolling=4))
    said = comparison(windows=windows).conclusion()
    assert said == {
        "paid": "12 switches, mainly lost to: fragment revisited (50.0%)",
        "order-free": "4 found, and less than 3 impossible, if dispatches may run in any order "
        "within windows (whole)",
    }
    assert {*comparison(windows=()).conclusion()} == {"paid"}


def test_what_it_comes_to_stands_first_comparison_tables() -> None:
    named = (comparison(name="one", frontier=frontier()), comparison(name="other"))
    lines = printed(comparison_tables(named)).splitlines()
    assert lines[2].split() == ["trace", "paid", "attainable", "below", "rule"]
    assert [line.split() for line in lines[3:5]] == [
        ["one", "12", "7", "6", "8"], ["other", "12", "–", "–", "–"],
    ]  # fmt: skip


def test_the_rest_is_for_those_who_ask() -> None:
    known = comparison(frontier=frontier())
    for width in (80, 100):
        brief, whole = (
            [line.rstrip() for line in printed(report(known, verbose=verbose), width).splitlines()]
            for verbose in (False, True)
        )
        assert len(brief) < 40 < len(whole)
        assert max(map(len, brief)) <= width
        assert max(map(len, whole)) <= width
    assert "of its row alone" not in " ".join(brief)


@pytest.mark.parametrize(
    ("bound", "with_lengths", "said"),
    [
        (0, 6, "less than 6 by 'nobody later', if dispatches last as long as recorded"),
        (6, 6, "less than 6 by 'nobody later'"),
        (None, None, None),
        (0, 0, None),
    ],
)
def test_the_end_says_only_what_is_proven(
    bound: int | None, with_lengths: int | None, said: str | None
) -> None:
    row = replace(frontier().rows[3], bound=bound, bound_with_lengths=with_lengths)
    assert concluded(row).get("impossible") == said


def test_without_wakeups_the_end_is_about_the_same_timeline() -> None:
    recorded, timeline, *_ = frontier().rows
    known = WaitingFrontier(rows=(recorded, timeline), left_out="no wake-ups")
    model = CostModel(penalty=PenaltyF(read_line=2, write_back=3), lines=4)
    assert comparison(frontier=known, model=model, causes=causes()).conclusion() == {
        "paid": "12 ns (6.3% of the run time)",
        "attainable": "11 by 'same timeline' (only the CPUs are chosen anew)",
        "impossible": "less than 11 by 'same timeline'",
    }


def test_what_kernel_threads_paid_is_not_charged_to_schedules() -> None:
    """They stay in place, so what was paid and what was attainable are of different dispatches."""
    recorded, *others = frontier().rows
    known = frontier(rows=(replace(recorded, cost=9), *others))
    said = " ".join(printed(report(comparison(frontier=known))).split())
    threads = "2 dispatches of bound kernel threads"
    assert f"7 on the most expensive CPU; 9 without {threads}, which no schedule moves" in said
    assert f"{threads} that stay in place and are not charged" in said
    assert f"fragment revisited (50.0%); 9 without {threads}, which no schedule moves" in said
    assert "attainable 7 instead of 9 by 'nobody later'" in said
    evicting = comparison(frontier=known, model=CostModel(unmanaged="evict"))
    said = " ".join(printed(report(evicting)).split())
    assert f"; 9 if the {threads}, which no schedule moves, only evict" in said
    assert "threads that stay in place" in said
    assert "not charged" not in said


@pytest.mark.parametrize(
    ("share", "model", "said"),
    [
        (0.125, CostModel(), "leave the caches as they are realised"),
        (0.3, CostModel(), "leave the caches as they are: with `unmanaged=evict` more would count"),
        (0.3, CostModel(unmanaged="evict"), "assumptions tasks without a fragment evict realised"),
    ],
)
def test_what_has_no_fragment_is_assumed_to_do_something(
    share: float, model: CostModel, said: str
) -> None:
    known = comparison(frontier=frontier(), unlabelled_share=share, model=model)
    text = " ".join(printed(report(known)).split())
    assert said in text
    assert f"what has no fragment stays in place ({share:.1%} of the run time)" in text
    assert "how long each dispatch runs, and when what stays in place runs" in text


def test_nothing_is_assumed_of_tasks_without_a_fragment_where_there_are_none() -> None:
    said = printed(report(comparison(frontier=frontier(), unlabelled_share=0.0)))
    assert "without a fragment" not in said
    assert "stays in place" not in said


def test_shares_without_a_fragment_stand_under_the_table_of_several_traces() -> None:
    one, other = (
        comparison(name=name, frontier=frontier(), unlabelled_share=each)
        for name, each in (("one", 0.3), ("other", 0.0))
    )
    said = " ".join(shown(one, other).split())
    assert "one: assumed: arrivals and lengths as recorded;" in said
    assert "one: caches: tasks without a fragment leave the caches as they are: with" in said
    assert said.count("what has no fragment stays in place (30.0% of the run time)") == 1


def test_costs_that_are_times_are_a_share_of_the_run_time() -> None:
    model = CostModel(penalty=PenaltyF(read_line=2, write_back=3), lines=4)
    said = " ".join(printed(report(comparison(frontier=frontier(), model=model))).split())
    assert "realised 12 in all (6.3% of the run time), 7 on the" in said
    large = comparison(model=model, realised=Realised(total=1_920_000, worst=7, switches=12))
    slow = replace(large, cpus=(replace(large.cpus[0], run_time=192_000_000),))
    said = " ".join(printed(report(slow)).split())
    assert "realised 1,920,000 in all (1.92 ms, 1.0% of the run time), 7 on the" in said


def test_the_rule_without_patience_stands_before_it() -> None:
    """What the order saves is not owed to patience."""
    alone, other = comparison(frontier=frontier()), comparison(name="other", frontier=frontier())
    for text in (printed(report(alone)), shown(alone, other)):
        lines = [" ".join(line.split()) for line in text.splitlines()]
        (before, after, *_) = (line for line in lines if "patience 0" in line or "30 µs 8" in line)
        assert before.startswith("patience 0 10 – – 30 µs 210 µs")
        assert after.startswith("patience 30 µs 8")


@pytest.mark.parametrize(
    "known",
    [
        WaitingFrontier(rows=(*frontier().rows[:-1], frontier().patience[0])),
        WaitingFrontier(rows=frontier().rows[:-1], patience=frontier().patience),
        WaitingFrontier(rows=frontier().rows),
        WaitingFrontier(rows=()),
    ],
)
def test_the_rule_without_patience_stands_nowhere_twice(known: WaitingFrontier) -> None:
    assert len(comparison(frontier=known).attainable().rows) == len(known.rows)


def test_a_ratio_to_nothing_is_said_in_words() -> None:
    kept = OrderKept(online=3, best=0, bound=0)
    found = rows(printed(report(comparison(order_kept=kept))))
    assert found["best"] == ["0", "all", "saved"]
    empty = comparison(windows=(window("5", bound=0, rolling=9), window("9", bound=1, rolling=9)))
    assert "\n–: no ratio: the bound is 0" in printed(report(empty))
    assert "no ratio" not in printed(report(comparison()))


def test_rows_say_what_ran_in_parallel() -> None:
    recorded, timeline, *_ = frontier().rows
    known = WaitingFrontier(rows=(replace(recorded, parallel_share=0.2134), timeline))
    text = printed(report(comparison(frontier=known)))
    assert rows(text)["recorded"][-1] == "21.3%"
    assert rows(text)["same timeline"][-1] == "–"
    assert "parallel: share of the run time" in text


TIMED = WithSwitches(later=2, latest_by=700, total_wait=1000, p99_wait=90_000, mean_wait=55.555556)


def test_rows_say_what_becomes_of_them_when_switches_take_time() -> None:
    recorded, *others = frontier().rows
    known = replace(recorded, switches=3, with_switches=replace(TIMED, later=0, latest_by=0))
    text = printed(report(comparison(frontier=WaitingFrontier(rows=(known, *others)))))
    after = text[text.index("With the time of switches") :]
    assert rows(after)["recorded"][:4] == ["18", "3", "0", "0"]
    assert "same timeline " not in after
    assert "cost their time" in text
    assert "With the time of switches" not in printed(report(comparison(frontier=frontier())))


def test_rows_say_that_lengths_include_switches_that_have_costs() -> None:
    paid = CostModel(penalty=PenaltyG(fill=20, write_back=0))
    made = comparison(frontier=frontier(), lengths=Lengths.WITH_SWITCHES, model=paid)
    assert "lengths include switches" in " ".join(printed(report(made)).split())
    counted = comparison(frontier=frontier(), lengths=Lengths.WITH_SWITCHES)
    assert "lengths include" not in " ".join(printed(report(counted)).split())


def test_the_end_does_not_promise_what_loads_refute() -> None:
    found = {row.scheduling: row for row in frontier().rows}
    later = found[Scheduling.NOBODY_LATER]
    found_late = concluded(replace(later, with_switches=TIMED))
    assert found_late["open"] == "6 to 12: between what is proven and what was found"
    said = found_late["attainable"]
    assert said == (
        f"{later.cost} by 'nobody later' (no dispatch starts later than recorded) if switches took "
        f"no time; with their time 2 of {later.dispatches} start later than recorded, by at most "
        "700 ns"
    )
    in_time = replace(later, with_switches=replace(TIMED, later=0, latest_by=0))
    assert concluded(in_time)["attainable"].endswith("no dispatch starts later than recorded)")
    rule, recorded = (found[kind] for kind in (Scheduling.PATIENCE, Scheduling.RECORDED))
    said = concluded(
        replace(rule, with_switches=TIMED),
        replace(recorded, with_switches=replace(TIMED, p99_wait=80_000)),
    )["by a rule"]
    assert "; its order with the time of switches: p99 wait 90 µs instead of 80 µs" in said


def test_without_a_frontier_windows_come_first() -> None:
    text = printed(report(comparison()))
    assert text.index(ORDER_FREE) < text.index("\nWhat it was lost to")


def test_what_is_left_out_is_said() -> None:
    recorded, timeline, *_ = frontier().rows
    known = replace(timeline, total_wait=None, p99_wait=None)
    missing = comparison(frontier=WaitingFrontier(rows=(known,), left_out="no wake-ups"))
    found = rows(printed(report(missing)))
    assert found["same timeline"] == ["11", "11", "11"]
    assert "\nleft out: no wake-ups" in printed(report(missing))
    interrupted = WaitingFrontier(rows=(recorded,), is_complete=False)
    text = printed(report(comparison(frontier=interrupted)))
    assert "\ninterrupted: other rows are left out" in text
    text = printed(report(comparison(frontier=WaitingFrontier(rows=(), left_out="max-penalty"))))
    assert "\nschedule " not in text
    assert "\nleft out: max-penalty" in text


def test_frontiers_stand_comparison_tables() -> None:
    text = shown(
        comparison(frontier=frontier()),
        comparison(name="other", frontier=frontier()),
        with_windows=True,
    )
    lines = [line.split() for line in text.splitlines()]
    assert ["made", "by", "hand", "recorded", "12", "–", "–", "60", "µs", "420", "µs"] in lines
    assert ["other", "recorded", "12", "–", "–", "60", "µs", "420", "µs"] in lines
    assert text.index("same mean wait") < text.index(ORDER_FREE) < text.index("realised")
    assert max(map(len, text.splitlines())) <= 80


def test_traces_side_by_side_say_what_ran_in_parallel() -> None:
    made, other = comparison(name="one", parallel_share=0.125), comparison(name="other")
    text = shown(made, other)
    shares = [line.split()[4] for line in text.splitlines() if "revisited " in line]
    assert shares == ["12.5%", "–"]
    assert "one: parallel: share of the run time" in text


@pytest.mark.parametrize(("assumed", "what"), [(Assumed.CPUS, ""), (Assumed.STARTS, "when and ")])
def test_what_was_assumed_is_not_called_recorded(
    assumed: Assumed, what: str, tmp_path: Path
) -> None:
    known = comparison(frontier=frontier(), assumed=assumed)
    said = known.conclusion()
    assert "paid" not in said
    assert said["assumed"].endswith(
        f"; the source does not say {what}on which CPU each dispatch ran, so this is assumed"
    )
    text = printed(report(known))
    assert "assumed" in rows(text)
    assert "\nrecorded " not in text
    document = ONE_TRACE.to_document(known)
    Draft202012Validator(schema("comparison")).validate(document)
    assert document["assumed"] == assumed
    ONE_TRACE.write(known, tmp_path / "c.json")
    assert read_comparisons(tmp_path / "c.json") == (known,)
    assert ("later than assumed" in said["attainable"]) == (assumed is Assumed.STARTS)
    assert "assumed" not in ONE_TRACE.to_document(comparison())
