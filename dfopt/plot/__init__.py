"""Pictures: functions that take data and an Axes and return the Axes."""

from dfopt.plot.gantt import plot_schedule
from dfopt.plot.picture import check_picture_name, save_picture

__all__ = ["check_picture_name", "plot_schedule", "save_picture"]
