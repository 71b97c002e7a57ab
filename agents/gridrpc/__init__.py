"""GridRPC (DIET): clients, the master and local agents that find servers, and server daemons.

Their decisions are policies in `model/gridrpc`.
"""
