"""A Dask cluster on this machine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.patience import PATIENCE_S

# In a process of its own, whose threads, ports and warnings are no concern of the tests.
CLUSTER = """
import json
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=int(sys.argv[1]),
        processes=sys.argv[2] == "processes",
        threads_per_worker=1,
        protocol="tcp",
        dashboard_address=":0",
    ) as cluster:
        workers = list(cluster.scheduler_info["workers"])
        print(json.dumps([cluster.scheduler_address, *workers]), flush=True)
        sys.stdin.read()
"""


@contextmanager
def running_cluster(
    workers: int, kind: str = "threads"
) -> Iterator[tuple[list[str], "subprocess.Popen[str]"]]:
    """Run a cluster; give the addresses of scheduler and workers, and its process."""
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER, str(workers), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline()), process
        process.communicate(timeout=PATIENCE_S)


def give_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients have all the time to find a scheduler, but little to find it again."""
    import distributed

    class Client(distributed.Client):
        def __init__(self, *arguments: Any, **how: Any) -> None:
            super().__init__(*arguments, **how)
            self._timeout = 2

    monkeypatch.setattr(distributed, "Client", Client)
