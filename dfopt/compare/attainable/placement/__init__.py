"""The CPUs of a schedule whose starts are given: what is searched, relaxed and proven."""
