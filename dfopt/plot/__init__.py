"""Pictures: functions that take data and an Axes and return the Axes."""

from dfopt.plot.foresight import plot_foresight, plot_look_ahead
from dfopt.plot.frontier import plot_attainable, plot_frontier
from dfopt.plot.gantt import plot_schedule
from dfopt.plot.profile import plot_profile
from dfopt.plot.style import Picture, check_picture_name, picture_of, save_picture

__all__ = [
    "Picture",
    "check_picture_name",
    "picture_of",
    "plot_attainable",
    "plot_foresight",
    "plot_frontier",
    "plot_look_ahead",
    "plot_profile",
    "plot_schedule",
    "save_picture",
]
