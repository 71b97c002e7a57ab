"""Who waits less under EASY than under first come, first served? Users of a small log, before and after."""

import matplotlib.pyplot as plt

import gridtune as gt

replay = gt.load("batch/replay")
waits = {}
for policy in ("fcfs", "easy"):
    jobs = replay.override({"site.cluster.policy": policy}).run().jobs
    waits[policy] = (jobs.start - jobs.submit).groupby(jobs.user, observed=True).mean() / 60

fig, ax = plt.subplots(figsize=(5, 5))
ax.scatter(waits["fcfs"], waits["easy"])
ax.axline((0, 0), slope=1, color="grey", linewidth=1)
ax.set(xlabel="mean wait under FCFS (min)", ylabel="mean wait under EASY (min)", title="One dot a user")
fig.savefig("compare_two_policies.png", dpi=100, bbox_inches="tight")
