"""Cache domains, as users write them and as lscpu prints them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt.errors import InstanceError
from dfopt.problem.cache_domains import CacheDomains, cache_domains, cpu_ranges, cpus_of

COMMENT = "# The following is the parsable format, which can be fed to other\n# programs.\n"


def test_a_list_of_cpus_for_each_domain():
    domains = cache_domains("0-1, 6;2-5")
    assert domains.members == ((0, 1, 6), (2, 3, 4, 5))
    assert domains.domain_of == (0, 0, 1, 1, 1, 1, 0)
    assert (domains.cpus, str(domains)) == (7, "0-1,6;2-5")
    assert pickle.loads(pickle.dumps(domains)).domain_of == domains.domain_of


@pytest.mark.parametrize(
    "printed",
    [
        "# CPU,,L1d,L1i,L2,L3\n0,,0,0,0,0\n1,,1,1,1,8\n2,,2,2,2,0\n",
        "# CPU,Core,Socket,Node,,L2,L3\n0,0,0,0,,0,0\n1,1,0,0,,1,8\n2,2,0,0,,2,0\n",
        "# CPU,L1d:L1i:L2:L3\n0,0:0:0:0\n1,1:1:1:8\n2,2:2:2:0\n",
    ],
)
def test_what_lscpu_prints(printed):
    assert cache_domains(COMMENT + printed).members == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no list of CPUs"),
        ("0-1;", "'' is no list of CPUs"),
        ("3-2", "'3-2' is no list of CPUs"),
        ("0-9999999", "'0-9999999' is no list of CPUs"),
        ("0-1;1-2", "[1].cpus: names CPU 1 a second time"),
        ("0;2", "hold CPU 2, but no domain has CPU 1; give it a domain"),
        ("# CPU,Core\n0,0\n", "have no columns for CPU and caches"),
        ("# Core,L3\n0,0\n", "have no columns for CPU and caches"),
        ("# CPU,L3\n", "are empty"),
        ("# CPU,L3\n0,-\n", "hold the line '0,-'"),
        ("# CPU,L3\n0\n", "hold the line '0'"),
        ("# CPU,L3\n1,0\n", "hold CPU 1, but no domain has CPU 0"),
    ],
)
def test_what_is_no_description(text, message):
    with pytest.raises(InstanceError) as error:
        cache_domains(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((), "are empty"),
        (((0,), ()), r"\[1\].cpus: is empty"),
        (((0,), (-1,)), r"\[1\].cpus: must be at least 0"),
        (((10**6,),), "at most 1000000 CPUs"),
    ],
)
def test_domains_that_are_none(members, message):
    with pytest.raises(InstanceError, match=message):
        CacheDomains(members)


def test_domains_of_the_first_cpus():
    assert cache_domains("0,4;1-3;5").of_first(3) == cache_domains("0;1-2")
    three = CacheDomains(((0, 2), (1,)))
    assert three.of_first(2) == CacheDomains(((0,), (1,)))
    with pytest.raises(
        InstanceError, match="hold only CPUs 0-2, but the trace has CPU 3, too; give it"
    ):
        three.of_first(4)


def test_domains_that_may_not_be_meant():
    assert cache_domains("0-1;2-3").doubts(4) == []
    (one,) = cache_domains("0-1,2-3").doubts(4)
    assert "one cache domain" in one
    assert "semicolon" in one
    assert cache_domains("0;1-3").doubts(3) == [
        "the domains name CPU 3, which the trace does not have"
    ]
    # What is left of the domains counts: all CPUs of this trace are in the first one.
    assert len(cache_domains("0-1;2-3").doubts(2)) == 2


def test_domains_of_another_number_of_cpus():
    with pytest.raises(InstanceError, match="domains: hold CPUs 0-1, but the CPUs are 0-2; give"):
        cache_domains("0;1").check_cpus(3)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_what_is_written_is_read(owners):
    members = [[cpu for cpu, owner in enumerate(owners) if owner == one] for one in range(4)]
    domains = CacheDomains(tuple(tuple(cpus) for cpus in members if cpus))
    assert cache_domains(str(domains)) == domains
    assert all(cpus_of(cpu_ranges(cpus)) == cpus for cpus in domains.members)
    assert all(cpu in domains.members[domains.domain_of[cpu]] for cpu in range(len(owners)))
