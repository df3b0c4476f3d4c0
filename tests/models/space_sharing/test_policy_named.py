"""Policies of one's own: found by module or file, and what is wrong with them."""

import pytest

from dfopt.errors import DfoptError
from dfopt_models.space_sharing import POLICIES, DynAff, policy_named, read_mix, simulate

OWN = '''
from dfopt_models.space_sharing import AllocationPolicy

class Greedy(AllocationPolicy):
    """The job that asks first gets all unallocated processors."""

    def arrived(self, engine, job):
        self.wants(engine, job)

    def wants(self, engine, job):
        while job.wants and engine.free:
            engine.give(next(iter(engine.free)), job)

    def yields(self, engine, job, processor):
        for other in engine.jobs:
            if other.wants:
                return engine.give(processor, other)

    def ended(self, engine, job):
        for other in engine.jobs:
            self.wants(engine, other)
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "greedy_policy.py"
    path.write_text(OWN)
    return path


def test_by_name():
    assert policy_named("dyn-aff") is DynAff
    assert {name: policy.name for name, policy in POLICIES.items()} == {
        name: name for name in POLICIES
    }


@pytest.mark.parametrize(
    "source", ["greedy_policy.py", "greedy_policy.py:Greedy", "greedy_policy:Greedy"]
)
def test_ones_own(own, source):
    policy = policy_named(source)
    assert policy.__name__ == policy.name == "Greedy"


@pytest.mark.slow
def test_ones_own_is_simulated_in_several_processes(own):
    (summary,), complete = simulate(
        read_mix("mix-1"), ["greedy_policy.py"], seeds=range(3), processes=2
    )
    assert complete
    assert (summary.policy, summary.replications) == ("Greedy", 3)
    assert summary.job("MVA").figures["response_time"].mean > 10


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("dyn-af", "there is no policy 'dyn-af'; did you mean 'dyn-aff'?"),
        ("x", "there are equipartition, dynamic"),
        ("nix.py", "nix.py: there is no such file"),
        ("nix:Nix", "nix: cannot be loaded (ModuleNotFoundError"),
        ("greedy_policy:Nix", "greedy_policy: has no policy 'Nix'; there is Greedy"),
        ("greedy_policy:AllocationPolicy", "greedy_policy: has no policy 'AllocationPolicy'"),
        (
            "empty.py",
            "empty.py: must define one policy, derived from AllocationPolicy, but there are: none",
        ),
        ("broken.py", "broken.py: cannot be loaded (ZeroDivisionError: division by zero)"),
    ],
)
def test_what_is_no_policy(own, source, message):
    own.with_name("empty.py").write_text("")
    own.with_name("broken.py").write_text("1 / 0\n")
    with pytest.raises(DfoptError) as caught:
        policy_named(source)
    assert message in str(caught.value)


def test_two_policies_of_one_name_are_refused(own, tmp_path):
    own.with_name("second.py").write_text(OWN)
    with pytest.raises(DfoptError) as caught:
        simulate(
            read_mix("mix-1"), ["greedy_policy.py", "dynamic", "second.py"],
            seeds=range(1), trace_folder=tmp_path,
        )  # fmt: skip
    assert str(caught.value) == (
        "'greedy_policy.py' and 'second.py' are both called 'Greedy'; rename one of these policies"
    )
    assert not list(tmp_path.glob("*.jsonl"))
