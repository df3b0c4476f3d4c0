"""Local search over schedules that keep cause and effect."""

from dfopt.compare.attainable.local_search.search import improve

__all__ = ["improve"]
