"""Event-driven simulations of schedulers on workloads."""
