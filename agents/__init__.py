"""Who acts: clients, the agents that find servers, servers, batch sites and harvesters."""

import gridtune.model.grid  # first: it imports Mesa quietly
