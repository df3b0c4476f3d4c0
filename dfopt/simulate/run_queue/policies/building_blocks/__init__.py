"""The building blocks of policies: queues, batches and groups of threads, and a load balancer."""
