"""Harvesting of idle processors: controllers, the plants they are designed on, and their tuning."""

from model.harvest.composition import Maximum, Minimum, Sum
from model.harvest.control import Control, Decision, Memory, Reading
from model.harvest.feedback import PI, PID, ModelFree, P, PolePlacement
from model.harvest.plant import FirstOrder, Gains, fit_first_order, pole_placement
from model.harvest.submission import Step, Tap, WaitBatch
