"""The problem and its solution: instances, penalties, schedules, results, certificates."""
