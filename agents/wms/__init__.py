"""A computing grid (EGEE): sites with virtual reservations, brokers, portals and user-level schedulers.

Their decisions are policies in `model/wms`, slots are counted in `model/vres`.
"""
