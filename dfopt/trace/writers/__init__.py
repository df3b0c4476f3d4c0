"""One writer for each format of traces."""
