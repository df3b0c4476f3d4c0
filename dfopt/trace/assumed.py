"""What a reader made up, because the source of a trace does not say it."""

from __future__ import annotations

from enum import StrEnum


class Assumed(StrEnum):
    """What of a trace's schedule was assumed and not recorded."""

    CPUS = "cpus"
    """On which CPU each dispatch ran."""

    STARTS = "starts"
    """When and on which CPU each dispatch ran: only arrivals and lengths are recorded."""
