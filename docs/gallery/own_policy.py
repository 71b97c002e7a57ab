"""A batch policy of one's own beside two that are shipped."""

from collections.abc import Sequence
from dataclasses import dataclass

import gridtune as gt


@gt.policies.register("batch", "narrowest-first")
@dataclass(frozen=True)
class NarrowestFirst(gt.policies.BatchPolicy):
    """The job on the fewest processors runs next."""

    def starts(self, cluster: gt.policies.Cluster, now: float) -> Sequence[gt.Job]:
        """Jobs in order of processors, up to the first that does not fit."""
        free, chosen = cluster.free, []
        for job in sorted(cluster.in_order(), key=lambda job: (job.processors, job.id)):
            free -= job.processors
            if free < 0:
                break
            chosen.append(job)
        return chosen


policies = {"site.cluster.policy": ["fcfs", "easy", "narrowest-first"]}
compared = gt.sweep("batch/replay", policies, objectives=["waiting_mean", "waited_max"], jobs=1)
print(compared.configurations[["site.cluster.policy", "waiting_mean", "waited_max"]])
compared.plot(["waiting_mean", "waited_max"], out="own_policy.png")
