"""How applications are made of threads, one structure a file."""

from dfopt_models.space_sharing.structures.blocks import Blocks
from dfopt_models.space_sharing.structures.thread_graph import ThreadGraph
from dfopt_models.space_sharing.structures.time_steps import TimeSteps
from dfopt_models.space_sharing.structures.wave_front import WaveFront

__all__ = ["Blocks", "ThreadGraph", "TimeSteps", "WaveFront"]
