"""Lower bounds on the cost of all schedules of a trace within a waiting limit, and their proofs."""
