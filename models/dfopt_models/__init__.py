"""Analytic models: response time, lock contention, warm-up, batching."""
