"""The page of the live view, as solara serves it to every browser that opens it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import solara
from matplotlib.figure import Figure
from mesa.visualization import SolaraViz
from mesa.visualization.utils import update_counter

from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.grid_model import GridModel
from gridtune.scenarios.watch import pictures
from gridtune.scenarios.watch.controls import Control, changes, controls_of

PATIENCE = 30.0  # s that a step waits for pictures
CLOSING = threading.Event()  # the server ends: whoever still plays must stop


class WatchedGrid(GridModel):
    """A grid as the controls say; the reset of SolaraViz makes a new one.

    Args:
        scenario: before any control is touched.
        controls: what can be set, by path.
        seed: as a number, or as typed.
        **kwargs: what the controls show, by path.

    Attributes:
        fault: why what the controls say is not possible; "" if it is. Then the grid stands still.
    """

    def __init__(
        self, scenario: Scenario, controls: Mapping[str, Control], seed: int | str, **kwargs: Any
    ) -> None:
        self._frames = threading.Condition()
        self.fault = ""
        try:
            super().__init__(scenario.override(changes(controls, kwargs)), _number(seed))
        except ScenarioError as error:
            super().__init__(scenario)
            self.fault = "; ".join(error.faults)
            self.running = False
        self._drawn = update_counter.peek()  # number of the last frame that browsers have got

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


def _number(seed: int | str) -> int:
    try:
        return int(seed)
    except ValueError:
        raise ScenarioError(f"seed: {seed!r} is not a whole number") from None


SHOWN: list[tuple[Scenario, int]] = []  # and its seed: by the command, before the server starts


def _picture(fill: Callable[[GridModel, Figure], str], model: WatchedGrid) -> Any:
    frame = update_counter.peek()
    solara.use_effect(lambda: model.drawn(frame), None)  # after all pictures of the frame
    return solara.FigureMatplotlib(pictures.draw(fill, model), format="png")


def _page() -> None:
    scenario, seed = SHOWN[-1]
    controls = solara.use_memo(lambda: controls_of(scenario), [])
    model = solara.use_memo(lambda: solara.reactive(WatchedGrid(scenario, controls, seed)), [])
    if model.value.fault:
        solara.Error(f"Not possible, and not running: {model.value.fault}")
    fills = (pictures.sites, pictures.users, pictures.objectives, pictures.jobs)
    SolaraViz(
        model,
        components=[(partial(_picture, fill), 0) for fill in fills],
        model_params={
            "scenario": scenario,
            "controls": controls,
            "seed": {"type": "InputText", "label": "seed", "value": str(seed)},
            **{path: control.widget for path, control in controls.items()},
        },
        play_interval=50,
        name=f"gridtune: {scenario.name}",
    )


Page = solara.component(_page)
