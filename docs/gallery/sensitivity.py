"""Which parameter of a middleware matters for response times? One value at a time, others as they are."""

import matplotlib.pyplot as plt

import gridtune as gt

ranges = {
    "middleware.kind": ["push", "pull", "pilot"],
    "middleware.update_period": [10.0, 100.0, 1000.0],
    "middleware.poll_period": [10.0, 100.0, 1000.0],
}
base, fig, axes = gt.load("dirac/search"), *plt.subplots(1, len(ranges), sharey=True, figsize=(9, 3))
for ax, (path, values) in zip(axes, ranges.items(), strict=True):
    kind = "pull" if path == "middleware.poll_period" else "push"  # periods count where they are used
    start = base.override({"middleware.kind": kind})
    swept = gt.sweep(start, {path: values}, objectives=["response_mean"], replications=3, jobs=1)
    table = swept.configurations
    ax.plot(table[path].astype(str), table["response_mean"] / 60, "o-")
    ax.set(xlabel=path)
axes[0].set_ylabel("mean response time (min)")
fig.savefig("sensitivity.png", dpi=100, bbox_inches="tight")
