"""Run queues: threads are ready, run, and wait, and a policy decides who runs where."""
