"""What all systems share and what they pay for it: services with queues, links that transfers share, faults.

Its decisions and formulas are in `model/infrastructure`.
"""
