"""Who acts: clients, the agents that find servers, servers, and batch sites."""

from agents.batch_site import BatchSite, Services
from agents.client import Client, ClientHabits, Session
from agents.hierarchy import EstimationVector, LocalAgent, MasterAgent
from agents.sed import SeD
