"""The process that does work for another one: ``python -m dfopt.parallel.child``.

Pieces of work come on standard input. Answers go to standard output, and before an answer there
may be notices for the user. All are pickled.
"""

from __future__ import annotations

import io
import os
import pickle
import select
import sys
import threading
import traceback
from contextlib import suppress
from typing import Protocol, TypeVar

from dfopt.errors import DfoptError
from dfopt.parallel.notices import Notice, receiving

AnswerT_co = TypeVar("AnswerT_co", covariant=True)


class Work(Protocol[AnswerT_co]):
    """A piece of work. It can be pickled, and so can its answer."""

    def perform(self) -> AnswerT_co:
        """Do it, and return the answer."""


def main() -> None:
    """Do the work on standard input until there is no more."""
    # What a piece of work or its libraries read and print is neither work nor answer.
    work, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, args=(work.fileno(),), daemon=True).start()
    one_at_a_time = threading.Lock()

    def send(message: bytes) -> None:
        with one_at_a_time:
            answers.write(message)
            answers.flush()

    def send_notice(text: str) -> None:
        with suppress(OSError, ValueError):  # the parent may have gone, or the work have ended
            send(pickle.dumps(Notice(text)))

    # The parent may have gone.
    with suppress(BrokenPipeError), work, answers, receiving(send_notice):
        while work.peek(1):
            send(_answer(work))


def _end_with_parent(descriptor: int) -> None:
    """End this process as soon as its parent has gone, even in the middle of some work."""
    hung_up = select.poll()
    hung_up.register(descriptor, 0)
    hung_up.poll()
    os._exit(0)


def _answer(work: io.BufferedReader) -> bytes:
    """Return the answer to the next piece of work, and the error if it fails, pickled."""
    try:
        try:
            return pickle.dumps((pickle.load(work).perform(), None))
        except DfoptError as error:
            return pickle.dumps((None, error))
    except BaseException as error:  # SystemExit too: the parent waits for an answer
        traceback.print_exc()
        failure = DfoptError(
            f"a task failed with {type(error).__name__} ({error}); "
            "its traceback is on standard error"
        )
        return pickle.dumps((None, failure))


if __name__ == "__main__":
    main()
