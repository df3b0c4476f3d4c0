"""Documents that use every key of their format, and as few as they can."""

INSTANCE = {
    "format": "dfopt-instance/1",
    "name": "two fragments",
    "description": "Figures",
    "source": "A paper",
    "time_unit": "unit",
    "cpus": 2,
    "capacity": 3,
    "objective": "makespan",
    "penalty": {"kind": "f", "read_line": 1, "write_back": 4},
    "initial": [None, {"df": "DF1", "leaves": "invalidated"}],
    "cold_start": True,
    "final_write_back": True,
    "tasks": [
        {"id": "v0", "df": "DF1", "lines": 4, "exec": 1, "release": 7, "count": 2},
        {"id": "v1", "df": "DF2", "lines": 4, "exec": 1, "leaves": "dirty", "after": ["v0"]},
    ],
}
SMALLEST_INSTANCE = {
    "format": "dfopt-instance/1",
    "cpus": 1,
    "penalty": {"kind": "g", "fill": 1, "write_back": 0},
    "tasks": [],
}
PLAIN_INSTANCE = {
    "format": "dfopt-instance/1",
    "cpus": 2,
    "objective": "total-penalty",
    "penalty": {"kind": "f", "read_line": 1, "write_back": 4},
    "initial": [None, {"df": "A"}],
    "tasks": [{"id": "t", "df": "A", "lines": 4}, {"id": "s", "df": "B", "lines": 3}],
}

MATRIX_INSTANCE = SMALLEST_INSTANCE | {
    "penalty": {
        "kind": "matrix",
        "types": ["a", "b"],
        "switch": [[0, 1], [2, 3]],
        "start": [4, 5],
        "finish": [6, 7],
    },
    "cold_start": True,
    "final_write_back": True,
    "initial": [{"type": "b"}],
    "tasks": [{"id": "t", "type": "a"}],
}

DIGEST = "0123456789abcdef" * 4
RESULT = {
    "format": "dfopt-result/2",
    "instance": {"name": "two fragments", "sha256": DIGEST},
    "status": "feasible",
    "stop_reason": "time-limit",
    "objective": 40,
    "lower_bound": 34,
    "gap": 0.15,
    "schedule": {
        "cpus": [{"tasks": ["v3", "v1"], "cost": 40, "starts": [0, 7]}, {"tasks": [], "cost": 0}]
    },
    "certificate": {
        "kind": "proof",
        "threshold": 33,
        "over": "contents",
        "classes": [
            {"df": "DF1", "leaves": "dirty"},
            {"df": "DF1", "lines": 4, "exec": 2},
        ],
        "counts": [{"kind": "entries", "classes": [1]}],
        "nodes": [{"weights": [[0, -250]], "prices": [[0, -40]], "bin_weights": [1000, 0]}],
    },
    "method": "configuration",
    "seed": 0,
    "wall_time_s": 0.41,
    "history": [
        {"time_s": 0.01, "lower_bound": 30, "objective": None},
        {"time_s": 0.02, "lower_bound": 34, "objective": 40},
    ],
    "versions": {"dfopt": "1.0", "or tools": "9.12"},
}
RESULT_BY_HAND = {
    "format": "dfopt-result/2",
    "instance": {"sha256": DIGEST},
    "status": "feasible",
    "objective": 4,
    "schedule": {"cpus": [{"tasks": ["a"], "cost": 4}]},
}


def changed(document, path, value):
    """Return a copy of a document with another value at ``path``; ``...`` drops the key."""
    key, *rest = path
    copy = document.copy()
    if rest:
        copy[key] = changed(copy[key], rest, value)
    elif value is ...:
        del copy[key]
    else:
        copy[key] = value
    return copy
