"""Classes of tasks as rows of a certificate."""

from __future__ import annotations

from dfopt.files.fields import at, choice, integer, string
from dfopt.files.strict_json import Document
from dfopt.problem.cache_state import Leaves
from dfopt.problem.certificate import TaskClass

CLASS_KEYS = ("df", "leaves", "lines", "exec", "size")

_leaves = choice(Leaves)


def task_class(fields: Document) -> TaskClass:
    """Return the class that the keys of a row name."""
    return TaskClass(
        df=at("df", string, fields["df"]),
        leaves=at("leaves", _leaves, fields["leaves"]) if "leaves" in fields else None,
        lines=at("lines", integer, fields["lines"]) if "lines" in fields else None,
        exec=at("exec", integer, fields["exec"]) if "exec" in fields else None,
        size=at("size", integer, fields["size"]) if "size" in fields else None,
    )


def class_fields(tasks: TaskClass) -> Document:
    """Return the keys of a row that name a class."""
    fields: Document = {"df": tasks.df, "leaves": tasks.leaves and str(tasks.leaves)}
    fields |= {"lines": tasks.lines, "exec": tasks.exec, "size": tasks.size}
    return {key: value for key, value in fields.items() if value is not None}
