"""Who does the runs: processes of this machine, or a Dask cluster, behind one interface.

`pool.Pool` takes tasks and gives outcomes, whatever happens to a worker.
"""
