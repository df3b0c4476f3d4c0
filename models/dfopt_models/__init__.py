"""Models that use dfopt: response times, space sharing, and what online policies can achieve."""
