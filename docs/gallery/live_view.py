"""A run step by step, as the live view shows it: waiting requests and unfairness over time."""

import matplotlib.pyplot as plt

import gridtune as gt

model = gt.GridModel("diet/day-regular", seed=1, client__dispatch="legacy", step_length=5.0)
while model.running:
    model.step()
table = model.datacollector.get_model_vars_dataframe()

fig, axes = plt.subplots(2, sharex=True, figsize=(7, 4))
for ax, name in zip(axes, ("sed.waiting", "unfairness"), strict=True):
    ax.plot(table["time"], table[name])
    ax.set(ylabel=name)
axes[-1].set(xlabel="time (s)")
fig.savefig("live_view.png", dpi=100, bbox_inches="tight")
