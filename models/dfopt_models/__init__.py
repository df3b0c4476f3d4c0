"""Models that use dfopt.

- ``response_time``: response times under space sharing;
- ``crossover``: machines on which policies are equally fast;
- ``space_sharing``: a simulation of its policies;
- ``contention``: CPUs that wait for locks;
- ``batching``: what batches of fine-grained threads gain;
- ``queueing``: where a queue for all CPUs pays, and what programs lose that share a cache;
- ``measure``: what parameters are on the machine at hand, and in recorded traces;
- ``online``: what policies can achieve that do not know the future.
"""
