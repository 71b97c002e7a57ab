"""Virtual reservations: classes of jobs with slots of their own on processors that they share."""

from model.vres.classes import ClassRules, SlotClass
from model.vres.reservation import ShareError, deal, slot_counts
from model.vres.shared import Execution, SharedProcessor
