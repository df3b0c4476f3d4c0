import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Semaphore
from types import ModuleType

import pytest

from dfopt.errors import DfoptError
from dfopt.parallel.alone import ChildError, performed_alone
from dfopt.parallel.pool import performed
from dfopt_models.space_sharing import read_mix
from dfopt_models.space_sharing.simulation import ReplicationTask
from tests.patience import PATIENCE_S

CHORES = """
import os
import signal
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Chore:
    what: str

    def perform(self):
        return getattr(self, self.what)()

    def fail(self):
        raise LookupError("nothing\\nthere")

    def leave(self):
        sys.exit("enough")

    def end(self):
        os._exit(7)

    def vanish(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def chatter(self):
        print("in Python")
        os.write(1, b"below Python\\n")
        return "quiet"

    def blocked(self):
        return signal.pthread_sigmask(signal.SIG_BLOCK, ())

    def sleep(self):
        time.sleep(600)

    def bereave(self):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
"""

BEREAVED = """
from chores import Chore
from dfopt.parallel.pool import performed

list(performed([Chore("bereave")] * 2, 2))
"""


@pytest.fixture
def chores(tmp_path, monkeypatch) -> ModuleType:
    """A module whose tasks other processes can do as well."""
    (tmp_path / "chores.py").write_text(CHORES)
    path = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *([path] if path else [])]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "chores", raising=False)
    import chores  # type: ignore[import-not-found]

    return chores


def tasks(*policies):
    return [ReplicationTask(mix=read_mix("mix-1"), policy=policy, seed=0) for policy in policies]


@pytest.mark.slow
def test_processes_answer_what_one_would():
    wanted = {task.policy: answer for task, answer in performed(tasks("dynamic", "dyn-aff"), 1)}
    found = {task.policy: answer for task, answer in performed(tasks("dynamic", "dyn-aff"), 2)}
    assert found == wanted


@pytest.mark.parametrize("processes", [1, 2])
def test_errors_come_back(processes):
    with pytest.raises(DfoptError, match="there is no policy 'nix'"):
        list(performed(tasks("nix", "nix"), processes))


@pytest.mark.slow
def test_whoever_stops_early_leaves_no_process():
    answers = performed(tasks(*["dynamic"] * 6), 2)
    next(answers)
    assert len(multiprocessing.active_children()) == 2
    answers.close()
    assert multiprocessing.active_children() == []


@dataclass(frozen=True)
class Here:
    """Says where it was done; only this process knows the class."""

    def perform(self):
        return os.getpid()


@dataclass(frozen=True)
class Idle:
    """Waits for the end of the process, unless an exception comes; says when it begins and ends."""

    begun: Semaphore
    ended: Semaphore

    def perform(self):
        self.begun.release()
        try:
            while True:
                time.sleep(0.001)
        finally:
            self.ended.release()


def test_whoever_stops_early_ends_its_threads():
    begun, ended = Semaphore(0), Semaphore(0)
    answers = performed([Here(), Idle(begun, ended), Idle(begun, ended)], 2, in_threads=True)
    assert next(answers) == (Here(), os.getpid())
    begun.acquire()
    with pytest.raises(KeyboardInterrupt):
        answers.throw(KeyboardInterrupt())
    assert ended.acquire(timeout=PATIENCE_S)


def test_threads_answer_what_one_would():
    found = {task.policy: answer for task, answer in performed(tasks("dynamic"), in_threads=True)}
    assert found == {task.policy: answer for task, answer in performed(tasks("dynamic"))}
    with pytest.raises(DfoptError, match="there is no policy 'nix'"):
        list(performed(tasks("nix", "nix"), 2, in_threads=True))


def test_one_task_needs_no_other_process():
    assert list(performed([Here()], 8)) == [(Here(), os.getpid())]


def test_an_executor_does_the_work_instead(chores):
    with ThreadPoolExecutor(1) as executor:
        assert list(performed([Here()] * 2, 8, executor)) == [(Here(), os.getpid())] * 2
        with pytest.raises(DfoptError, match=r"executor failed \(LookupError: nothing"):
            list(performed([chores.Chore("fail")], executor=executor))


def test_what_an_executor_gives_up_is_one_error():
    class Gone(ThreadPoolExecutor):
        def submit(self, *_):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(DfoptError, match="executor failed"):
        list(performed([Here()], executor=Gone()))


def test_what_fails_elsewhere_shows_where(chores):
    with pytest.raises(LookupError, match="nothing") as caught:
        list(performed([chores.Chore("fail")] * 2, 2))
    assert "in fail" in str(caught.value.__cause__)


@pytest.mark.parametrize("what", ["vanish", "end"])
def test_a_process_without_an_answer_is_one_error(chores, what):
    with pytest.raises(DfoptError, match=r"ended without an answer; take fewer .*workers=1"):
        list(performed([chores.Chore(what), chores.Chore("sleep")], 2))


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("fail", "there"),
        ("leave", "enough"),
        ("end", "ended with exit code 7"),
        ("vanish", "ended by SIGKILL; was there enough memory"),
        ("sleep", "killed: no answer after 3 s"),
    ],
)
def test_who_works_alone_and_fails_says_how(chores, what, problem):
    with pytest.raises(ChildError, match=problem):
        performed_alone(3 if what == "sleep" else PATIENCE_S, chores.Chore(what).perform)


def test_what_tasks_print_is_no_answer(chores, capfd):
    answers = [answer for _, answer in performed([chores.Chore("chatter")] * 3, 2)]
    assert answers == ["quiet"] * 3
    printed, said = capfd.readouterr()
    assert printed == ""
    assert (said.count("in Python"), said.count("below Python")) == (3, 3)
    assert performed_alone(None, chores.Chore("chatter").perform) == "quiet"


def test_interrupts_are_for_the_parent_alone(chores):
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    for _, blocked in performed([chores.Chore("blocked")] * 2, 2):
        assert signal.SIGINT in blocked
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_whoever_loses_its_parent_ends(chores):
    """Standard error ends only with the last process that holds it."""
    done = subprocess.run(
        [sys.executable, "-c", BEREAVED],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
