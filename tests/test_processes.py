import os
from dataclasses import dataclass

import pytest

from dfopt.errors import DfoptError
from dfopt.processes import performed
from dfopt.simulate.space_sharing import read_mix
from dfopt.simulate.space_sharing.replications import ReplicationTask


def tasks(*policies):
    return [ReplicationTask(mix=read_mix("mix-1"), policy=one, seed=0) for one in policies]


def test_processes_answer_what_one_would():
    wanted = {task.policy: answer for task, answer in performed(tasks("dynamic", "dyn-aff"), 1)}
    found = {task.policy: answer for task, answer in performed(tasks("dynamic", "dyn-aff"), 2)}
    assert found == wanted


@pytest.mark.parametrize("processes", [1, 2])
def test_errors_come_back(processes):
    with pytest.raises(DfoptError, match="there is no policy 'nix'"):
        list(performed(tasks("nix", "nix"), processes))


def test_whoever_stops_early_leaves_no_process():
    answers = performed(tasks(*["dynamic"] * 6), 2)
    next(answers)
    answers.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@dataclass(frozen=True)
class Here:
    """Says where it was done; only this process knows the class."""

    def perform(self):
        return os.getpid()


def test_one_task_needs_no_other_process():
    assert list(performed([Here()], 8)) == [(Here(), os.getpid())]
