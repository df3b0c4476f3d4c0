"""The `dfopt` command."""
