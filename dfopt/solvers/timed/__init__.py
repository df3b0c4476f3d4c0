"""Methods for tasks that wait for a release or for each other, under makespan."""
