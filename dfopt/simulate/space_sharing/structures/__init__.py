"""How applications are made of threads, one structure a file."""

from dfopt.simulate.space_sharing.structures.blocks import Blocks
from dfopt.simulate.space_sharing.structures.thread_graph import ThreadGraph
from dfopt.simulate.space_sharing.structures.time_steps import TimeSteps
from dfopt.simulate.space_sharing.structures.wave_front import WaveFront

__all__ = ["Blocks", "ThreadGraph", "TimeSteps", "WaveFront"]
