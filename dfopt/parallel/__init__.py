"""Work in several processes: of this machine, or of a Dask cluster."""
