"""Lower bounds on what schedules of a trace cost within a waiting limit, and their proofs."""
