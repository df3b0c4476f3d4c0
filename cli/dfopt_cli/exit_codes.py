"""The exit codes of the commands; 0 is success, and 2 a wrong command line."""

from __future__ import annotations

FAILED = 1
"""A bad file, a method that does not fit the instance, or a failed check."""

INFEASIBLE = 3
"""No schedule exists: the tasks do not fit on the CPUs."""

NOT_PROVEN = 4
"""A limit or Ctrl-C came first; what is known by then is shown."""

CONDITION_MET = 5
"""A comparison is done, and one of its figures is as ``--fail-if`` says that it must not be."""

INTERRUPTED = 130
"""Ctrl-C came before anything was known; shells use this code too."""
