"""Scheduler traces: which task ran where and when, and which fragment it used."""

from dfopt.trace.between import between
from dfopt.trace.dispatches import trace_of
from dfopt.trace.formats import read_trace, write_trace
from dfopt.trace.from_schedule import schedule_costs, trace_from_schedule
from dfopt.trace.quality import Quality
from dfopt.trace.trace import Gaps, Trace, TraceHeader, TraceTask

__all__ = [
    "Gaps",
    "Quality",
    "Trace",
    "TraceHeader",
    "TraceTask",
    "between",
    "read_trace",
    "schedule_costs",
    "trace_from_schedule",
    "trace_of",
    "write_trace",
]
