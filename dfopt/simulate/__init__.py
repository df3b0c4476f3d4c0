"""Policies on workloads: event-driven simulations."""
