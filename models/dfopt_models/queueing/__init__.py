"""Queues that share a few CPUs: brackets for what any policy can reach, and cache footprints.

:mod:`~dfopt_models.queueing.brackets` has response times of queues,
:mod:`~dfopt_models.queueing.footprint` the cache penalties of programs that share a cache, and
:mod:`~dfopt_models.queueing.model` both for a file of parameters.
"""
