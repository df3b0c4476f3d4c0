"""Space sharing: jobs share the processors of a machine, and processors move between them."""

from dfopt_models.space_sharing.alone import Profile, profiles
from dfopt_models.space_sharing.engine import AllocationPolicy, Engine
from dfopt_models.space_sharing.job import ConservationError, EndedJob, ParallelJob, Worker
from dfopt_models.space_sharing.mix import (
    AllocationParameters,
    JobEntry,
    Mix,
    Multiprocessor,
    TieBreak,
    read_mix,
    shipped_mixes,
)
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
from dfopt_models.space_sharing.simulation import (
    JobSummary,
    PolicySummary,
    Replication,
    Stays,
    replicate,
    simulate,
)
from dfopt_models.space_sharing.structures import (
    Application,
    Blocks,
    Penalties,
    ThreadGraph,
    TimeSteps,
    WaveFront,
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
