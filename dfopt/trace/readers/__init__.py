"""Readers of traces, one module for each format."""
