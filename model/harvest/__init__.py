"""Harvesting of idle processors: controllers, the plants they are designed on, and their tuning."""

from gridtune.model.harvest.composition import Maximum, Minimum, Sum
from gridtune.model.harvest.control import Control, Decision, Memory, Reading
from gridtune.model.harvest.feedback import PI, PID, ModelFree, P, PolePlacement
from gridtune.model.harvest.plant import FirstOrder, Gains, fit_first_order, pole_placement
from gridtune.model.harvest.submission import Step, Tap, WaitBatch
