"""A figure of RR-7959: unfairness grows with what legacy clients submit, and does not under DIET-ethic."""

import matplotlib.pyplot as plt

import gridtune as gt

fig, ax = plt.subplots(figsize=(6, 3.5))
for dispatch in ("ethic", "legacy"):
    base = gt.load("diet/day-regular", client__dispatch=dispatch)
    axis = "client.n_submit" if dispatch == "legacy" else "client.dispatch.window"
    made = gt.sweep(base, {axis: [5, 20, 50, 100, 190]}, objectives=["unfairness"], jobs=1).configurations
    ax.plot(made[axis], made["unfairness"], "o-", label=dispatch)
ax.set(xlabel="requests submitted at once", ylabel="unfairness (max - min)")
ax.legend()
fig.savefig("reproduce_a_figure.png", dpi=100, bbox_inches="tight")
