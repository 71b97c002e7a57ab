"""The page of the live view, as solara serves it to every browser that opens it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import solara
from mesa.visualization import SolaraViz
from mesa.visualization.utils import update_counter

from gridtune.optimize.watch import pictures
from gridtune.optimize.watch.controls import Controls
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.grid_model import GridModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATIENCE = 30.0  # s that a step waits for pictures
CLOSING = threading.Event()  # the server ends: whoever still plays must stop


@dataclass(frozen=True)
class Watched:
    """What is watched.

    Attributes:
        scenario: before any control is touched.
        seed: to begin with.
        step_length: of a step of the view, s.
        controls: what can be set.
        objectives: metrics drawn over time.
    """

    scenario: Scenario
    seed: int
    step_length: float
    controls: Controls
    objectives: tuple[str, ...]


class WatchedGrid(GridModel):
    """A grid as the controls say; the reset of SolaraViz makes a new one.

    Args:
        **kwargs: what the controls show, by path.

    Attributes:
        fault: why what the controls say is not possible; "" if it is. Then the grid stands still.
    """

    _drawn = 0  # number of the last frame that browsers have got

    def __init__(self, watched: Watched, seed: int | str | None = None, **kwargs: Any) -> None:
        self._frames = threading.Condition()
        step: dict[str, Any] = {"step_length": watched.step_length}
        self.fault = ""
        try:
            changed = watched.scenario.override(watched.controls.changes(kwargs))
            super().__init__(changed, _number(seed), **step)
        except ScenarioError as error:
            super().__init__(watched.scenario, watched.seed, **step)
            self.fault = "; ".join(error.faults)
            self.running = False
        self._drawn = update_counter.peek()

    def step(self) -> None:
        """Advance by one step once the last frame has been drawn: to play is to see."""
        asked = update_counter.peek()
        with self._frames:
            # Without this the steps would overtake the pictures, and none would be shown before the end.
            self._frames.wait_for(lambda: self._drawn >= asked or CLOSING.is_set(), PATIENCE)
        if CLOSING.is_set():
            self.running = False
        super().step()

    def drawn(self, frame: int) -> None:
        """A frame has been drawn."""
        with self._frames:
            self._drawn = max(self._drawn, frame)
            self._frames.notify_all()


def _number(seed: int | str | None) -> int | None:
    try:
        return None if seed is None else int(seed)
    except ValueError:
        raise ScenarioError(f"seed: {seed!r} is not a whole number") from None


SHOWN: list[Watched] = []  # by the command, before the server starts


def _picture(draw: Callable[[GridModel], Figure], model: WatchedGrid) -> Any:
    frame = update_counter.peek()
    solara.use_effect(lambda: model.drawn(frame), None)  # after all pictures of the frame
    return solara.FigureMatplotlib(draw(model), format="png")


def _page() -> None:
    watched = SHOWN[-1]
    model = solara.use_memo(lambda: solara.reactive(WatchedGrid(watched, watched.seed)), [])
    parameters = {
        "watched": watched,
        "seed": {"type": "InputText", "label": "seed", "value": str(watched.seed)},
        **watched.controls.widgets(),
    }
    draws = (
        pictures.sites,
        pictures.users,
        partial(pictures.objectives, names=watched.objectives),
        pictures.jobs,
    )
    if model.value.fault:
        solara.Error(f"Not possible, and not running: {model.value.fault}")
    SolaraViz(
        model,
        components=[(partial(_picture, draw), 0) for draw in draws],
        model_params=parameters,
        play_interval=50,
        name=f"gridtune: {watched.scenario.name}",
    )


Page = solara.component(_page)
