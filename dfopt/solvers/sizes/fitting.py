"""Finds a first schedule for tasks of different sizes, or proves that they do not fit."""

from __future__ import annotations

from itertools import islice

from dfopt.errors import DfoptError
from dfopt.problem.certificate import Certificate
from dfopt.solvers.heuristics.constructive import orders_of
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search
from dfopt.solvers.sizes.packings import packings

FURTHER_SHARE = 0.01
"""The part of the time in which further packings are tried, once there is one."""


class DoesNotFitError(DfoptError):
    """The tasks do not fit on the CPUs.

    Parameters
    ----------
    certificate
        The proof of that.
    """

    def __init__(self, certificate: Certificate) -> None:
        super().__init__("the tasks do not fit on the CPUs")
        self.certificate = certificate


def find_room(search: Search) -> None:
    """Report a first schedule of an instance with sizes.

    Raises
    ------
    DoesNotFitError
        When there is none.
    """
    search.enter("first fit")
    found = packings(search)
    for packing in islice(found, 1):
        search.found(orders_of(search, packing))
        search.check()
    with search.share(FURTHER_SHARE):
        for packing in found:
            search.found(orders_of(search, packing))
            search.check()
    search.check()
    if search.schedule is not None:
        return
    search.enter("bin packing")
    load_module("dfopt.solvers.sizes.patterns", search.check)
    from dfopt.solvers.sizes.patterns import packed_by_patterns, packed_by_search

    packed = packed_by_patterns(search) or packed_by_search(search)
    if not isinstance(packed, list):
        raise DoesNotFitError(packed)
    search.found(orders_of(search, packed))
