"""Branch and price: what the programs over contents, groups, patterns and arcs share."""
