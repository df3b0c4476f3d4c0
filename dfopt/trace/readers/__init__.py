"""Readers of traces, one kind a module."""
