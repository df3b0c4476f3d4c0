"""Schedules of a trace that keep cause and effect, and bounds on what such schedules cost."""
