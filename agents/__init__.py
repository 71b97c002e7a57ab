"""Who acts: clients, the agents that find servers, servers, batch sites and harvesters."""

import gridtune.model  # first: it imports Mesa quietly

# isort: split
from gridtune.agents.batch.batch_site import BatchSite, Rounds, Services
from gridtune.agents.batch.best_effort import BestEffortQueue, BestEffortRequest, Preemption
from gridtune.agents.gridrpc.client import Client, ClientHabits, Session
from gridtune.agents.gridrpc.hierarchy import EstimationVector, LocalAgent, MasterAgent
from gridtune.agents.gridrpc.sed import SeD
from gridtune.agents.harvest.bags import Bag, Bags
from gridtune.agents.harvest.harvester import Harvester
