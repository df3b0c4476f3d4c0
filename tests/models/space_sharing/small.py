"""Tiny mixes whose figures are known by hand, and engines stopped at a moment."""

from collections.abc import Iterable

import networkx as nx

from dfopt_models.space_sharing import (
    POLICIES,
    AllocationParameters,
    AllocationPolicy,
    Application,
    Blocks,
    Engine,
    JobEntry,
    Mix,
    Multiprocessor,
    ParallelJob,
    Penalties,
    Structure,
    ThreadGraph,
)

FREE = Penalties(no_affinity=0.0, affinity={"*": 0.0})
COSTLY = Penalties(no_affinity=0.25, affinity={"*": 0.125})
NO_COST = {"path_length": 0.0}


def graph(work: dict[str, float], edges: Iterable[tuple[str, str]] = ()) -> ThreadGraph:
    threads: nx.DiGraph[str] = nx.DiGraph()
    for name, seconds in work.items():
        threads.add_node(name, work=seconds)
    threads.add_edges_from(edges)
    return ThreadGraph(graph=threads)


def blocks(threads: int, seconds: float = 1.0) -> Blocks:
    return Blocks(work=threads * seconds, threads=threads, variation=0.0)


def application(name: str, structure: Structure, penalties: Penalties = FREE) -> Application:
    return Application(name=name, structure=structure, penalties=penalties)


def mix(  # noqa: PLR0913 - options, all by keyword
    *structures: Structure,
    processors: int = 4,
    penalties: Penalties = FREE,
    path_length: float = 0.0,
    latency: float = 0.0,
    arrivals: Iterable[float] = (),
    restart: bool = False,
    runs: int = 1,
    **parameters: object,
) -> Mix:
    """A mix of one job for each structure, called A, B, …; credit hardly matters."""
    times = [*arrivals, *[0.0] * len(structures)]
    defaults = {"credit_per_processor": 1e9, "review_interval": 0.0, "worker": "lowest"}
    return Mix(
        name="small",
        machine=Multiprocessor(processors=processors, path_length=path_length, latency=latency),
        policy=AllocationParameters(**(defaults | parameters)),
        jobs=tuple(
            JobEntry(application=application(name, structure, penalties), arrival=time)
            for name, structure, time in zip("ABCDEFG", structures, times, strict=False)
        ),
        restart=restart,
        runs=runs,
    )


def stopped(
    subject: Mix, policy: str | type[AllocationPolicy], seconds: float
) -> tuple[Engine, list[ParallelJob]]:
    """The engine at a moment, with all jobs that have arrived by then."""
    made = (POLICIES[policy] if isinstance(policy, str) else policy)(subject.policy)
    engine = Engine(subject, made, seed=0, on_end=lambda job: None)
    jobs: list[ParallelJob] = []

    def arrive(time: float) -> None:
        arriving = []
        for number, entry in enumerate(subject.jobs):
            if entry.arrival == time:
                one = entry.application
                program = one.structure.program(number)
                arriving.append(
                    ParallelJob(
                        one.name, number, one, program, processors=subject.machine.processors
                    )
                )
        jobs.extend(arriving)
        engine.arrive(*arriving)

    for time in dict.fromkeys(entry.arrival for entry in subject.jobs):
        engine.call_after(time, lambda time=time: arrive(time))
    engine.call_after(seconds, engine.stop)
    engine.run()
    return engine, jobs


def jobs_at(subject: Mix, policy: str, seconds: float) -> list[ParallelJob]:
    """All jobs that have arrived by a moment, as they are then."""
    return stopped(subject, policy, seconds)[1]
