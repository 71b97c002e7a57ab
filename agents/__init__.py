"""Who acts: clients, the agents that find servers, servers, batch sites and harvesters."""

from agents.bags import Bag, Bags
from agents.batch_site import BatchSite, Rounds, Services
from agents.best_effort import BestEffortQueue, Errand, Manners
from agents.client import Client, ClientHabits, Session
from agents.harvester import Harvester
from agents.hierarchy import EstimationVector, LocalAgent, MasterAgent
from agents.sed import SeD
