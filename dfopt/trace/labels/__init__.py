"""Labels: which fragment each dispatch of a trace used, from one of several sources."""

from dfopt.trace.labels.files import label_by_cgroup, label_by_file, write_labels
from dfopt.trace.labels.inference import Inferred, infer_fragments, label_by_wakeups
from dfopt.trace.labels.kernel_threads import kernel_threads
from dfopt.trace.labels.source import (
    CHOICES,
    Labelled,
    default_source,
    label,
    label_by_comm,
    label_by_marks,
    label_by_process,
    labelled,
)
from dfopt.trace.labels.threads import keep_only

__all__ = [
    "CHOICES",
    "Inferred",
    "Labelled",
    "default_source",
    "infer_fragments",
    "keep_only",
    "kernel_threads",
    "label",
    "label_by_cgroup",
    "label_by_comm",
    "label_by_file",
    "label_by_marks",
    "label_by_process",
    "label_by_wakeups",
    "labelled",
    "write_labels",
]
