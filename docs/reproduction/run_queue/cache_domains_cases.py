"""The cases of the page on cache domains: recordings and chats on machines with domains."""

from collections.abc import Iterator, Sequence

from cache_domains_runs import (
    BY_FRAGMENT,
    CACHE_AWARE,
    CHAT,
    DATA_AFFINITY,
    EEVDF,
    HALF,
    RECORDINGS,
    Case,
    Variant,
)
from pinter_chat import LINES, MESSAGE_TIME, MESSAGES, READ_LINE, SHORTENED, SOCKET, USER_LINES
from pinter_runs import SPAWN_TIMES

from dfopt import replace

FITTED = (
    ("messages", MESSAGES[0] // SHORTENED),
    ("message_time", MESSAGE_TIME * SHORTENED),
    ("user_lines", USER_LINES),
    ("burst_lines", LINES * SHORTENED),
    ("socket_messages", SOCKET // SHORTENED),
    ("penalty.write_back", 0),
)
"""The chat of the report about run queues, which was fitted to published measurements."""

UNLIMITED = (("messages", 75),)
"""The scenario as it comes with dfopt: sockets hold any number of messages."""

SOCKETS = (0, 24, 6)
FEW_MESSAGES = 25
MANY_SPAWN_TIMES = tuple(range(18_000, 22_001, 500))
PRICES = (1, 4, 16)

ONE, TWO, LARGE, SINGLE = "0-3", "0-1;2-3", "0-3;4-7", "0;1"
MACHINES = {
    ONE: "4 CPUs in one domain",
    TWO: "4 CPUs in two domains",
    LARGE: "8 CPUs in two domains",
    SINGLE: "2 CPUs, a domain each",
    "0-1": "2 CPUs in one domain",
}


def fitted_chat(rooms: int, domains: str) -> Case:
    """Return the chat that was fitted to published measurements."""
    settings = (("rooms", rooms), *FITTED)
    case = chat(rooms, domains)
    return replace(case, settings=settings, read_line=READ_LINE)


def chat(rooms: int, domains: str, settings: tuple[tuple[str, object], ...] = UNLIMITED) -> Case:
    """Return the chat that comes with dfopt, by default with some more messages."""
    return Case(
        CHAT,
        domains,
        settings=(("rooms", rooms), *settings),
        varied="spawn_time",
        values=SPAWN_TIMES,
    )


RECORDED = [Case(name, domains) for name in RECORDINGS for domains in ("0-1", SINGLE)]
FITTED_CHATS = [
    fitted_chat(10, SINGLE),
    *(fitted_chat(4, domains) for domains in (ONE, TWO, LARGE)),
]
MORE_FITTED = [fitted_chat(8, TWO), fitted_chat(2, LARGE)]
UNLIMITED_CHATS = [chat(4, TWO)]
MORE_UNLIMITED = [chat(2, LARGE)]
GROUPS = {
    "recordings": RECORDED,
    "fitted chat": [*FITTED_CHATS, *MORE_FITTED],
    "chat with unlimited sockets": [*UNLIMITED_CHATS, *MORE_UNLIMITED],
}
TABLES = [*RECORDED, *FITTED_CHATS, *UNLIMITED_CHATS]
CASES = [case for cases in GROUPS.values() for case in cases]
AT_HALF = [replace(case, nearer=HALF) for case in TABLES if case.has_near and case.domains != LARGE]
SPLIT = [case for case in CASES if not case.has_one_domain]
OPEN = [
    replace(case, settings=(("timing", "waits"),)) for case in RECORDED if case.domains == SINGLE
]
PRICED = [
    replace(case, read_line=price * case.read_line)
    for case in (RECORDED[1], UNLIMITED_CHATS[0])
    for price in PRICES
]
LIMITED = [chat(4, TWO, (*UNLIMITED, ("socket_messages", socket))) for socket in SOCKETS]
SHORT = replace(
    chat(2, TWO, (("messages", FEW_MESSAGES),)), values=MANY_SPAWN_TIMES, has_linux_slice=False
)


def all_runs() -> Iterator[tuple[Case, Sequence[Variant]]]:
    """Yield all cases with their policies."""
    for case in (*CASES, *AT_HALF):
        yield case, case.variants
    for case in (*PRICED, *LIMITED):
        yield case, (EEVDF, DATA_AFFINITY)
    for case in OPEN:
        yield case, (EEVDF, BY_FRAGMENT, DATA_AFFINITY)
    yield SHORT, (EEVDF, CACHE_AWARE)


def title_of(case: Case) -> str:
    """Return what a case is called."""
    if case.is_recording:
        return f"{case.workload}, {MACHINES[case.domains]}"
    settings = dict(case.settings)
    sort = "fitted chat" if is_fitted(case) else "chat with unlimited sockets"
    return f"{sort}, {settings['rooms']} rooms, {MACHINES[case.domains]}"


def short_title(case: Case) -> str:
    """Return the label of a case in a picture."""
    if case.is_recording:
        name, groups = case.workload.split("-")
        return f"{name}\n{groups} groups\n{case.domains}"
    settings = dict(case.settings)
    sort = "fitted chat" if is_fitted(case) else "no limit"
    return f"{sort}\n{settings['rooms']} rooms\n{case.domains}"


def is_fitted(case: Case) -> bool:
    """Return whether a chat is the one that was fitted to published measurements."""
    return "message_time" in dict(case.settings)


def has_enough_fragments(case: Case) -> bool:
    """Return whether a chat has a fragment for each CPU: two a room."""
    rooms: int = dict(case.settings)["rooms"]
    return 2 * rooms >= case.topology.cpus
