"""Hot loops as machine code: compiled once after an installation, beside the first search."""
