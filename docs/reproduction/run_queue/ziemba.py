"""Segregation of HTTP and PHP: Ziemba, Upadhyaya and Pai, section 4."""

from dataclasses import replace

from section import Calibrated, Row, Section, evidence, not_modelled, put_in
from shares import between, percent, within
from ziemba_runs import (
    COSTLY,
    COSTLY_AFTER_LONG,
    COSTLY_PHP,
    COSTLY_THINK,
    CPUS,
    HTTP_CPU,
    LONG,
    PUBLISHED,
    QUICK,
    SECOND,
    SERVER,
    SHORT,
    SLOW,
    SWITCH,
    HttpApart,
    HttpApartInTurn,
    Measured,
    measured,
)

from dfopt.simulate.run_queue.policies.linux_o1 import LinuxO1
from dfopt.simulate.run_queue.workloads.web_server import HTTP, PHP_LONG, TYPES

# The paper's.
SAVED = 0.47
"""By how much the CPU time of HTTP fell."""

LONGEST_QUEUE = 48
SHARE_OF_DISPATCHES, SHARE_OF_TIME = 0.86, 0.34
AFTER_LONG = 0.10
"""Share of HTTP dispatches that follow a long one of PHP."""

SMOOTH = 1_000_000
"""Time between smaller bursts of arrivals."""

# Criteria.
SAVINGS = (0.42, 0.52)
IDLE_HTTP = (0.24, 0.32)
IDLE_OTHERS = (0.02, 0.06)
SLOWER = (0.02, 0.07)
NEAR = 0.02
LONGEST = 0.2
"""Greatest relative difference of the longest queue."""


def rows_of_mixed(case: str, mixed: Measured) -> tuple[Row, ...]:
    """Return what the paper says of HTTP and PHP on the same CPUs."""
    return (
        put_in(
            shape=f"{case}, O(1): HTTP's share of dispatches, of CPU time",
            published=f"{percent(SHARE_OF_DISPATCHES)}, {percent(SHARE_OF_TIME)}",
            simulated=f"{percent(mixed.http_share)}, {percent(mixed.http_time_share)}",
            criterion=f"within {percent(NEAR)}",
            holds=abs(mixed.http_share - SHARE_OF_DISPATCHES) <= NEAR
            and abs(mixed.http_time_share - SHARE_OF_TIME) <= NEAR,
        ),
        evidence(
            shape=f"{case}, O(1): HTTP dispatches that follow long PHP",
            published=f"about {percent(AFTER_LONG)}",
            simulated=percent(mixed.after_long, 1),
            criterion=f"within {percent(NEAR)}",
            passes=lambda share: abs(share - AFTER_LONG) <= NEAR,
            found=mixed.after_long,
            without={"HTTP alone": [0.0]},
        ),
    )


def rows_of_segregated(
    case: str, mixed: Measured, apart: Measured, *, is_fitted: bool
) -> tuple[Row, ...]:
    """Return what the paper says of segregation."""
    idle, others = apart.idle[HTTP_CPU], apart.idle_others
    slower = apart.response / mixed.response - 1
    of_http = {
        "shape": f"{case}: HTTP's CPU idle",
        "published": "26–30 %",
        "simulated": percent(idle, 1),
    }
    return (
        put_in(
            **of_http,
            criterion=f"{between(IDLE_HTTP)} (from fitted numbers: 1 − 0.34 · 4 · 0.53)",
            holds=within(idle, IDLE_HTTP),
        )
        if is_fitted
        else evidence(
            **of_http,
            criterion=between(IDLE_HTTP),
            passes=lambda share: within(share, IDLE_HTTP),
            found=idle,
            without={"mixed": [mixed.idle[HTTP_CPU]]},
        ),
        put_in(
            shape=f"{case}: most HTTP tasks that wait",
            published=f"{LONGEST_QUEUE}",
            simulated=f"{apart.longest}",
            criterion=f"within {percent(LONGEST)} (the bursts of arrivals were chosen for it)",
            holds=abs(apart.longest / LONGEST_QUEUE - 1) <= LONGEST,
        ),
        evidence(
            shape=f"{case}: the other CPUs idle",
            published="about 4 %",
            simulated=percent(others, 1),
            criterion=between(IDLE_OTHERS),
            passes=lambda share: within(share, IDLE_OTHERS),
            found=others,
            without={"mixed": [mixed.idle_others]},
        ),
        evidence(
            shape=f"{case}: responses slower than mixed",
            published="3–6 %",
            simulated=f"{percent(slower, 1)} ({mixed.response:.2f} → {apart.response:.2f} s)",
            criterion=between(SLOWER),
            passes=lambda share: within(share, SLOWER),
            found=slower,
            without={"mixed": [0.0]},
        ),
    )


def section(quick: bool = False) -> Section:
    """Simulate the web server under O(1) and under segregation."""
    short, long = (QUICK, QUICK) if quick else (SHORT, LONG)
    mixed, apart = (measured(one, SERVER, PUBLISHED, short) for one in (LinuxO1, HttpApart))
    smooth = measured(LinuxO1, replace(SERVER, interval=SMOOTH), PUBLISHED, short)
    fitted, fitted_apart, in_turn = (
        measured(one, SLOW, COSTLY, long) for one in (LinuxO1, HttpApart, HttpApartInTurn)
    )
    saved, fitted_saved = (
        1 - after.http_time / before.http_time
        for before, after in ((mixed, apart), (fitted, fitted_apart))
    )
    long_after_best = 1 + PUBLISHED.switch[PHP_LONG][HTTP] / SERVER.http_time
    return Section(
        title="Segregation by type (Ziemba, Upadhyaya and Pai)",
        intro=(
            f"{SERVER.clients} connections on {CPUS} CPUs. HTTP alone on CPU {HTTP_CPU} is "
            "compared with both kinds on all CPUs; O(1) runs the threads in both cases. What HTTP "
            "pays depends on what ran before: "
            f"after long PHP it takes {long_after_best:.2f} times as long as at best, by the "
            f"published IPC. With these ratios HTTP's CPU time cannot fall by {percent(SAVED)}. "
            "So everything is simulated twice: with the *published IPC*, and *fitted*, where "
            "HTTP pays enough after long PHP for this fall."
        ),
        rows=(
            *rows_of_mixed("published IPC", mixed),
            evidence(
                shape="published IPC: CPU time of HTTP saved",
                published=f"nearly {percent(SAVED)}",
                simulated=percent(saved, 1),
                criterion=between(SAVINGS),
                passes=lambda share: within(share, SAVINGS),
                found=saved,
                without={"mixed": [0.0]},
            ),
            *rows_of_segregated("published IPC", mixed, apart, is_fitted=False),
            *rows_of_mixed("fitted", fitted),
            *rows_of_segregated("fitted", fitted, fitted_apart, is_fitted=True),
            not_modelled(
                "IPC of PHP by the length of its dispatches",
                "52 % of the mean below 1 ms, 154 % at 4 ms",
            ),
            not_modelled(
                "IPC of HTTP after several of HTTP", "+10.5 %; a matrix knows what ran last alone"
            ),
        ),
        calibrated=calibrated(fitted_saved),
        notes=notes(mixed, apart, fitted, fitted_apart, in_turn, smooth),
    )


def calibrated(saved: float) -> tuple[Calibrated, ...]:
    """Return what the paper does not give."""
    server = SERVER
    return (
        Calibrated(
            parameter="dispatches of a request",
            value=f"{server.http_slices} of HTTP, {server.php_slices} of PHP",
            fitted_to="their ratio to 86 % of the dispatches; their number is assumed",
        ),
        Calibrated(
            parameter="mean PHP dispatch, exponential",
            value=f"{server.php_time / 1e6:.2f} ms; fitted: {COSTLY_PHP / 1e6:.2f} ms",
            fitted_to="34 % of the time for HTTP, whose dispatches take 0.16 and 0.27 ms. The "
            "published 4.4 ms are of another CPU",
        ),
        Calibrated(
            parameter="network wait of HTTP, mean",
            value=f"{server.network_wait / 1e6:.0f} ms, {server.http_slices - 3} times a request",
            fitted_to="responses of about 6 s",
        ),
        Calibrated(
            parameter="think time, mean",
            value=f"{SERVER.think_time / SECOND:.0f} s; fitted: {COSTLY_THINK / SECOND:.0f} s",
            fitted_to="CPUs that are 2 to 6 % idle under O(1); the paper does not say how idle "
            "they were",
        ),
        Calibrated(
            parameter="arrivals in bursts, every",
            value=f"{server.interval / 1e6:.0f} ms",
            fitted_to=f"{LONGEST_QUEUE} waiting HTTP tasks",
        ),
        Calibrated(
            parameter="HTTP after short PHP",
            value="the mean IPC of HTTP",
            fitted_to="assumed; nothing is published",
        ),
        Calibrated(
            parameter="fitted: HTTP after long PHP",
            value=f"{COSTLY_AFTER_LONG / 1e6:.2f} ms more than at best, instead of "
            f"{PUBLISHED.switch[PHP_LONG][HTTP] / 1e6:.2f}",
            fitted_to=f"HTTP's CPU time −47 %; simulated −{percent(saved, 1)}",
        ),
        Calibrated(
            parameter="PHP threads; their waits; disks",
            value=f"{server.php_threads}; {server.php_wait / 1e6:.0f} ms; {server.disks}, "
            f"{server.disk_time / 1e6:.0f} ms a read",
            fitted_to="assumed, except the paper's 8 disks",
        ),
        Calibrated(
            parameter="switch to another thread",
            value=f"{SWITCH / 1e3:.0f} µs",
            fitted_to="assumed",
        ),
    )


def notes(  # noqa: PLR0913, PLR0917 -- each case is another simulation
    mixed: Measured,
    apart: Measured,
    fitted: Measured,
    fitted_apart: Measured,
    in_turn: Measured,
    smooth: Measured,
) -> str:
    """Return what the numbers mean."""

    def by_seed(segregated: Measured) -> str:
        both = zip(fitted.responses, segregated.responses, strict=True)
        return " and ".join(percent(after / before - 1, 1) for before, after in both)

    needed = apart.http_time * SERVER.http_slices * mixed.requests / SECOND
    return (
        f"The penalty is a matrix over {', '.join(TYPES)}. With the published IPC, HTTP alone "
        f"needs {needed:.2f} CPUs for the requests of the mixed run. So one CPU becomes the "
        f"bottleneck: {mixed.requests:.0f} → {apart.requests:.0f} requests a second. It fits on "
        "one CPU only with the published −47 %, which the published IPC do not explain: 0.34 · 4 "
        "· 0.53 = 0.72 CPUs. Then the other CPUs have less to do than published. They were busy "
        "with hardly more requests, so PHP must have taken more time apart than mixed; the paper "
        "gives no reason for that.\n\nThe scheduler inside the sets decides the responses. "
        f"Where fitted, under O(1) they differ from the mixed run by {by_seed(fitted_apart)}, by "
        'seed. With one round-robin queue for each set (`within = "round-robin"` of the policy '
        "`segregation`), which is not "
        f"what was measured, it would be {by_seed(in_turn)}.\n\nHow many HTTP "
        "dispatches follow long PHP depends on the arrivals: the dispatches of one burst run one "
        f"after another. With bursts every {SMOOTH / 1e6:.0f} ms it is "
        f"{percent(smooth.after_long, 1)} with the published IPC; but then HTTP's queue, where "
        "it fits on its CPU, never gets as long as published."
    )
