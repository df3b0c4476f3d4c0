"""What policies are built from: queues, batches and groups of threads, and a load balancer."""
