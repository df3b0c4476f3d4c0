"""Reads a log of requests, a CSV file with a request on each line, as a trace.

A request is a task, the model that it asks for is its fragment, and the machine or GPU that serves
it is a CPU.
"""

from dfopt.trace.readers.request_log.log_times import parse_load_time
from dfopt.trace.readers.request_log.request_columns import RequestColumns
from dfopt.trace.readers.request_log.request_trace import read_request_log

__all__ = ["RequestColumns", "parse_load_time", "read_request_log"]
