"""Models that use dfopt: response times under space sharing, and a simulation of its policies."""
