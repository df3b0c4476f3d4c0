"""Scheduler traces: which task ran where and when, and which fragment it used."""

from dfopt.trace.dispatches import trace_of
from dfopt.trace.quality import Quality
from dfopt.trace.reading import read_trace
from dfopt.trace.trace import Gaps, Trace, TraceHeader, TraceTask

__all__ = ["Gaps", "Quality", "Trace", "TraceHeader", "TraceTask", "read_trace", "trace_of"]
