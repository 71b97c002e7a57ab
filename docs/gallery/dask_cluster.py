"""A sweep on the workers of a Dask cluster; here it stands on this machine."""

import gridtune as gt

if __name__ == "__main__":  # workers are processes that import this file
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        made = gt.sweep(
            "diet/day-regular",
            {"sed.count": (5, 15, 6)},
            objectives=["completed"],
            replications=2,
            dask=address,
        )
    made.plot(["completed"], out="dask_cluster.png")
