import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from types import ModuleType

import pytest

from dfopt.errors import DfoptError
from dfopt.parallel import pool
from dfopt.parallel.notices import receiving
from dfopt.parallel.pool import performed, performed_alone
from dfopt_models.space_sharing import read_mix
from dfopt_models.space_sharing.simulation import ReplicationTask
from tests.patience import PATIENCE_S

CHORES = """
import os
import signal
import sys
import time
from dataclasses import dataclass

from dfopt.parallel.notices import notify


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

    def answer_what_cannot_travel(self):
        return lambda: None

    def ask(self):
        return input()

    def tell(self):
        notify("it takes long")
        return "done"

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
@pytest.mark.parametrize("processes", [1, 2])
def test_notices_arrive_before_the_answers(chores, processes):
    told = []
    with receiving(told.append):
        for _, answer in performed([chores.Chore("tell")] * 2, processes):
            assert answer == "done"
            assert told
        assert performed_alone(chores.Chore("tell")) == "done"
    assert told == ["it takes long"] * 3


@pytest.mark.slow
def test_whoever_stops_early_leaves_no_process(monkeypatch):
    started = []
    start = pool._child

    def noted():
        started.append(start())
        return started[-1]

    monkeypatch.setattr(pool, "_child", noted)
    answers = performed(tasks(*["dynamic"] * 6), 2)
    next(answers)
    answers.close()
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


@dataclass(frozen=True)
class Here:
    """Says where it was done; only this process knows the class."""

    def perform(self):
        return os.getpid()


def test_one_task_needs_no_other_process():
    assert list(performed([Here()], 8)) == [(Here(), os.getpid())]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "told", "line"),
    [
        ("fail", r"failed with LookupError \(nothing there\); its traceback is on", "in fail"),
        ("leave", r"failed with SystemExit \(enough\)", "in leave"),
        ("ask", r"failed with EOFError", "in ask"),
        ("answer_what_cannot_travel", r"failed with \w+ \(.*lambda", "pickle"),
    ],
)
def test_what_fails_elsewhere_shows_where(chores, capfd, what, told, line):
    with pytest.raises(DfoptError, match=told) as caught:
        list(performed([chores.Chore(what)] * 2, 2))
    assert "\n" not in str(caught.value)
    said = capfd.readouterr().err
    assert "Traceback" in said
    assert line in said


def test_whoever_ends_the_process_is_told_not_to(chores):
    with pytest.raises(DfoptError, match="ended itself with code 7; let code of your own raise"):
        list(performed([chores.Chore("end"), chores.Chore("sleep")], 2))


def test_whoever_is_killed_is_missed(chores):
    with pytest.raises(DfoptError, match=f"ended with code {-signal.SIGKILL}; take fewer workers"):
        list(performed([chores.Chore("vanish"), chores.Chore("sleep")], 2))


def test_what_tasks_print_is_no_answer(chores, capfd):
    answers = [answer for _, answer in performed([chores.Chore("chatter")] * 3, 2)]
    assert answers == ["quiet"] * 3
    printed, said = capfd.readouterr()
    assert printed == ""
    assert (said.count("in Python"), said.count("below Python")) == (3, 3)


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
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
