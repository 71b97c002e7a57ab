"""The decisions of meta-scheduling (RR-5576): routing, matching and pilots, and networks between sites.

Pure rules; the actors are in `agents/middleware`.
"""
