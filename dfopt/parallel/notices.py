"""What a process wants its user to know while it works, from whichever process it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

receivers: list[Callable[[str], None]] = []
"""Who gets notices: the last one of them."""


def notify(text: str) -> None:
    """Give the user a notice; it is lost where nobody receives any."""
    if receivers:
        receivers[-1](text)


@contextmanager
def receiving(receiver: Callable[[str], None]) -> Iterator[None]:
    """Give all notices of this process, and of those that work for it, to ``receiver``.

    It is called in any thread, also in the middle of other work, so it must neither raise nor wait.
    """
    receivers.append(receiver)
    try:
        yield
    finally:
        receivers.remove(receiver)
