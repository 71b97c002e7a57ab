"""The world: grid, agenda, jobs, network, policies, record and metrics."""

from gridtune.model.agenda import Agenda, Order
from gridtune.model.grid import Grid
from gridtune.model.job import IllegalTransition, Job, State
from gridtune.model.metrics.fairness import deserved_areas
from gridtune.model.metrics.registry import METRICS, Metric
from gridtune.model.metrics.users import UserOutcome
from gridtune.model.network import Link
from gridtune.model.policy import Policy, PolicyError, parameter, register
from gridtune.model.record import Record, Stay
from gridtune.model.streams import Streams
