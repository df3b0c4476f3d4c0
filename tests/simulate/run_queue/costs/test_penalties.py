"""Switch penalties with cache domains: hand-computed cases, and laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import CacheDomains, cache_domains
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.simulate.caches import CacheSizes, penalty_caches
from dfopt.simulate.policies.simple import FirstComeFirstServed
from dfopt.simulate.scenario import Machine, Scenario
from dfopt.simulate.simulation import simulate_once
from dfopt.simulate.workload import CLEAN, DIRTY, INVALIDATED, UNMANAGED, Burst
from dfopt.simulate.workloads import WORKLOADS

F = PenaltyF(read_line=10, write_back=1000)
G = PenaltyG(fill=100, write_back=1000)
PAIRS = cache_domains("0-1;2-3")


def paid(
    penalty: Penalty,
    bursts: list[tuple[int, int, int]],
    near: tuple[CacheDomains, int] | None,
    *,
    cold_start: bool = True,
) -> list[int]:
    """Return what CPUs pay for these fragments that are left so; a fragment has 1 + 2·its lines."""
    if near is not None:
        read = "read_line" if isinstance(penalty, PenaltyF) else "fill"
        near = near[0], replace(penalty, **{read: near[1]})
    caches = penalty_caches(penalty, ("a", "b", "c"), 4, cold_start=cold_start, near=near)
    return [
        caches[cpu].enter(Burst(1, fragment, lines=abs(1 + 2 * fragment), leaves=leaves))
        for cpu, fragment, leaves in bursts
    ]


def test_lines_that_the_domain_holds_cost_less_under_f() -> None:
    near = (PAIRS, 4)
    bursts = [
        (0, 1, DIRTY),  # from memory: 3 lines
        (1, 1, CLEAN),  # CPU 0 holds it, and goes on holding it dirty
        (2, 1, CLEAN),  # the other domain does not
        (0, 0, CLEAN),  # writes back what it has written itself: 1000 + 10
        (1, 0, INVALIDATED),  # CPU 0 holds it; CPU 1 had written nothing
        (0, 1, CLEAN),  # in this domain nobody holds it any more
        (0, 0, CLEAN),  # CPU 1 does, however it left it
        (1, 0, CLEAN),  # its own, which it has to write back: nothing is read
        (3, UNMANAGED, CLEAN),  # changes nothing
        (3, 2, CLEAN),
    ]
    assert paid(F, bursts, near) == [30, 12, 30, 1010, 4, 30, 4, 1000, 0, 50]


def test_a_cache_that_is_filled_from_near_costs_less_under_g() -> None:
    near = (PAIRS, 7)
    bursts = [(0, 1, DIRTY), (1, 1, CLEAN), (2, 1, CLEAN), (0, 0, CLEAN), (1, 0, CLEAN)]
    assert paid(G, bursts, near) == [1100, 1007, 1100, 1100, 1007]


@pytest.mark.parametrize("penalty", [F, G])
def test_without_cold_start_the_first_fragment_is_free_near_or_far(penalty: Penalty) -> None:
    bursts = [(0, 1, DIRTY), (1, 1, DIRTY), (2, 1, DIRTY)]
    assert paid(penalty, bursts, (PAIRS, 4), cold_start=False) == [0, 0, 0]


BURSTS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-1, 2), st.sampled_from([CLEAN, DIRTY, INVALIDATED])),
    max_size=30,
)
DOMAINS = st.permutations(range(4)).flatmap(
    lambda cpus: st.sampled_from(
        [(tuple(cpus),), (tuple(cpus[:2]), tuple(cpus[2:])), (tuple(cpus[:1]), tuple(cpus[1:]))]
    )
)


@given(
    penalty=st.sampled_from([F, G]),
    members=DOMAINS,
    bursts=BURSTS,
    near=st.integers(0, 10),
    flag=st.booleans(),
)
def test_laws_of_near_costs(
    penalty: Penalty,
    members: tuple[tuple[int, ...], ...],
    bursts: list[tuple[int, int, int]],
    near: int,
    flag: bool,
) -> None:
    domains = CacheDomains(members)
    far = 10 if penalty is F else 100
    some = paid(penalty, bursts, (domains, near), cold_start=flag)
    # What is near costs as much: the same as without domains.
    without = paid(penalty, bursts, None, cold_start=flag)
    assert paid(penalty, bursts, (domains, far), cold_start=flag) == without
    # Cheaper costs never let a schedule pay more, whatever the order of domains is.
    assert all(less <= more for less, more in zip(some, without, strict=True))
    less = paid(penalty, bursts, (domains, near // 2), cold_start=flag)
    assert all(one <= other for one, other in zip(less, some, strict=True))
    reordered = CacheDomains(members[::-1])
    assert paid(penalty, bursts, (reordered, near), cold_start=flag) == some


@pytest.mark.parametrize(
    ("machine", "penalty", "caches", "message"),
    [
        ({"near_read_line": 1}, F, None, "near_read_line: needs to know which CPUs are near"),
        ({"near_fill": -1, "domains": PAIRS}, G, None, "near_fill: must be at least 0"),
        ({"near_fill": 1, "domains": PAIRS}, F, None, "machine.near_fill: means nothing to a pen"),
        ({"near_read_line": 11, "domains": PAIRS}, F, None, "is 11, more than the penalty's read"),
        (
            {"near_fill": 1, "domains": PAIRS},
            PenaltyMatrix(types=("a",), switch=((0,),)),
            None,
            "machine.near_fill: means nothing to a penalty that has a matrix, which knows no dist",
        ),
        (
            {"near_fill": 1, "domains": PAIRS},
            G,
            CacheSizes(lines=1, miss=1),
            "machine.near_fill: means nothing where caches of lines",
        ),
        (
            {},
            G,
            CacheSizes(lines=1, miss=1, shared_lines=1, far_hit=1),
            "caches.far_hit: needs to know which CPUs share a cache",
        ),
    ],
)
def test_distances_that_do_not_fit(
    machine: dict[str, object], penalty: Penalty, caches: CacheSizes | None, message: str
) -> None:
    with pytest.raises(InstanceError, match=message):
        Scenario(
            name="",
            workload=WORKLOADS["chat"](),
            machine=Machine(cpus=4, **machine),  # type: ignore[arg-type]
            penalty=penalty,
            caches=caches,
        )


def scenario(machine: Machine) -> Scenario:
    chat = WORKLOADS["chat"](rooms=2, users=3, messages=2)
    return Scenario(name="", workload=chat, machine=machine, penalty=F)


def test_a_scenario_charges_by_distance() -> None:
    plain = simulate_once(scenario(Machine(cpus=4)), FirstComeFirstServed).counters
    full = Machine(cpus=4, domains=PAIRS, near_read_line=F.read_line)
    counted = simulate_once(scenario(full), FirstComeFirstServed).counters
    assert counted.far_migrations is not None
    assert replace(counted, far_migrations=None) == plain
    near = Machine(cpus=4, domains=PAIRS, near_read_line=0)
    done = simulate_once(scenario(near), FirstComeFirstServed).counters
    assert sum(done.penalties) < sum(plain.penalties)
