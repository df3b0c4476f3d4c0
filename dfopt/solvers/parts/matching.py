"""Largest matchings in bipartite graphs, by augmenting paths."""

from __future__ import annotations

from collections.abc import Sequence


def matched(wishes: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return which of its wishes each applicant gets; nobody gets what another one has.

    As many applicants as possible get one, and of those the earlier ones come first: whoever
    can be served together with all those served before him is served.

    Parameters
    ----------
    wishes
        For each applicant the things that would do.
    """
    owner: dict[int, int] = {}
    for applicant in range(len(wishes)):
        _serve(applicant, wishes, owner)
    return {applicant: thing for thing, applicant in owner.items()}


def _serve(applicant: int, wishes: Sequence[Sequence[int]], owner: dict[int, int]) -> None:
    """Find a thing for ``applicant``; others may have to change theirs for another one."""
    asked_by: dict[int, int] = {}
    queue = [applicant]
    for asking in queue:
        for thing in wishes[asking]:
            if thing in asked_by:
                continue
            asked_by[thing] = asking
            if thing in owner:
                queue.append(owner[thing])
                continue
            has = {one: gift for gift, one in owner.items()}
            taker, gift = asking, thing
            while True:
                given_up = has.get(taker)
                owner[gift] = taker
                if given_up is None:
                    return
                gift, taker = given_up, asked_by[given_up]
