"""Cache domains: the CPUs that share a last-level cache."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from dfopt.checks import check_integer, described
from dfopt.errors import InstanceError
from dfopt.problem.instance import LARGEST_CPU_COUNT

REMEDY = "write such as 0-3;4-7, or give the output of 'lscpu -p=CPU,CACHE'"

PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)

CACHE_COLUMN = re.compile(r"L\d+[a-z]?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CacheDomains:
    """The CPUs of each last-level cache; every CPU has exactly one.

    Parameters
    ----------
    members
        The CPUs of each domain.

    Attributes
    ----------
    domain_of
        By CPU: the number of its domain.

    Raises
    ------
    InstanceError
        When a domain is empty, a CPU is in two domains or, up to the largest one, in none.
    """

    members: tuple[tuple[int, ...], ...]
    domain_of: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        owner: dict[int, int] = {}
        for domain, cpus in enumerate(self.members):
            place = f"[{domain}].cpus"
            if not cpus:
                raise InstanceError("is empty; name its CPUs", place=place)
            for cpu in cpus:
                check_integer(cpu, place)
                if cpu >= LARGEST_CPU_COUNT:
                    raise InstanceError(
                        f"names CPU {described(cpu)}; at most {LARGEST_CPU_COUNT} CPUs are "
                        "supported",
                        place=place,
                    )
                if cpu in owner:
                    raise InstanceError(
                        f"names CPU {cpu} a second time; a CPU belongs to one domain", place=place
                    )
                owner[cpu] = domain
        if not owner:
            raise InstanceError(f"are empty; {REMEDY}")
        missing = next((cpu for cpu in range(len(owner)) if cpu not in owner), None)
        if missing is not None:
            raise InstanceError(
                f"hold CPU {max(owner)}, but no domain has CPU {missing}; give it a domain"
            )
        members = tuple(tuple(sorted(cpus)) for cpus in self.members)
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "domain_of", tuple(owner[cpu] for cpu in range(len(owner))))

    @property
    def cpus(self) -> int:
        """Number of CPUs."""
        return len(self.domain_of)

    def check_cpus(self, cpus: int) -> None:
        """Refuse domains of another number of CPUs than there are."""
        if self.cpus != cpus:
            raise InstanceError(
                f"hold {_named(range(self.cpus))}, but the CPUs are {cpu_ranges(range(cpus))}; "
                "give each of these one domain",
                place="domains",
            )

    def of_first(self, cpus: int) -> CacheDomains:
        """Return the domains of the first CPUs, such as those of a trace; the others are left out.

        Raises
        ------
        InstanceError
            When there are fewer CPUs than that.
        """
        if self.cpus < cpus:
            missing = _named(range(self.cpus, cpus))
            raise InstanceError(
                f"hold only {_named(range(self.cpus))}, but the trace has {missing}, too; give "
                f"{'it' if cpus == self.cpus + 1 else 'each'} a domain",
                place="domains",
            )
        members = (tuple(cpu for cpu in own if cpu < cpus) for own in self.members)
        return CacheDomains(tuple(filter(None, members)))

    def doubts(self, cpus: int) -> list[str]:
        """Return what may not be meant, for a trace with this number of CPUs; often nothing."""
        found = []
        if self.cpus > cpus:
            found.append(
                f"the domains name {_named(range(cpus, self.cpus))}, which the trace does not have"
            )
        if len(self.of_first(cpus).members) == 1:
            found.append(
                "all CPUs of the trace are in one cache domain, so nothing can cross; part domains "
                "by a semicolon, such as '0-3;4-7'"
            )
        return found

    def __str__(self) -> str:
        return ";".join(map(cpu_ranges, self.members))


def cache_domains(text: str) -> CacheDomains:
    """Return the domains that a text describes.

    Parameters
    ----------
    text
        The CPUs of each domain, such as ``0-3,8;4-7``, or what ``lscpu -p=CPU,CACHE`` prints. There
        the last column counts, since the last cache is the one of the last level.

    Raises
    ------
    InstanceError
        When the text is neither, or a CPU is in two domains or in none.
    """
    if text.lstrip().startswith("#"):
        return _from_lscpu(text)
    return CacheDomains(tuple(map(cpus_of, text.split(";"))))


def cpus_of(text: str) -> tuple[int, ...]:
    """Return the CPUs that a text such as ``0-3,8`` names, as often as it names them."""
    ranges = []
    for part in text.split(","):
        found = PART.fullmatch(part.strip())
        first = int(found[1]) if found else 0
        last = int(found[2] or first) if found else 0
        if not found or last < first or last >= LARGEST_CPU_COUNT:
            raise InstanceError(f"{described(part)} is no list of CPUs; {REMEDY}")
        ranges.append(range(first, last + 1))
    return tuple(chain.from_iterable(ranges))


def cpu_ranges(cpus: Iterable[int]) -> str:
    """Return CPUs in ascending order as a text such as ``0-3,8``."""
    ranges: list[list[int]] = []
    for cpu in cpus:
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)


def _named(cpus: range) -> str:
    return f"{'CPU' if len(cpus) == 1 else 'CPUs'} {cpu_ranges(cpus)}"


def _from_lscpu(text: str) -> CacheDomains:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    headings = [line[1:].strip().split(",") for line in lines if line.startswith("#")]
    # The last line of the comment names the columns. lscpu joins caches with "," or with ":".
    columns = [heading.lower() for heading in headings[-1]]
    if "cpu" not in columns or not CACHE_COLUMN.fullmatch(columns[-1].split(":")[-1]):
        raise InstanceError(
            "have no columns for CPU and caches; write them with 'lscpu -p=CPU,CACHE'"
        )
    cpu_column = columns.index("cpu")
    domains: dict[str, list[int]] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        cells = line.split(",")
        cache = cells[-1].split(":")[-1]
        if len(cells) != len(columns) or not (cells[cpu_column].isdecimal() and cache.isdecimal()):
            raise InstanceError(
                f"hold the line {described(line)}, which names no CPU with a cache of the last "
                "level; name the domains, such as 0-3;4-7"
            )
        domains.setdefault(cache, []).append(int(cells[cpu_column]))
    return CacheDomains(tuple(map(tuple, domains.values())))
