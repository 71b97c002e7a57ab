"""Who acts: clients, the agents that find servers, and the servers."""

from agents.client import Client, ClientHabits, Session
from agents.hierarchy import EstimationVector, LocalAgent, MasterAgent
from agents.sed import SeD
