"""A metric of one's own over a range of loads: how many wait longer than they run?"""

import gridtune as gt


@gt.metric("impatient", unit="jobs", direction="minimize")
def impatient(run: gt.FinishedRun) -> float:
    """Jobs that wait longer than they run."""
    return sum(job.start - job.submit > job.runtime for job in run.jobs if job.state == "done")


queue = gt.load("queue/mmc", {"queue.customers": 2000})
made = gt.sweep(queue, {"queue.load": (0.5, 0.95, 7)}, objectives=["impatient"], replications=3, jobs=1)
made.plot(["impatient"], out="own_metric.png")
