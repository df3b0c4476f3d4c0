"""Space sharing: jobs share the processors of a machine, and processors move between them."""

from dfopt_models.space_sharing.alone import Profile, profiles
from dfopt_models.space_sharing.engine import AllocationPolicy, Engine
from dfopt_models.space_sharing.job import ConservationError, JobFigures, ParallelJob, Worker
from dfopt_models.space_sharing.mix import (
    AllocationParameters,
    Application,
    JobEntry,
    Mix,
    Multiprocessor,
    Penalties,
    TieBreak,
)
from dfopt_models.space_sharing.mix_document import read_mix, shipped_mixes
from dfopt_models.space_sharing.policies import (
    POLICIES,
    DynAff,
    DynAffDelay,
    DynAffNoPri,
    Dynamic,
    Equipartition,
    policy_named,
)
from dfopt_models.space_sharing.programs import Structure, ThreadProgram
from dfopt_models.space_sharing.replication import EndedJob, Replication, Stays, replicate
from dfopt_models.space_sharing.simulation import JobSummary, PolicySummary, simulate
from dfopt_models.space_sharing.structures import Blocks, TimeSteps, WaveFront
from dfopt_models.space_sharing.thread_graph import (
    ThreadGraph,
    read_thread_graph,
    thread_graph_from_document,
)

__all__ = [
    "POLICIES",
    "AllocationParameters",
    "AllocationPolicy",
    "Application",
    "Blocks",
    "ConservationError",
    "DynAff",
    "DynAffDelay",
    "DynAffNoPri",
    "Dynamic",
    "EndedJob",
    "Engine",
    "Equipartition",
    "JobEntry",
    "JobFigures",
    "JobSummary",
    "Mix",
    "Multiprocessor",
    "ParallelJob",
    "Penalties",
    "PolicySummary",
    "Profile",
    "Replication",
    "Stays",
    "Structure",
    "ThreadGraph",
    "ThreadProgram",
    "TieBreak",
    "TimeSteps",
    "WaveFront",
    "Worker",
    "policy_named",
    "profiles",
    "read_mix",
    "read_thread_graph",
    "replicate",
    "shipped_mixes",
    "simulate",
    "thread_graph_from_document",
]
