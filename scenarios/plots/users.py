"""How users fared: satisfaction, and who is unhappy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, DARK, RED, PlotError
from gridtune.scenarios.plots.tables import RunTables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BARS = 60  # users with a bar each


def draw_users(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """The satisfaction of every user, the least satisfied first; of more than 60 users its distribution.

    Unhappy users, some of whose mandatory work failed, have a colour of their own. Users whose jobs are of
    different classes have panels of their own.

    Args:
        run: to draw.
        window: of no effect: satisfaction is of a whole run.

    Raises:
        PlotError: no user deserved anything.

    Source: RR-7959, section 3.3.
    """
    users = run.users[run.users["satisfaction"].notna()] if len(run.users) else run.users
    if not len(users):
        raise PlotError(f"{run.name}: no user has a satisfaction")
    groups = groups_of(users, run.classes)
    drawing = style.figure(7.4, 3.9)
    (_draw_bars if len(users) <= BARS else _draw_distribution)(drawing, groups)
    unhappy = int(users["unhappy"].sum())
    gap = users["satisfaction"].max() - users["satisfaction"].min()
    note = f"{len(users)} users, {unhappy} unhappy; unfairness {gap:.3g} (largest minus least)"
    style.title(drawing, f"{run.title}: satisfaction of users", note)
    return drawing


def groups_of(users: pd.DataFrame, classes: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """Users by the classes of their jobs, the largest group first; if all are alike, one without a name."""
    if classes is None:
        return {"": users}
    names = classes.groupby("user", sort=False)["class"].agg(lambda kinds: " + ".join(sorted(kinds)))
    of = users["user"].map(names).fillna("no jobs")
    counts = of.value_counts()
    if len(counts) == 1:
        return {"": users}
    return {name: users[of == name] for name in sorted(counts.index, key=lambda name: (-counts[name], name))}


def _draw_bars(drawing: Figure, groups: dict[str, pd.DataFrame]) -> None:
    drawing.set_size_inches(7.0 + 0.4 * len(groups), 3.9)
    total = sum(map(len, groups.values()))
    # A group of one user still needs room for its name.
    widths = [max(len(users), 0.12 * total) for users in groups.values()]
    panels = drawing.subplots(
        1, len(groups), sharey=True, squeeze=False, gridspec_kw={"width_ratios": widths}
    )[0]
    for axes, (name, users) in zip(panels, groups.items(), strict=True):
        ordered = users.sort_values(["satisfaction", "user"])
        colours = [RED if unhappy else BLUE for unhappy in ordered["unhappy"]]
        axes.bar(range(len(ordered)), ordered["satisfaction"], color=colours, width=0.8)
        axes.axhline(1.0, color=DARK, linewidth=1.0, linestyle="--")
        names = [str(user) for user in ordered["user"]]
        few = len(groups) == 1 and len(names) <= 12 and max(map(len, names)) <= 8
        axes.set_xticks(range(len(names)), names, rotation=0 if few else 90, size=8 if total <= 30 else 6)
        axes.grid(False, axis="x")
        _name(axes, name.replace(" + ", " +\n"), len(users))
    panels[0].set_ylabel("satisfaction (allocated / deserved)")
    _legend(panels[-1], groups)


def _draw_distribution(drawing: Figure, groups: dict[str, pd.DataFrame]) -> None:
    import numpy as np
    import pandas as pd
    from matplotlib.ticker import MaxNLocator

    everybody = pd.concat(groups.values())["satisfaction"]
    edges = np.histogram_bin_edges(everybody, bins=min(40, max(10, len(everybody) // 10)))
    drawing.set_size_inches(7.4, max(3.9, 1.5 * len(groups) + 1.4))
    panels = drawing.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, users) in zip(panels, groups.items(), strict=True):
        parts = [users.loc[users["unhappy"] == unhappy, "satisfaction"] for unhappy in (False, True)]
        axes.hist(parts, bins=list(edges), stacked=True, color=[BLUE, RED], edgecolor="white", linewidth=0.4)
        axes.axvline(1.0, color=DARK, linewidth=1.0, linestyle="--")
        axes.set_ylabel("users")
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        _name(axes, name, len(users))
    panels[-1].set_xlabel("satisfaction (allocated / deserved)")
    _legend(panels[0], groups)


def _name(axes: Axes, name: str, count: int) -> None:
    if name:
        axes.set_title(f"{name} ({count})", size=8)


def _legend(axes: Axes, groups: dict[str, pd.DataFrame]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [Patch(color=BLUE, label="happy")]
    if any(users["unhappy"].any() for users in groups.values()):
        handles.append(Patch(color=RED, label="unhappy"))
    ideal = Line2D([], [], color=DARK, linestyle="--", linewidth=1.0, label="ideal")
    axes.legend(handles=[*handles, ideal], loc="upper left", bbox_to_anchor=(1.0, 1.0))
