"""Virtual reservations: classes of jobs with slots of their own on processors that they share."""

from gridtune.model.vres.gangs import Gang, GangWork
from gridtune.model.vres.processor_sharing import Execution, SharedProcessor
from gridtune.model.vres.reservation import ShareError, deal, slot_counts
from gridtune.model.vres.slot_classes import ClassRules, SlotClass
