"""The costs of orders of tasks, and the best order of one CPU's tasks."""
