"""Policies and workloads of users that import names from where they once were."""

from dfopt.simulate import Policy, steps, workload


def test_the_earlier_name_has_the_same_classes():
    from dfopt.simulate import Policy as EarlierPolicy
    from dfopt.simulate.steps import Send
    from dfopt.simulate.workload import Burst

    assert EarlierPolicy is Policy
    assert Send is steps.Send
    assert Burst is workload.Burst
