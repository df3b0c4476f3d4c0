"""Work in several processes: of this machine, or of an executor such as that of Dask."""
