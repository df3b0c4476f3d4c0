"""Exact scheduling of tasks that share data: the least switch penalty, with a proof."""

__version__ = "0.1.0"
