"""How far schedules are from the optimum."""
