"""Virtual reservations: classes of jobs with slots of their own on processors that they share."""

from gridtune.model.vres.classes import ClassRules, SlotClass
from gridtune.model.vres.reservation import ShareError, deal, slot_counts
from gridtune.model.vres.shared import Execution, SharedProcessor
