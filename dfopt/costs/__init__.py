"""What orders of tasks cost, and the best order of one CPU's tasks."""
