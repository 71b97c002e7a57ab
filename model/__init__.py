"""The world: grid, agenda, jobs, network, policies, record and metrics."""

from model.agenda import Agenda, Order
from model.fairness import deserved_areas
from model.grid import Grid
from model.job import IllegalTransition, Job, State
from model.metrics import METRICS, Metric
from model.network import Link
from model.policy import Policy, PolicyError, parameter, register
from model.record import Record, Stay
from model.streams import Streams
from model.users import UserOutcome
