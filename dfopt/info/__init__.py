"""What an instance or a trace holds, in figures: the documents ``dfopt-info/1``."""
