"""Finds a first schedule for tasks of different sizes, or proves that they do not fit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice
from typing import TYPE_CHECKING

from dfopt.errors import DfoptError, MethodError
from dfopt.problem.certificate import Certificate, CompleteSearch, Proof
from dfopt.solvers.interruptible import load_module
from dfopt.solvers.search import Search
from dfopt.solvers.sizes.exact_fill import exact_fills
from dfopt.solvers.sizes.first_fit import orders_of, packings

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


ATTEMPTS = 20
"""CPUs are filled exactly in 20 orders."""


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
    found = chain(packings(search), exact_fills(search, ATTEMPTS))
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
    from dfopt.solvers.sizes.patterns import packed_by_patterns

    packed = packed_by_patterns(search)
    if isinstance(packed, Proof):
        raise DoesNotFitError(packed)
    if packed is not None:
        search.found(orders_of(search, packed))
        return
    from dfopt.solvers.cp_sat.runner import is_solvable

    if not is_solvable(search, lambda: RoomModel(search)):
        raise DoesNotFitError(CompleteSearch(solver="cp-sat"))


class RoomModel:
    """How many tasks of each size each CPU holds; any solution is a schedule.

    Parameters
    ----------
    search
        The instance.
    """

    def __init__(self, search: Search) -> None:
        from ortools.sat.python import cp_model

        self.model = cp_model.CpModel()
        self._search = search
        self._members: dict[int, list[int]] = {}
        for number, task_type in enumerate(search.types):
            self._members.setdefault(task_type.size, []).append(number)
        instance = search.instance
        if instance.room > 2**50:
            raise MethodError("sizes are too large for CP-SAT; use a coarser unit", place="tasks")
        cpus = range(instance.cpus)
        self._held = {
            (size, cpu): self.model.new_int_var(0, instance.room // size, f"held[{size},{cpu}]")
            for size in self._members
            for cpu in cpus
        }
        for size, members in self._members.items():
            # All tasks of a size are held by some CPU.
            count = sum(search.types[number].count for number in members)
            self.model.add(sum(self._held[size, cpu] for cpu in cpus) == count)
        for cpu in cpus:
            # What a CPU holds fits into its room.
            held = sum(size * self._held[size, cpu] for size in self._members)
            self.model.add(held <= instance.room)
        largest = max(self._members)
        for cpu in cpus[1:]:
            # All CPUs are alike here: the earlier one holds at least as many of the largest tasks.
            self.model.add(self._held[largest, cpu - 1] >= self._held[largest, cpu])

    def orders(self, value: Callable[[cp_model.IntVar], int]) -> list[list[int]]:
        """Return the schedule that an assignment stands for, as orders of type numbers."""
        packing: list[dict[int, int]] = [{} for _ in range(self._search.instance.cpus)]
        waiting = {
            size: [number for number in members for _ in range(self._search.types[number].count)]
            for size, members in self._members.items()
        }
        for (size, cpu), held in self._held.items():
            for _ in range(value(held)):
                number = waiting[size].pop()
                packing[cpu][number] = packing[cpu].get(number, 0) + 1
        return orders_of(self._search, packing)
