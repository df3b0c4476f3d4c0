"""Space sharing: processors are shared out among jobs, and move between them."""

from dfopt_models.space_sharing.engine import Engine
from dfopt_models.space_sharing.figures import ConservationError, Figures
from dfopt_models.space_sharing.graph_document import (
    read_thread_graph,
    thread_graph_from_document,
)
from dfopt_models.space_sharing.job import Job, Worker
from dfopt_models.space_sharing.mix_document import read_mix, shipped_mixes
from dfopt_models.space_sharing.parameters import (
    Application,
    Choice,
    JobEntry,
    Machine,
    Mix,
    Penalties,
    PolicyParameters,
)
from dfopt_models.space_sharing.policies import (
    POLICIES,
    DynAff,
    DynAffDelay,
    DynAffNoPri,
    Dynamic,
    Equipartition,
)
from dfopt_models.space_sharing.policy import Policy
from dfopt_models.space_sharing.policy_source import policy_named
from dfopt_models.space_sharing.replication import Ended, Replication, replicate
from dfopt_models.space_sharing.replications import JobSummary, PolicySummary, simulate
from dfopt_models.space_sharing.stays import Stays
from dfopt_models.space_sharing.structures import Blocks, ThreadGraph, TimeSteps, WaveFront
from dfopt_models.space_sharing.threads import Program, Structure

__all__ = [
    "POLICIES",
    "Application",
    "Blocks",
    "Choice",
    "ConservationError",
    "DynAff",
    "DynAffDelay",
    "DynAffNoPri",
    "Dynamic",
    "Ended",
    "Engine",
    "Equipartition",
    "Figures",
    "Job",
    "JobEntry",
    "JobSummary",
    "Machine",
    "Mix",
    "Penalties",
    "Policy",
    "PolicyParameters",
    "PolicySummary",
    "Program",
    "Replication",
    "Stays",
    "Structure",
    "ThreadGraph",
    "TimeSteps",
    "WaveFront",
    "Worker",
    "policy_named",
    "read_mix",
    "read_thread_graph",
    "replicate",
    "shipped_mixes",
    "simulate",
    "thread_graph_from_document",
]
