"""What tables of a scenario are made of: laws, values that change in time, policies, constraints.

Shared by all tables; knows none of them.
"""
