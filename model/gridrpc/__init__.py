"""The decisions of GridRPC (DIET): what clients submit, and which request a server runs next.

Pure rules and the queues that they look at; the actors are in `agents/gridrpc`.
"""
